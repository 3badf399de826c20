/** A page at work: a thousand rows on the timeline, and megabytes of output streaming in. */
import type { Page } from "playwright-core";
import type { Desk } from "../../local-agent/desk/desk.ts";
import { said, typed, type ScriptedConversation } from "./scripted-conversation.ts";

export const STREAMED_CHARS = 5_000_000;

export function fillTimeline(desk: Desk, calls: number): void {
  const at = Date.now() - 3_600_000;
  for (let index = 1; index <= calls; index++) {
    const callId = `call-${index}`;
    desk.callStarted({ callId, tool: "bash", args: { command: `echo ${index}` }, client: "Claude", principalId: "grant:1", at: at + index * 1_000 });
    desk.callFinished({
      callId,
      outcome: { content: [{ type: "text", text: `${index}\n` }], isError: false },
      at: at + index * 1_000 + 40,
      state: "ok",
    });
  }
}

export function fillConversation(conversation: ScriptedConversation, entries: number): void {
  const at = Date.now() - 3_600_000;
  const list = Array.from({ length: entries }, (_, index) =>
    index % 2 === 0
      ? said(index + 1, `**Step ${index}** is done: see \`src/orders.ts\`.`, { at: at + index * 900 })
      : typed(index + 1, `Go on with ${index}.`, { at: at + index * 900, state: "read" }),
  );
  conversation.set({ entries: list });
}

export interface Streaming {
  isOver(): boolean;
  readonly over: Promise<void>;
}

/** Streams `STREAMED_CHARS` of output of one running call in small pieces, over some seconds. */
export function streamOutput(desk: Desk): Streaming {
  let isOver = false;
  const over = stream(desk).finally(() => (isOver = true));
  return { over, isOver: () => isOver };
}

async function stream(desk: Desk): Promise<void> {
  desk.callStarted({ callId: "busy", tool: "bash", args: { command: "make all" }, client: "Claude", principalId: "grant:1", at: Date.now() - 5_000 });
  const line = `${"compiling a file with a rather long name and its options ".repeat(2)}\n`;
  for (let said = 0; said < STREAMED_CHARS;) {
    for (let piece = 0; piece < 20; piece++) {
      desk.callProgressed({ callId: "busy", delta: line });
      said += line.length;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Milliseconds from a click on `name` until the page has drawn what it did, as the page itself sees it. */
export function clickToPaint(page: Page, name: string): Promise<number> {
  return page.evaluate(async (name) => {
    const button = [...document.querySelectorAll("button")].find((button) => button.textContent?.trim() === name);
    if (button === undefined) throw new Error(`no button ${name}`);
    const start = performance.now();
    button.click();
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
    return performance.now() - start;
  }, name);
}
