/** What the person at the terminal is told of the MCP servers: the adapter's notices, and what servers with `debug` log. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { Adapter } from "../adapter/adapter.ts";
import { showLogs } from "../adapter/upstream/debug-logs.ts";
import type { UpstreamPool } from "../adapter/upstream/upstream-pool.ts";

interface ToldAdapter {
  readonly pool: Pick<UpstreamPool, "subscribe" | "definition">;
  readonly subscribe: Adapter["subscribe"];
}

/** Until the adapter is closed. Notices from before come at once. */
export function tellOfUpstreams({ pool, subscribe }: ToldAdapter, tell: (line: string) => void): void {
  let left = MAX_NOTICES;
  subscribe((event) => {
    if (event.t === "notice" && left-- > 0) tell(event.text);
  });
  showLogs(pool, (server, text) => tell(visibleLine(`${server}: ${text}`)));
}

/** A server whose list is another one each time has something to be said of each. */
const MAX_NOTICES = 100;
