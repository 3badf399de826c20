/** Words of a command, said to the model in the person's place. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";

/** For what other extensions do with the words before the model has them. They may also keep them, and Pi tells nobody. */
const BEGIN_MS = 10_000;

/**
 * Said at once, or after what the model is working at. Pi ends a run of print or JSON mode when its last command has come back, whatever
 * the model is doing: there this comes back once the model has answered.
 */
export async function sayToModel(
  pi: Pick<ExtensionAPI, "on" | "sendUserMessage">,
  ctx: Pick<ExtensionCommandContext, "mode" | "isIdle" | "waitForIdle">,
  text: string,
): Promise<void> {
  const isWaitedFor = ctx.mode === "print" || ctx.mode === "json";
  const begun = isWaitedFor && ctx.isIdle() ? nextRun(pi) : Promise.resolve();
  // Without it Pi refuses words that come while the model works.
  pi.sendUserMessage(text, { deliverAs: "followUp" });
  await begun;
  if (isWaitedFor) await ctx.waitForIdle();
}

/** Resolves when the model begins to work, or after `BEGIN_MS`. */
async function nextRun(pi: Pick<ExtensionAPI, "on">): Promise<void> {
  const begun = new AbortController();
  const forget = pi.on("agent_start", () => begun.abort());
  await sleep(BEGIN_MS, undefined, { signal: begun.signal }).catch(() => {});
  forget();
}
