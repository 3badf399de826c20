import { expect, test } from "vitest";
import type { PendingAuthorization } from "../../../shared/authorization.ts";
import type { DeskEvent, TimelineCall } from "../../../shared/desk.ts";
import { NO_OUTPUT } from "../../../shared/bounded-output.ts";
import { INITIAL_PAGE, nextPage, type PageAction, type PageState } from "../../../ui/page-state.ts";
import { EXAMPLE_INFO, exampleAuthorization } from "../../support/desk-under-test.ts";

const event = (event: DeskEvent, now = 0): PageAction => ({ t: "event", event, now });
const waiting = (...authorizations: PendingAuthorization[]): PageAction => event({ t: "authorizations", authorizations }, 1_000);
const snapshot = event({
  t: "snapshot",
  snapshot: {
    info: EXAMPLE_INFO,
    link: { at: "open", since: 0 },
    authorizations: [],
    grants: null,
    timeline: [],
    approvals: [],
    forms: [],
    remembered: 0,
    conversation: null,
  },
});
const after = (...actions: PageAction[]): PageState => actions.reduce(nextPage, INITIAL_PAGE);
const states = (page: PageState): unknown[] => page.cards.map((card) => [card.authorization.id, card.state]);

const A = exampleAuthorization({ id: "a" });
const B = exampleAuthorization({ id: "b" });
const sending: PageAction = { t: "sending", id: "a", allow: true };

test("[UI47] new cards come below the known ones, and the moment is noted", () => {
  const page = after(snapshot, waiting(A), event({ t: "authorizations", authorizations: [B, A] }, 2_000));
  expect(page.cards.map((card) => card.authorization.id)).toEqual(["a", "b"]);
  expect(page.cardsMovedAt).toBe(2_000);
  expect(nextPage(page, event({ t: "authorizations", authorizations: [A, B] }, 9_000)).cardsMovedAt).toBe(2_000);
});

test("[UI44] a decision made here ends with its own answer, in whatever order the news arrive", () => {
  const answered: PageAction = { t: "answered", id: "a", answer: "allowed", now: 5 };
  const decided = event({ t: "decided", id: "a", outcome: "allowed" });
  const over = [["a", { at: "over", outcome: "allowed", where: "here" }]];
  expect(states(after(snapshot, waiting(A), sending, answered, decided, waiting()))).toEqual(over);
  expect(states(after(snapshot, waiting(A), sending, decided, waiting(), answered))).toEqual(over);
});

test("[UI48] a page that was slower hears what the other one decided", () => {
  const decided = event({ t: "decided", id: "a", outcome: "denied" });
  const late: PageAction = { t: "answered", id: "a", answer: "gone", now: 5 };
  const over = [["a", { at: "over", outcome: "denied", where: "elsewhere" }]];
  expect(states(after(snapshot, waiting(A), decided, waiting()))).toEqual(over);
  expect(states(after(snapshot, waiting(A), sending, decided, waiting(), late))).toEqual(over);
});

test("[UI49] a card that the relay dropped is over, also when the page was away meanwhile", () => {
  expect(states(after(snapshot, waiting(A, B), waiting(B)))).toEqual([
    ["a", { at: "over", outcome: "gone", where: "elsewhere" }],
    ["b", { at: "waiting" }],
  ]);
  expect(states(after(snapshot, waiting(A), snapshot))).toEqual([["a", { at: "over", outcome: "gone", where: "elsewhere" }]]);
});

test("[UI54] a decision without an answer leaves the card waiting, with the reason", () => {
  const page = after(snapshot, waiting(A), sending, { t: "answered", id: "a", answer: { unanswered: "No answer." }, now: 5 });
  expect(states(page)).toEqual([["a", { at: "waiting", problem: "No answer." }]]);
});

test("finished cards do not pile up", () => {
  const many = Array.from({ length: 20 }, (_, index) => exampleAuthorization({ id: `many-${index}` }));
  const page = after(snapshot, waiting(...many), waiting(B));
  expect(page.cards).toHaveLength(6);
  expect(nextPage(page, { t: "dismiss", id: "many-19", now: 1 }).cards).toHaveLength(5);
});

test("[UI61] output is added to its call as it comes", () => {
  const call: TimelineCall = {
    callId: "1",
    tool: "bash",
    summary: "x",
    client: "c",
    startedAt: 0,
    state: "running",
    durationMs: null,
    output: NO_OUTPUT,
  };
  const page = after(
    snapshot,
    event({ t: "call", call }),
    event({ t: "output", callId: "1", delta: "one " }),
    event({ t: "output", callId: "1", delta: "two" }),
    event({ t: "output", callId: "unknown", delta: "x" }),
  );
  expect(page.desk?.timeline.map((call) => call.output.head)).toEqual(["one two"]);
});

test("events before the first snapshot change nothing that is shown", () => {
  expect(after(event({ t: "link", link: { at: "connecting", since: 0 } })).desk).toBeUndefined();
});
