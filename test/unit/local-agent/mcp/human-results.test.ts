import { describe, expect, test } from "vitest";
import { messagesResult, noMessageResult, timeOfDay, type Heard } from "../../../../local-agent/mcp/human-results.ts";
import type { HumanImage } from "../../../../shared/human/entry.ts";
import { QUESTION, typed } from "../../../support/scripted-human.ts";

const nothing: Omit<Heard, "messages"> = { left: 0, open: null, images: new Map(), timeZone: "Asia/Kolkata", notes: [] };
const at = Date.UTC(2026, 10, 30, 20, 0, 5);
const png: HumanImage = { id: "f".repeat(32), mimeType: "image/png", bytes: 9 };
const texts = (result: { readonly content: readonly { readonly type: string; readonly text?: string }[] }) =>
  result.content.map((part) => part.text ?? part.type);

describe("the person's words", () => {
  test("[HU41] a single message arrives verbatim, and nothing else", () => {
    const text = "  [1/2 · 00:00:00] as typed\n\n ";
    expect(messagesResult({ ...nothing, messages: [typed(text)] })).toEqual({
      content: [{ type: "text", text }],
      structuredContent: { status: "messages", count: 1, left: 0 },
      isError: false,
    });
  });

  test("[HU42] several are stamped with place, number and the workstation's time, in their order", () => {
    const messages = [typed("one", { at }), typed("two\nlines", { at: at + 1000 }), typed("three", { at: at + 3600_000 })];
    const result = messagesResult({ ...nothing, messages });
    expect(texts(result)).toEqual(["[1/3 · 01:30:05] one\n[2/3 · 01:30:06] two\nlines\n[3/3 · 02:30:05] three"]);
    expect(result.structuredContent).toEqual({ status: "messages", count: 3, left: 0 });
  });

  test("[HU42] midnight is 00, whatever the zone's clock change did", () => {
    expect(timeOfDay(Date.UTC(2026, 6, 1, 22, 0, 0), "Europe/Berlin")).toBe("00:00:00");
    expect(timeOfDay(Date.UTC(2026, 11, 1, 23, 0, 0), "Europe/Berlin")).toBe("00:00:00");
  });

  test("[HU43] an image follows its message; one that is gone is named instead", () => {
    const gone: HumanImage = { ...png, id: "e".repeat(32), mimeType: "image/webp" };
    const messages = [typed("before", { at }), typed("look", { at, images: [png, gone] }), typed("after", { at })];
    const result = messagesResult({ ...nothing, messages, images: new Map([[png.id, "aGk="]]) });
    expect(result.content[0]).toMatchObject({ text: "[1/3 · 01:30:05] before\n[2/3 · 01:30:05] look" });
    expect(result.content[1]).toEqual({ type: "image", data: "aGk=", mimeType: "image/png" });
    expect(texts(result)[2]).toMatch(/^\(an image was here, image\/webp, 9 bytes.*\)\n\[3\/3 · 01:30:05\] after$/);
  });

  test("[HU43] an image without words comes alone", () => {
    const result = messagesResult({ ...nothing, messages: [typed("", { images: [png] })], images: new Map([[png.id, "aGk="]]) });
    expect(texts(result)).toEqual(["image"]);
  });

  test("[HU44] what the workstation adds stands in the last block: repeats, the open question, what is left", () => {
    const single = messagesResult({ ...nothing, messages: [typed("again", { repeat: true })] });
    expect(texts(single)).toEqual(["again", expect.stringContaining("repeat")]);
    const messages = [typed("old", { at, repeat: true }), typed("new", { at })];
    const result = messagesResult({ ...nothing, messages, left: 7, open: QUESTION });
    expect(texts(result)[0]).toBe("[1/2 · 01:30:05 · repeat] old\n[2/2 · 01:30:05] new");
    const [, notes] = texts(result);
    for (const part of ["repeat", `human_wait with questionId "${QUESTION.questionId}"`, "More is waiting (7): call human_wait again for the rest"])
      expect(notes).toContain(part);
    expect(result.structuredContent).toMatchObject({ count: 2, left: 7, questionId: QUESTION.questionId });
    expect(result.content).toHaveLength(2);
  });
});

test("[HU44] an answer to another app's question cannot be taken for one to the own", () => {
  const stray = { at, to: null, questionId: "a".repeat(32) };
  const single = messagesResult({ ...nothing, messages: [typed("yes", stray)], open: QUESTION });
  expect(texts(single)[0]).toBe("yes");
  for (const part of ["another app", "answers nothing that you asked", "not answered yet"]) expect(texts(single)[1]).toContain(part);
  const several = messagesResult({ ...nothing, messages: [typed("yes", stray), typed("no", { at })] });
  expect(texts(several)[0]).toBe("[1/2 · 01:30:05 · to another app] yes\n[2/2 · 01:30:05] no");
});

describe("no message", () => {
  const unanswered = { why: "budget", budgetMs: 45_000, question: QUESTION, notes: [] } as const;

  test("[HU40] leads with what to do, and is no error", () => {
    const result = noMessageResult(unanswered);
    const [text] = texts(result);
    expect(text).toMatch(new RegExp(`^Call human_wait with questionId "${QUESTION.questionId}" again now`));
    for (const part of ["has not answered within 45 s", "stays open"]) expect(text).toContain(part);
    expect(result.isError).toBe(false);
    expect(result.structuredContent).toEqual({ status: "no_message", questionId: QUESTION.questionId, expiresAt: "2026-11-30T12:00:00.000Z" });
  });

  test("[HU40] what is not known is left out", () => {
    expect(noMessageResult({ ...unanswered, question: null }).structuredContent).toEqual({ status: "no_message" });
    expect(texts(noMessageResult({ ...unanswered, question: null }))[0]).toMatch(/^Call human_wait again now/);
    const question = { ...QUESTION, expiresAt: null };
    expect(noMessageResult({ ...unanswered, question }).structuredContent).toEqual({ status: "no_message", questionId: QUESTION.questionId });
  });

  test("[HU46] beside another call that waits, it says so, and that the question is asked", () => {
    const [text] = texts(noMessageResult({ ...unanswered, why: "busy" }));
    expect(text).toMatch(/^Call human_wait with questionId/);
    for (const part of ["Another call waits", "did not wait", "stays open"]) expect(text).toContain(part);
  });
});
