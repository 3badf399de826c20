/** What a person without an open page is told on the agent's terminal: that a client has something for them, and how to see it. */
import type { ApprovalCard } from "../../shared/approval.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import type { WatchedDesk } from "../daemon/running-agent.ts";
import { pacedLines } from "./paced-lines.ts";

/** The higher, the longer somebody waits for the person. */
interface News {
  readonly rank: number;
  readonly what: string;
}

/** [ST87] `program`: how the person starts us. What came in a pause is said when it is over, unless a page was opened. */
export function talkLines(
  say: (line: string) => void,
  program: string,
  desk: WatchedDesk,
  ports: { readonly clock: Clock; readonly timers: Timers },
): { readonly stop: () => void } {
  const newsOf = newsSince(ports.clock.now());
  let unsaid: News | undefined;
  const lines = pacedLines({
    ...ports,
    say,
    line() {
      if (desk.isPageOpen()) unsaid = undefined;
      return unsaid && `${unsaid.what}, and no page is open: run ${program} open`;
    },
    onSaid: () => (unsaid = undefined),
  });
  const unsubscribe = desk.subscribe((event) => {
    const news = newsOf(event);
    if (news === undefined) return;
    if (unsaid === undefined || news.rank >= unsaid.rank) unsaid = news;
    lines.speak();
  });
  return {
    stop() {
      unsubscribe();
      lines.stop();
    },
  };
}

/** What was said before this start is loaded later, and is no news. */
function newsSince(start: number): (event: DeskEvent) => News | undefined {
  let waiting: ReadonlySet<string> = new Set();
  let forms: ReadonlySet<string> = new Set();
  return (event) => {
    if (event.t === "approvals") {
      const fresh = event.approvals.find(({ id }) => !waiting.has(id));
      waiting = new Set(event.approvals.map(({ id }) => id));
      return fresh && { rank: 2, what: whatWaits(fresh) };
    }
    if (event.t === "forms") {
      const isFresh = event.forms.some(({ id }) => !forms.has(id));
      forms = new Set(event.forms.map(({ id }) => id));
      return isFresh ? { rank: 1, what: "An MCP server asks you something" } : undefined;
    }
    if (event.t !== "entry" || event.entry.at < start) return undefined;
    const { entry } = event;
    if (entry.kind === "asked" && entry.state === "open") return { rank: 1, what: "A client asks you something" };
    return entry.kind === "said" ? { rank: 0, what: "A client said something to you" } : undefined;
  };
}

function whatWaits({ tool, server }: ApprovalCard): string {
  if (server?.name === "") return "The project's settings for MCP servers wait for your click";
  const what = server === undefined ? "A call of" : "The project's MCP server";
  return `${what} ${visibleLine(tool, 60)} waits for your click`;
}
