/** What a client is told when its call was not allowed. Pure. Each says that nothing was run, so that no model has to guess. */

const NOT_AROUND =
  "Do not get the same effect in another way, by another tool or another spelling: ask the person what they want instead, or go on without it.";

/** The reason stands there as the person wrote it. */
export function deniedText(tool: string, reason: string | undefined): string {
  if (reason === undefined || reason.trim() === "") return `The person denied this ${tool} call and gave no reason. Nothing was run. ${NOT_AROUND}`;
  return `The person denied this ${tool} call. Nothing was run. Their reason: ${reason}\n${NOT_AROUND}`;
}

/** @param why a clause: "the link to the relay was lost" */
export function withdrawnText(tool: string, why: string): string {
  return `This ${tool} call was not approved, because ${why}. Nothing was run. It may be called again, and then waits for the person again.`;
}

export function tooManyText(tool: string, most: number, whose: "all" | "client"): string {
  const waiting = whose === "client" ? `${most} calls of this client` : `${most} calls`;
  return `This ${tool} call was not run: ${waiting} already wait for the person's approval. Wait until they are decided.`;
}

/** A clause. Whoever aborted a call may have said why in a clause of their own. */
export function endedWhy(reason: unknown): string {
  if (reason instanceof Error && reason.name !== "AbortError" && reason.message !== "") return `it ended before it was decided (${reason.message})`;
  return "it ended, or its client left, before it was decided";
}
