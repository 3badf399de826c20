/** What a client is told on the stream of its request before the answer: an upstream's progress and log lines. */
import type { LoggingLevel, ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../shared/json.ts";
import type { Caller } from "./caller.ts";

export interface Stream {
  readonly context: ServerContext;
  /** False while the client does not take what was already written. */
  readonly writable: () => boolean;
}

const LEVELS: readonly LoggingLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function logsTo({ caller, context, writable }: Stream & { readonly caller: Caller }): (params: JsonObject) => void {
  const least = caller.logLevel === null ? null : LEVELS.indexOf(caller.logLevel);
  return (params) => {
    const level = LEVELS.indexOf(params["level"] as LoggingLevel);
    if (least === null || level < least || !writable()) return;
    tell(context, "notifications/message", params);
  };
}

/** Under the client's own token. A value that does not rise is not told: the protocol forbids it. */
export function progressTo({ context, writable }: Stream): (progress: JsonObject) => void {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let last = Number.NEGATIVE_INFINITY;
  return (progress) => {
    const value = progress["progress"];
    if (typeof value !== "number" || value <= last || !writable()) return;
    last = value;
    tell(context, "notifications/progress", { ...progress, progressToken });
  };
}

/** Whoever has left does not hear it; the answer's stream says so itself. */
export function tell(context: ServerContext, method: string, params: JsonObject): void {
  context.mcpReq.notify({ method, params: { ...params } }).catch(() => undefined);
}
