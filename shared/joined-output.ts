import type { DeskEvent } from "./desk.ts";

/** Output of one call that follows itself, as one event; undefined where `next` has to stay apart from `last`. */
export function joinedOutput(last: DeskEvent | undefined, next: DeskEvent): DeskEvent | undefined {
  if (next.t !== "output" || last?.t !== "output" || last.callId !== next.callId) return undefined;
  return { t: "output", callId: next.callId, delta: last.delta + next.delta };
}
