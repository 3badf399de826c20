/** What of the timeline is shown. Pure. */
import type { TimelineCall } from "../shared/desk.ts";

export type CallFilter = "all" | "failed" | "none";

export interface ShownCalls {
  readonly calls: readonly TimelineCall[];
  readonly hidden: number;
}

export function shownCalls(calls: readonly TimelineCall[], filter: CallFilter): ShownCalls {
  if (filter === "none") return { calls: [], hidden: calls.length };
  const shown = filter === "all" ? calls : calls.filter((call) => call.state === "failed");
  return { calls: shown, hidden: calls.length - shown.length };
}

/** "12 other calls are hidden.", or nothing. */
export function hiddenNote({ calls, hidden }: ShownCalls): string | undefined {
  if (hidden === 0) return undefined;
  const other = calls.length === 0 ? "" : " other";
  return hidden === 1 ? `1${other} call is hidden.` : `${hidden}${other} calls are hidden.`;
}

/** One client on every row would be noise. */
export function hasSeveralClients(calls: readonly TimelineCall[]): boolean {
  return calls.some((call) => call.client !== calls[0]?.client);
}
