/** The calls that wait for a click, as the page knows them, and how each piece of news changes them. Pure. */
import type { ApprovalCard, ApprovalDecision, ApprovalEnd, ApprovalOutcome } from "../shared/approval.ts";

export type ApprovalChoice = ApprovalDecision["decision"];

/** `lost`: it waits no longer, and what became of it was not heard. */
export type ApprovalFate = ApprovalEnd | "lost";

/** A card stays where it is when it is over, so that nothing jumps under the pointer, until it is dismissed. */
export type ApprovalState =
  | { readonly at: "waiting"; readonly problem?: string }
  /** `heard` is what all pages were told meanwhile. */
  | { readonly at: "sending"; readonly decision: ApprovalChoice; readonly heard?: ApprovalFate }
  | { readonly at: "over"; readonly fate: ApprovalFate; readonly where: "here" | "elsewhere"; readonly decision?: ApprovalChoice };

/** The rest of a command that is too long for its card. */
type WholeText = { readonly at: "none" } | { readonly at: "loading" } | { readonly at: "failed"; readonly why: string } | { readonly at: "shown" };

export interface Approval {
  readonly card: ApprovalCard;
  readonly state: ApprovalState;
  readonly whole: WholeText;
}

type ApprovalAnswerHere = ApprovalOutcome["outcome"] | { readonly unanswered: string };

/** What the person did with a card, or what came back for it. */
export type ApprovalAction =
  | { readonly t: "approval_sending"; readonly id: string; readonly decision: ApprovalChoice }
  | { readonly t: "approval_answered"; readonly id: string; readonly answer: ApprovalAnswerHere; readonly now: number }
  | { readonly t: "approval_whole"; readonly id: string; readonly whole: WholeText; readonly text?: WholeCommand; readonly now: number }
  | { readonly t: "approval_dismiss"; readonly id: string; readonly now: number };

interface WholeCommand {
  readonly text: string;
  readonly beside: string;
}

/** Finished cards kept on the page. */
const MAX_OVER = 5;

/** Whether the person has the whole of it before them; nothing can be allowed before. */
export function isWhole({ card, whole }: Approval): boolean {
  return whole.at === "shown" || card.text.length >= card.totalChars;
}

export function isWaiting({ state }: Approval): boolean {
  return state.at !== "over";
}

/** Ids of the calls that wait for a click: nothing of them runs yet. */
export function waitingCallIds(approvals: readonly Approval[]): ReadonlySet<string> {
  return new Set(approvals.filter(isWaiting).map(({ card }) => card.callId));
}

/** Known cards keep their place, new ones are added below them; what waits no longer says so. */
export function withApprovals(known: readonly Approval[], list: readonly ApprovalCard[]): readonly Approval[] {
  const byId = new Map(list.map((card) => [card.id, card]));
  const kept = known.map((approval): Approval => {
    const isListed = byId.delete(approval.card.id);
    if (isListed || approval.state.at !== "waiting") return approval;
    return { ...approval, state: { at: "over", fate: "lost", where: "elsewhere" } };
  });
  const fresh = [...byId.values()].map((card): Approval => ({ card, state: { at: "waiting" }, whole: { at: "none" } }));
  return boundOver([...kept, ...fresh]);
}

export function withApprovalOver(approvals: readonly Approval[], id: string, end: ApprovalEnd): readonly Approval[] {
  return approvals.map((approval): Approval => (approval.card.id === id ? { ...approval, state: endedState(approval.state, end) } : approval));
}

function endedState(state: ApprovalState, end: ApprovalEnd): ApprovalState {
  if (state.at === "sending") return { ...state, heard: end };
  if (state.at === "over" && state.fate !== "lost") return state;
  return { at: "over", fate: end, where: "elsewhere" };
}

export function nextApprovals(approvals: readonly Approval[], action: ApprovalAction): readonly Approval[] {
  if (action.t === "approval_dismiss") return approvals.filter(({ card }) => card.id !== action.id);
  return approvals.map((approval) => (approval.card.id === action.id ? changed(approval, action) : approval));
}

function changed(approval: Approval, action: Exclude<ApprovalAction, { t: "approval_dismiss" }>): Approval {
  switch (action.t) {
    case "approval_sending":
      return { ...approval, state: { at: "sending", decision: action.decision } };
    case "approval_answered":
      return approval.state.at === "sending" ? { ...approval, state: answeredState(approval.state, action.answer) } : approval;
    case "approval_whole":
      return { ...approval, whole: action.whole, card: action.text === undefined ? approval.card : { ...approval.card, ...action.text } };
  }
}

function answeredState({ decision, heard }: Extract<ApprovalState, { at: "sending" }>, answer: ApprovalAnswerHere): ApprovalState {
  if (typeof answer !== "string") {
    return heard === undefined ? { at: "waiting", problem: answer.unanswered } : { at: "over", fate: heard, where: "elsewhere" };
  }
  // Somebody was faster, or the call was over: what all pages heard is what counts.
  if (answer === "gone") return { at: "over", fate: heard ?? "lost", where: "elsewhere" };
  return { at: "over", fate: answer, where: "here", decision };
}

function boundOver(approvals: readonly Approval[]): readonly Approval[] {
  let excess = approvals.filter(({ state }) => state.at === "over").length - MAX_OVER;
  return approvals.filter(({ state }) => state.at !== "over" || excess-- <= 0);
}
