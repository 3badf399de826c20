import { expect, test } from "vitest";
import { talkLines } from "../../../../local-agent/cli/talk-lines.ts";
import type { DeskEvent } from "../../../../shared/desk.ts";
import type { FormCard } from "../../../../shared/upstream-form.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { asked, said, typed } from "../../../support/scripted-conversation.ts";
import { exampleApproval } from "../../../support/scripted-desk.ts";

function underTest() {
  const clock = new ManualClock(1_000);
  const lines: string[] = [];
  const page = { isOpen: false };
  const listeners = new Set<(event: DeskEvent) => void>();
  const desk = {
    isPageOpen: () => page.isOpen,
    subscribe: (listener: (event: DeskEvent) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const { stop } = talkLines((line) => lines.push(line), "npm start --", desk, { clock, timers: clock });
  const publish = (event: DeskEvent): void => listeners.forEach((listener) => listener(event));
  return { clock, lines, page, publish, stop, listeners };
}

const entry = (of: ReturnType<typeof said> | ReturnType<typeof asked> | ReturnType<typeof typed>): DeskEvent => ({ t: "entry", entry: of });
const calls = (...ids: string[]): DeskEvent => ({ t: "approvals", approvals: ids.map((id) => exampleApproval({ id })) });
const SAID = "A client said something to you, and no page is open: run npm start -- open";
const ASKED = "A client asks you something, and no page is open: run npm start -- open";
const CALL = "A call of bash waits for your click, and no page is open: run npm start -- open";

test("[ST87] without a page a line says what a client has for the person, at most one in 30 seconds, the most urgent", () => {
  const { clock, lines, publish, stop, listeners } = underTest();
  publish(entry(said(1, "from before", { at: 999 })));
  publish(entry(typed(2, "my own", { at: 1_000 })));
  publish(calls());
  expect(lines).toEqual([]);
  publish(entry(said(3, "hello", { at: 1_000 })));
  expect(lines).toEqual([SAID]);
  publish(calls("a"));
  publish(entry(said(4, "more", { at: 1_000 })));
  clock.advance(29_999);
  expect(lines).toHaveLength(1);
  clock.advance(1);
  expect(lines).toEqual([SAID, CALL]);
  publish(calls("a"));
  clock.advance(60_000);
  expect(lines).toHaveLength(2);
  publish(entry(asked(5, "Which?", [], { at: clock.now() })));
  expect(lines).toEqual([SAID, CALL, ASKED]);
  publish(calls("a", "b"));
  stop();
  clock.advance(60_000);
  expect(lines).toHaveLength(3);
  expect(listeners.size).toBe(0);
});

test("[ST87] a page that is open, or was opened in the pause, says it itself", () => {
  const { clock, lines, page, publish } = underTest();
  page.isOpen = true;
  publish(calls("a"));
  expect(lines).toEqual([]);
  page.isOpen = false;
  publish(calls("a", "b"));
  publish(entry(asked(1, "Which?", [], { at: 1_000 })));
  page.isOpen = true;
  clock.advance(60_000);
  page.isOpen = false;
  clock.advance(60_000);
  expect(lines).toEqual([CALL]);
});

test("[ST87] a server of the project and a form of a server are not called calls, and both are said", () => {
  const { clock, lines, publish } = underTest();
  const server = (name: string) => exampleApproval({ id: `of ${name}`, tool: name || "settings", server: { name, files: [] } });
  const form: FormCard = { id: "f", server: "notes", client: "", message: "", at: 0, asks: { kind: "form", fields: [] } };
  publish({ t: "approvals", approvals: [server("notes")] });
  clock.advance(30_000);
  publish({ t: "approvals", approvals: [server("notes"), server("")] });
  clock.advance(30_000);
  publish({ t: "forms", forms: [form] });
  publish({ t: "forms", forms: [form] });
  clock.advance(60_000);
  const rest = ", and no page is open: run npm start -- open";
  expect(lines).toEqual([
    `The project's MCP server notes waits for your click${rest}`,
    `The project's settings for MCP servers wait for your click${rest}`,
    `An MCP server asks you something${rest}`,
  ]);
});

test("[ST87] a tool's name cannot drive the terminal", () => {
  const { lines, publish } = underTest();
  publish({ t: "approvals", approvals: [exampleApproval({ tool: "\u001b[2Jbash" })] });
  expect(lines[0]).toContain("A call of ␛[2Jbash waits");
});
