import { expect, test } from "vitest";
import type { DeskEvent } from "../../../shared/desk.ts";
import type { ApprovalState } from "../../../ui/approvals-state.ts";
import { INITIAL_PAGE, nextPage, type PageAction, type PageState } from "../../../ui/page-state.ts";
import { exampleApproval } from "../../support/scripted-desk.ts";

const event = (event: DeskEvent, now = 0): PageAction => ({ t: "event", event, now });
const waiting = (...ids: string[]): PageAction => event({ t: "approvals", approvals: ids.map((id) => exampleApproval({ id })) }, 1_000);
const over = (id: string, end: "allowed" | "denied" | "withdrawn"): PageAction => event({ t: "approval_over", id, end }, 2_000);
const sending: PageAction = { t: "approval_sending", id: "a", decision: "once" };
const answered = (answer: "allowed" | "gone" | { unanswered: string }): PageAction => ({ t: "approval_answered", id: "a", answer, now: 3_000 });
const after = (...actions: PageAction[]): PageState => actions.reduce(nextPage, INITIAL_PAGE);
const states = (...actions: PageAction[]): ApprovalState[] => after(...actions).approvals.map(({ state }) => state);

test("[PG87] a decision made here ends with its own answer, in whatever order the news arrive", () => {
  const here = [{ at: "over", fate: "allowed", where: "here", decision: "once" }];
  expect(states(waiting("a"), sending, answered("allowed"), over("a", "allowed"), waiting())).toEqual(here);
  expect(states(waiting("a"), sending, over("a", "allowed"), waiting(), answered("allowed"))).toEqual(here);
  expect(states(waiting("a"), sending, waiting(), over("a", "allowed"), answered("allowed"))).toEqual(here);
});

test("[PG88] a click that came too late hears what became of the call, in whatever order the news arrive", () => {
  const withdrawn = [{ at: "over", fate: "withdrawn", where: "elsewhere" }];
  expect(states(waiting("a"), over("a", "withdrawn"), waiting())).toEqual(withdrawn);
  expect(states(waiting("a"), waiting(), over("a", "withdrawn"))).toEqual(withdrawn);
  expect(states(waiting("a"), sending, over("a", "withdrawn"), answered("gone"))).toEqual(withdrawn);
  expect(states(waiting("a"), sending, answered("gone"), over("a", "withdrawn"))).toEqual(withdrawn);
  expect(states(waiting("a"), sending, over("a", "withdrawn"), answered({ unanswered: "Away." }))).toEqual(withdrawn);
});

test("[PG87] a decision without an answer leaves the card waiting, with the reason", () => {
  expect(states(waiting("a"), sending, answered({ unanswered: "Away." }))).toEqual([{ at: "waiting", problem: "Away." }]);
});

test("[PG86] new cards come below the known ones, and every move is noted", () => {
  const page = after(waiting("a"), event({ t: "approvals", approvals: [exampleApproval({ id: "b" }), exampleApproval({ id: "a" })] }, 5_000));
  expect(page.approvals.map(({ card }) => card.id)).toEqual(["a", "b"]);
  expect(page.cardsMovedAt).toBe(5_000);
  const same = event({ t: "approvals", approvals: [exampleApproval({ id: "a" }), exampleApproval({ id: "b" })] }, 9_000);
  expect(nextPage(page, same).cardsMovedAt).toBe(5_000);
  expect(nextPage(page, event({ t: "approval_over", id: "a", end: "denied" }, 6_000)).cardsMovedAt).toBe(6_000);
});

test("[PG83] a loaded rest replaces the beginning, and a later list does not take it back", () => {
  const head = exampleApproval({ id: "a", text: "echo", totalChars: 9 });
  const list = event({ t: "approvals", approvals: [head] });
  const whole: PageAction = { t: "approval_whole", id: "a", whole: { at: "shown" }, text: { text: "echo;echo", beside: "" }, now: 1 };
  expect(after(list, whole, list).approvals.map(({ card }) => card.text)).toEqual(["echo;echo"]);
});

test("finished cards do not pile up", () => {
  const ids = Array.from({ length: 20 }, (_, index) => `many-${index}`);
  expect(after(waiting(...ids), waiting("b"), waiting("b", "c")).approvals.length).toBeLessThanOrEqual(7);
});
