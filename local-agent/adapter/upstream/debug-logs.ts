/** The log lines of servers with `debug`, for the person. */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { PoolEvent, UpstreamPool } from "./upstream-pool.ts";

/** [UP77] Until the pool is closed. The text is one line, with nothing in it that could drive a terminal. */
export function showLogs(pool: Pick<UpstreamPool, "subscribe" | "definition">, show: (server: string, text: string) => void): void {
  pool.subscribe((event) => {
    if (event.t === "log" && pool.definition(event.server)?.debug === true) show(event.server, logLine(event));
  });
}

function logLine({ level, logger, data }: Extract<PoolEvent, { readonly t: "log" }>): string {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return visibleLine(`[${level}] ${logger === null ? "" : `${logger}: `}${text}`);
}
