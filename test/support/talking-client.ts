/** A remote agent that talks with the person and hears numbered words, and the generator that its troubles come from. */
import { setTimeout as sleep } from "node:timers/promises";
import { callTool, type CallResult, type Endpoint } from "./agent-requests.ts";

export interface Word {
  readonly text: string;
  readonly isRepeat: boolean;
}

/** The word after which the client hears no more. */
export const LAST = "that is all";

/** The remote agent: asks, waits, and goes on after every error, until it hears the last word. `pause` comes before each call, when none is open. */
export async function listen(endpoint: Endpoint, turns: number, pause: () => Promise<void> = async () => {}): Promise<Word[]> {
  const heard: Word[] = [];
  let turn = 0;
  let isAsking = true;
  while (!heard.some((word) => word.text === LAST)) {
    await pause();
    // A broken call is not repeated as a question: the words of its answer wait for whatever asks next.
    const asked = isAsking ? callTool(endpoint, "human_ask", { text: `Turn ${turn + 1}?` }) : callTool(endpoint, "human_wait", {});
    const result: CallResult | undefined = await asked.catch(() => undefined);
    const words: readonly Word[] = result === undefined ? [] : wordsOf(result);
    heard.push(...words);
    if (words.length > 0) turn += 1;
    isAsking = words.length > 0 && turn < turns;
    if (result === undefined || result.isError === true) await sleep(150);
  }
  return heard;
}

export function wordsOf(result: CallResult): Word[] {
  if (result.isError === true || result.structuredContent?.["status"] !== "messages") return [];
  return result.content
    .flatMap(({ text = "" }) => text.split("\n"))
    .flatMap((line) => {
      const found = /\bw\d+\b|that is all/.exec(line)?.[0];
      return found === undefined ? [] : [{ text: found, isRepeat: /repeat/i.test(line) }];
    });
}

/** Numbers from 0 to 1 by Mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
