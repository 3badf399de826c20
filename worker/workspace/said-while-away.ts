/** `human_say` without a workstation: its words are kept for the person (docs/spec/human.md). Pure. */
import * as v from "valibot";
import { NewSaid } from "../../shared/human/entry.ts";
import { readRpcMessage } from "../../shared/jsonrpc.ts";
import type { OfflineAnswers } from "../../shared/wire/frames.ts";
import { fill, isModernMessage, type WholeAnswer } from "./offline-answers.ts";

const AwayWords = v.object({
  text: v.pipe(NewSaid.entries.text, v.regex(/\S/)),
  category: v.nullish(NewSaid.entries.category, "message"),
});
export type AwayWords = v.InferOutput<typeof AwayWords>;

const TOOL = "human_say";
const SENTENCE = "The message is kept and the person sees it when the workstation is back. {away}";

/** Undefined: this is not words for the person, or the agent offers no such tool. `away` is a sentence. */
export function saidWhileAway(body: string, offline: OfflineAnswers, away: string): { words: AwayWords; answer: WholeAnswer } | undefined {
  const message = readRpcMessage(body);
  if (message.kind !== "request" || message.method !== "tools/call" || message.params["name"] !== TOOL) return undefined;
  const era = isModernMessage(message.method, message.params) ? offline.modern : offline.legacy;
  const words = v.safeParse(AwayWords, message.params["arguments"]);
  if (!words.success || !offers(era.results["tools/list"])) return undefined;
  const result = { ...era.toolCall, content: [{ type: "text", text: SENTENCE }], structuredContent: { status: "queued" }, isError: false };
  return { words: words.output, answer: { status: 200, body: fill(message.id, result, away) } };
}

function offers(list: unknown): boolean {
  return v.is(v.object({ tools: v.array(v.object({ name: v.string() })) }), list) && list.tools.some(({ name }) => name === TOOL);
}
