/** What one page has still to read, as lines: bounded, and output of one call joined. */
import type { DeskEvent } from "../../shared/desk.ts";
import { joinedOutput } from "../../shared/joined-output.ts";

export interface LineQueue {
  /** False: more than the bound waited, and all of it was dropped. */
  add(event: DeskEvent): boolean;
  /** An empty line. */
  addKeepAlive(): void;
  isEmpty(): boolean;
  /** All of it, which is then no longer queued. */
  take(): string;
}

/** `maxChars`: UTF-16 units. */
export function createLineQueue(maxChars: number): LineQueue {
  let lines: string[] = [];
  /** Output of one call that waits as one event: a thousand small pieces would cost the page a thousand steps. */
  let output: DeskEvent | undefined;
  let chars = 0;

  function push(line: string): void {
    lines.push(line);
    chars += line.length;
  }

  function take(): string {
    if (output !== undefined) lines.push(encodeLine(output));
    const text = lines.join("");
    lines = [];
    output = undefined;
    chars = 0;
    return text;
  }

  return {
    add(event) {
      const joined = joinedOutput(output, event);
      if (joined === undefined && output !== undefined) lines.push(encodeLine(output));
      output = event.t === "output" ? (joined ?? event) : undefined;
      if (event.t === "output") chars += event.delta.length;
      else push(encodeLine(event));
      if (chars <= maxChars) return true;
      take();
      return false;
    },
    addKeepAlive: () => push("\n"),
    isEmpty: () => lines.length === 0 && output === undefined,
    take,
  };
}

export function encodeLine(event: DeskEvent): string {
  return `${JSON.stringify(event)}\n`;
}
