/** Where clients are played: a relay whose clock moves, a real workstation behind it, and a person who allows what is asked. */
import { Response as RelayResponse } from "miniflare";
import type { ClientProfile } from "../fixtures/clients/profile.ts";
import { mappedFetch } from "./mapped-fetch.ts";
import { MOVED_CLOCK_ENTRY, pass } from "./moved-clock.ts";
import { newHome, type Pimcp } from "./pimcp.ts";
import type { Pair } from "./client-credentials.ts";
import type { World } from "./played-client.ts";
import { certificateFile, startRelayApart } from "./relay-apart.ts";
import { decideOnPage, openAndAllow } from "./sign-in.ts";

export interface PlayedWorld extends World, AsyncDisposable {
  readonly origin: string;
  readonly agent: Pimcp;
  /** For the relay and for the clients. */
  pass(ms: number): Promise<void>;
  /** How often the person was asked so far. */
  asked(): number;
}

export interface PlayedWorldOptions {
  /** `public`: under a name and by https, as a deployed relay; `loopback`: as the embedded one. */
  readonly address: "public" | "loopback";
  readonly profiles: readonly ClientProfile[];
  /** Hand-configured at the workstation, for whoever has to type it. */
  readonly pair?: Pair;
}

export async function startPlayedWorld({ address, profiles, pair }: PlayedWorldOptions): Promise<PlayedWorld> {
  await using stack = new AsyncDisposableStack();
  const isPublic = address === "public";
  const relay = stack.use(await startRelayApart({ https: isPublic, entry: MOVED_CLOCK_ENTRY, outbound: documentsOf(profiles) }));
  const home = stack.use(newHome({ "notes.txt": "from the workstation\n" }));
  const host = isPublic ? `relay.example:${relay.worker.port}` : new URL(relay.worker.origin).host;
  const origin = `http${isPublic ? "s" : ""}://${host}`;
  const agent = stack.use(
    await relay.dial(home, {
      args: ["--issuer", origin, ...(pair === undefined ? [] : ["--oauth-client-id", pair.id, "--oauth-client-secret", pair.secret])],
      env: isPublic ? { NODE_EXTRA_CA_CERTS: await certificateFile(home, relay.worker.port) } : {},
    }),
  );
  const via = isPublic ? mappedFetch(host) : fetch;
  const owned = stack.move();
  let passedMs = 0;
  let asked = 0;
  return {
    url: `${origin}/mcp`,
    origin,
    agent,
    fetch: via,
    token: agent.token,
    ...(pair !== undefined && { pair }),
    now: () => Date.now() + passedMs,
    pass: async (ms) => {
      await pass(origin, ms, via);
      passedMs += ms;
    },
    asked: () => asked,
    open: (authorizeUrl) => {
      asked += 1;
      return openAndAllow(authorizeUrl, decideOnPage(agent.pageUrl()), via);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The documents that clients are named by, as far as the relay can reach them. */
function documentsOf(profiles: readonly ClientProfile[]): (request: Request) => Response {
  const documents = new Map(
    profiles.flatMap(({ ways }) => ways.flatMap((way) => (way.by === "document" ? [[way.document.client_id, way.document] as const] : []))),
  );
  return ({ url }) => {
    const document = documents.get(url);
    const answer = document === undefined ? new RelayResponse("none", { status: 404 }) : RelayResponse.json(document);
    return answer as unknown as Response;
  };
}
