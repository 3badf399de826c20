import { expect, test } from "vitest";
import { conversationOf, type Conversation } from "../../../ui/conversation-state.ts";
import { keyOf, timelineItems } from "../../../ui/timeline-items.ts";
import type { TimelineCall } from "../../../shared/desk.ts";
import { NO_OUTPUT } from "../../../shared/bounded-output.ts";
import { asked, entryId, said, typed } from "../../support/scripted-conversation.ts";

const DAY = 24 * 3_600_000;
const NOON = new Date(2026, 5, 1, 12).getTime();

function call(callId: string, startedAt: number): TimelineCall {
  return { callId, tool: "bash", summary: `echo ${callId}`, client: "“Claude”", startedAt, state: "ok", durationMs: 1, output: NO_OUTPUT };
}

function conversation(...entries: Conversation["entries"]): Conversation {
  const view = { entries: [...entries], unsent: [], isLoaded: true, waiting: null, clients: [] };
  return conversationOf(null, view) as Conversation;
}

const all = { calls: "all", search: "" } as const;
const keys = (...parameters: Parameters<typeof timelineItems>): string[] =>
  timelineItems(...parameters)
    .items.filter((item) => item.t !== "day")
    .map((item) => (item.t === "call" ? item.call.callId : keyOf(item).slice(-1)));

test("[PG60] calls stand between entries by the clock, entries by arrival whatever their clock says", () => {
  const entries = conversation(said(1, "a", { at: NOON }), said(2, "b", { at: NOON - 5_000 }), said(3, "c", { at: NOON + 10 }));
  expect(keys(entries, [call("x", NOON - 9_000), call("y", NOON + 5), call("z", NOON + 99)], all)).toEqual(["x", "1", "2", "y", "3", "z"]);
});

test("[PG60] days are told apart", () => {
  const { items } = timelineItems(
    conversation(said(1, "a", { at: NOON }), said(2, "b", { at: NOON + 1 }), said(3, "c", { at: NOON + DAY })),
    [],
    all,
  );
  expect(items.map((item) => item.t)).toEqual(["day", "entry", "entry", "day", "entry"]);
});

test("[PG60] what is not kept yet comes last, under the same key as later", () => {
  const { n: _, state: __, repeat: ___, ...unsent } = typed(9, "mine", { at: NOON });
  const waits = { ...conversation(said(1, "a", { at: NOON + 1 })), unsent: [unsent] };
  const items = timelineItems(waits, [], all).items.filter((item) => item.t !== "day");
  expect(items.map((item) => item.t)).toEqual(["entry", "unsent"]);
  const kept = { ...waits, entries: [...waits.entries, typed(9, "mine", { at: NOON })] };
  const later = timelineItems(kept, [], all).items.filter((item) => item.t !== "day");
  expect(later.map(keyOf)).toEqual(items.map(keyOf));
});

test("[PG61] the search looks at words, options, names and calls, and counts", () => {
  const words = conversation(said(1, "Grüße", { at: NOON }), asked(2, "Which?", ["Blue sky"], { at: NOON }), typed(3, "nothing", { at: NOON }));
  const calls = [call("x", NOON + 1)];
  const find = (search: string): string[] => keys(words, calls, { calls: "all", search });
  expect([find("GRÜSSE"), find("grüße"), find("blue SKY"), find("claude"), find(" echo x "), find("zzz")]).toEqual([
    [],
    ["1"],
    ["2"],
    ["1", "2", "x"],
    ["x"],
    [],
  ]);
  expect(timelineItems(words, calls, { calls: "all", search: "blue" }).found).toEqual({ count: 1, of: 4 });
  expect(timelineItems(words, calls, { calls: "none", search: "" })).toMatchObject({ hiddenCalls: 1, found: undefined });
  expect(entryId(1)).toHaveLength(32);
});
