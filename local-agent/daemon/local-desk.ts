/** Desk, page and conversation of an agent without a relay (`--human` with `--stdio` or `--http`). */
import { join } from "node:path";
import type { LocalExchanges } from "../mcp/local-http.ts";
import type { McpSurface } from "../mcp/server.ts";
import { createAgentDesk } from "./agent-desk.ts";
import { describeAgent, type InfoParts } from "./agent-info.ts";
import { claimAgentPlace, PlaceTaken } from "./agent-lock.ts";
import { openAudit, type AgentContext } from "./agent-parts.ts";
import { openPage, type DeskPage } from "./desk-page.ts";
import { requireFreePort } from "./free-port.ts";
import type { WatchedDesk } from "./running-agent.ts";
import { openConversation, openLocalStore } from "./open-conversation.ts";
import { localPlace } from "./place-dirs.ts";
import type { Upstreams } from "./upstreams.ts";

export interface LocalDesk {
  readonly surface: McpSurface;
  readonly page: DeskPage;
  readonly talk: WatchedDesk;
  /** For whoever can say whether an answer arrived. */
  readonly exchanges: LocalExchanges;
}

/** A place of its own, so that no other agent keeps a conversation there. */
export interface HeldPlace {
  readonly dir: string;
  readonly pageFile: string;
}

const MAX_PLACES = 32;

/** Several may run beside each other: each takes the first place of this name that nobody holds, with what was said there. */
export async function holdLocalPlace({ settings, directories, lifetime }: AgentContext, name: string): Promise<HeldPlace> {
  await requireFreePort(settings.ui, 0, "ui-port");
  for (let place = 0; ; place++) {
    const own = place === 0 ? name : `${name} (${place})`;
    const dir = localPlace(own, directories.state);
    const pageFile = join(dir, "page.html");
    try {
      const release = await claimAgentPlace({ dir, name: own, flagsBeside: "--ui-port" }, { root: settings.root, pageFile, control: null });
      lifetime.onEnd("claim", release);
      return { dir, pageFile };
    } catch (error) {
      if (!(error instanceof PlaceTaken) || place === MAX_PLACES) throw error;
    }
  }
}

export async function openLocalDesk(context: AgentContext, { dir, pageFile }: HeldPlace, of: InfoParts, upstreams: Upstreams): Promise<LocalDesk> {
  const open = new Set<number>();
  let latest = 0;
  const store = openLocalStore(context, dir, (x) => open.has(x));
  const conversation = openConversation(context, store, dir);
  const facts = {
    tools: of.tools,
    info: describeAgent(context, of),
    audit: await openAudit(context),
    conversation,
    upstreams,
  };
  const { desk, surface } = createAgentDesk(context, facts, NOBODY_ASKS);
  // There is no link that could be down.
  desk.setLink({ at: "open", since: context.clock.now() });
  const exchanges: LocalExchanges = {
    began() {
      open.add(++latest);
      return latest;
    },
    settled(x, whole) {
      open.delete(x);
      store.settled(x, whole);
    },
  };
  return { surface, page: await openPage(context, desk, pageFile), talk: desk, exchanges };
}

/** Without a relay there is no OAuth, so no app asks for access and none has it. */
const NOBODY_ASKS = {
  decide: () => Promise.resolve({ outcome: "gone" } as const),
  grants: { list: () => Promise.resolve([]), revoke: () => Promise.resolve({ revoked: 0 }) },
};
