import { expect, test } from "vitest";
import { createDebugLines } from "../../../../local-agent/pi/debug-lines.ts";

function shown() {
  const notes: string[] = [];
  let now = 0;
  const host = { session: () => ({ hasUI: true, ui: { notify: (text: string) => void notes.push(text) } }) } as never;
  return { notes, say: createDebugLines(host, { now: () => now }), pass: (ms: number) => void (now += ms) };
}

test("[PI78] each line is one note that cannot drive a terminal, and empty ones are none", () => {
  const { notes, say } = shown();
  say("a", "one\r\n\n  \ntw\u001b[2Jo\n");
  expect(notes).toHaveLength(2);
  expect(notes[0]).toBe("a: one");
  expect(notes[1]).not.toContain("\u001b");
});

test("[PI78] a flood is cut off after twenty lines, which is said, and goes on after a while", () => {
  const { notes, say, pass } = shown();
  for (let line = 0; line < 1000; line++) say(line % 2 === 0 ? "a" : "b", `line ${line}\nand more`);
  expect(notes).toHaveLength(20);
  expect(notes.at(-1)).toMatch(/\(and more, which is left out\)$/);
  pass(5000);
  say("a", "later");
  expect(notes.at(-1)).toBe("a: later");
});

test("[PI78] a session that Pi has replaced is not an error", () => {
  const host = {
    session: () => {
      throw new Error("stale");
    },
  } as never;
  expect(() => createDebugLines(host, { now: () => 0 })("a", "line")).not.toThrow();
});
