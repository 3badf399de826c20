/** Where clients are played: a relay whose clock moves, a real workstation behind it, and a person who allows what is asked. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Response as RelayResponse } from "miniflare";
import * as v from "valibot";
import type { ClientProfile } from "../fixtures/clients/profile.ts";
import { mappedFetch } from "./mapped-fetch.ts";
import { MOVED_CLOCK_ENTRY, pass } from "./moved-clock.ts";
import { newHome, type Home, type Pimcp } from "./pimcp.ts";
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
  /** Instead of the pair that the workstation mints for whoever has to type one. */
  readonly pair?: Pair;
  /** The only addresses that a client with this pair may return to. */
  readonly redirects?: readonly string[];
}

export async function startPlayedWorld({ address, profiles, pair, redirects }: PlayedWorldOptions): Promise<PlayedWorld> {
  await using stack = new AsyncDisposableStack();
  const isPublic = address === "public";
  const relay = stack.use(await startRelayApart({ https: isPublic, entry: MOVED_CLOCK_ENTRY, outbound: documentsOf(profiles) }));
  const home = stack.use(newHome({ "notes.txt": "from the workstation\n" }));
  const host = isPublic ? `relay.example:${relay.worker.port}` : new URL(relay.worker.origin).host;
  const origin = `http${isPublic ? "s" : ""}://${host}`;
  const agent = stack.use(
    await relay.dial(home, {
      args: ["--issuer", origin, ...(redirects === undefined ? [] : ["--oauth-redirect", redirects.join()])],
      env: {
        ...(isPublic && { NODE_EXTRA_CA_CERTS: await certificateFile(home, relay.worker.port) }),
        ...(pair !== undefined && { PI_AS_MCP_OAUTH_CLIENT_ID: pair.id, PI_AS_MCP_OAUTH_CLIENT_SECRET: pair.secret }),
      },
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
    pair: pair ?? mintedPair(home),
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

function mintedPair(home: Home): Pair {
  return v.parse(
    v.object({ id: v.string(), secret: v.string() }),
    JSON.parse(readFileSync(join(home.dir, "config/pimcp/oauth-client.json"), "utf8")),
  );
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
