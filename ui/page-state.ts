/** What the page knows, and how each event changes it. Pure; time comes in. */
import type { DecisionOutcome, Grant, PendingAuthorization } from "../shared/authorization.ts";
import type { ApprovalCard } from "../shared/approval.ts";
import { appendOutput } from "../shared/bounded-output.ts";
import type { DeskEvent, DeskInfo, DeskSnapshot, LinkState, TimelineCall } from "../shared/desk.ts";
import { nextApprovals, withApprovalOver, withApprovals, type Approval, type ApprovalAction } from "./approvals-state.ts";
import type { FormCard } from "../shared/upstream-form.ts";
import type { HumanEntry } from "../shared/human/entry.ts";
import { afterConversationEvent, conversationOf, withEarlier, type Conversation } from "./conversation-state.ts";
import type { DecisionAnswer, PageLink } from "./desk-connection.ts";

/** A card stays where it is when it was decided, so that nothing jumps under the pointer, until it is dismissed. */
export type CardState =
  | { readonly at: "waiting"; readonly problem?: string }
  /** `heard` is what all pages were told meanwhile: this page's own decision, or that another one was faster. */
  | { readonly at: "sending"; readonly allow: boolean; readonly heard?: DecisionOutcome["outcome"] }
  | { readonly at: "over"; readonly outcome: DecisionOutcome["outcome"]; readonly where: "here" | "elsewhere" };

export interface Card {
  readonly authorization: PendingAuthorization;
  readonly state: CardState;
}

export interface DeskView {
  readonly info: DeskInfo;
  readonly link: LinkState;
  readonly timeline: readonly TimelineCall[];
  /** Null until the relay was asked. */
  readonly grants: readonly Grant[] | null;
  /** Questions of MCP servers that wait. */
  readonly forms: readonly FormCard[];
  /** Exact calls that were allowed for the sitting. */
  readonly remembered: number;
  /** Null where clients cannot talk with the person. */
  readonly conversation: Conversation | null;
}

export interface PageState {
  readonly pageLink: PageLink;
  /** Absent until the first snapshot. */
  readonly desk: DeskView | undefined;
  readonly cards: readonly Card[];
  /** Calls that wait for a click, and those that did. */
  readonly approvals: readonly Approval[];
  /** When a card last came or changed height: buttons of all cards are dead for a moment after it. */
  readonly cardsMovedAt: number;
}

export type PageAction =
  | { readonly t: "event"; readonly event: DeskEvent; readonly now: number }
  /** What came within one frame. */
  | { readonly t: "events"; readonly events: readonly DeskEvent[]; readonly now: number }
  | { readonly t: "page_link"; readonly link: PageLink }
  | { readonly t: "sending"; readonly id: string; readonly allow: boolean }
  | { readonly t: "answered"; readonly id: string; readonly answer: DecisionAnswer; readonly now: number }
  | { readonly t: "dismiss"; readonly id: string; readonly now: number }
  | { readonly t: "earlier"; readonly entries: readonly HumanEntry[]; readonly more: boolean }
  /** The person opened or closed a part of a card. */
  | { readonly t: "resized"; readonly now: number }
  | ApprovalAction;

export const INITIAL_PAGE: PageState = { pageLink: { at: "connecting" }, desk: undefined, cards: [], approvals: [], cardsMovedAt: 0 };

/** Finished cards kept on the page. */
const MAX_OVER = 5;
/** Calls kept on the page; the desk keeps as many. */
const MAX_CALLS = 1_000;

export function nextPage(page: PageState, action: PageAction): PageState {
  switch (action.t) {
    case "event":
      return onEvent(page, action.event, action.now);
    case "events":
      return action.events.reduce((page, event) => onEvent(page, event, action.now), page);
    case "page_link":
      return { ...page, pageLink: action.link };
    case "sending":
      return { ...page, cards: changeCard(page.cards, action.id, { at: "sending", allow: action.allow }) };
    case "answered":
      return withAnswer(page, action.id, action.answer, action.now);
    case "dismiss":
      return { ...page, cards: page.cards.filter((card) => card.authorization.id !== action.id), cardsMovedAt: action.now };
    case "resized":
      return { ...page, cardsMovedAt: action.now };
    case "approval_sending":
    case "approval_answered":
    case "approval_whole":
    case "approval_dismiss":
      return changeApprovals(page, nextApprovals(page.approvals, action), "now" in action ? action.now : undefined);
    case "earlier":
      return changeConversation(page, (conversation) => withEarlier(conversation, action.entries, action.more));
  }
}

function onEvent(page: PageState, event: DeskEvent, now: number): PageState {
  if (isPlainNews(event)) return changeDesk(page, (desk) => withNews(desk, event));
  switch (event.t) {
    case "snapshot":
      return withSnapshot(page, event.snapshot, now);
    case "authorizations":
      return withAuthorizations(page, event.authorizations, now);
    case "decided":
      return withDecided(page, event.id, event.outcome, now);
    case "call":
      return changeDesk(page, (desk) => ({ ...desk, timeline: withCall(desk.timeline, event.call) }));
    case "output":
      return changeDesk(page, (desk) => ({ ...desk, timeline: withOutput(desk.timeline, event.callId, event.delta) }));
    case "entry":
    case "marks":
    case "conversation":
      return changeConversation(page, (conversation) => afterConversationEvent(conversation, event));
    case "approvals":
      return withApprovalList(page, event.approvals, now);
    case "approval_over":
      return changeApprovals(page, withApprovalOver(page.approvals, event.id, event.end), now);
    case "forms":
      // The cards below move with them.
      return { ...changeDesk(page, (desk) => ({ ...desk, forms: event.forms })), cardsMovedAt: now };
    case "displaced":
      return page;
  }
}

/** News whose members are those of the view. */
type PlainNews = Extract<DeskEvent, { t: "link" | "grants" | "remembered" }>;

function isPlainNews(event: DeskEvent): event is PlainNews {
  return event.t === "link" || event.t === "grants" || event.t === "remembered";
}

function withNews(desk: DeskView, { t: _t, ...news }: PlainNews): DeskView {
  return { ...desk, ...news };
}

function withApprovalList(page: PageState, list: readonly ApprovalCard[], now: number): PageState {
  const approvals = withApprovals(page.approvals, list);
  const hasMoved = approvals.length !== page.approvals.length || approvals.some((approval, index) => approval !== page.approvals[index]);
  return changeApprovals(page, approvals, hasMoved ? now : undefined);
}

/** `movedAt`: a card came, went or changed its height. */
function changeApprovals(page: PageState, approvals: readonly Approval[], movedAt: number | undefined): PageState {
  return { ...page, approvals, cardsMovedAt: movedAt ?? page.cardsMovedAt };
}

function withSnapshot(page: PageState, { authorizations, approvals, ...rest }: DeskSnapshot, now: number): PageState {
  const desk = { ...rest, conversation: conversationOf(page.desk?.conversation ?? null, rest.conversation) };
  return withApprovalList(withAuthorizations({ ...page, desk }, authorizations, now), approvals, now);
}

/** Known cards keep their place, new ones are added below them; what no longer waits says so. */
function withAuthorizations(page: PageState, list: readonly PendingAuthorization[], now: number): PageState {
  const byId = new Map(list.map((authorization) => [authorization.id, authorization]));
  const known = page.cards.map((card): Card => {
    const authorization = byId.get(card.authorization.id);
    byId.delete(card.authorization.id);
    if (authorization !== undefined) return { ...card, authorization };
    // A decision on its way hears its own answer.
    return card.state.at === "waiting" ? { ...card, state: { at: "over", outcome: "gone", where: "elsewhere" } } : card;
  });
  const fresh = [...byId.values()].map((authorization): Card => ({ authorization, state: { at: "waiting" } }));
  const hasMoved = fresh.length > 0 || known.some((card, index) => card.state !== page.cards[index]?.state);
  return { ...page, cards: boundOver([...known, ...fresh]), cardsMovedAt: hasMoved ? now : page.cardsMovedAt };
}

function withDecided(page: PageState, id: string, outcome: DecisionOutcome["outcome"], now: number): PageState {
  const card = page.cards.find((card) => card.authorization.id === id);
  if (card?.state.at === "sending") return { ...page, cards: changeCard(page.cards, id, { ...card.state, heard: outcome }) };
  if (card?.state.at !== "waiting") return page;
  return { ...page, cards: changeCard(page.cards, id, { at: "over", outcome, where: "elsewhere" }), cardsMovedAt: now };
}

function withAnswer(page: PageState, id: string, answer: DecisionAnswer, now: number): PageState {
  const card = page.cards.find((card) => card.authorization.id === id);
  if (card?.state.at !== "sending") return page;
  return { ...page, cards: changeCard(page.cards, id, answeredState(card.state.heard, answer)), cardsMovedAt: now };
}

function answeredState(heard: DecisionOutcome["outcome"] | undefined, answer: DecisionAnswer): CardState {
  if (typeof answer !== "string") return { at: "waiting", problem: answer.unanswered };
  // Two pages at once: the other one was first, and what it decided is what counts.
  if (answer === "gone" && heard !== undefined) return { at: "over", outcome: heard, where: "elsewhere" };
  return { at: "over", outcome: answer, where: "here" };
}

function changeCard(cards: readonly Card[], id: string, state: CardState): readonly Card[] {
  return cards.map((card) => (card.authorization.id === id ? { ...card, state } : card));
}

function boundOver(cards: readonly Card[]): readonly Card[] {
  let excess = cards.filter((card) => card.state.at === "over").length - MAX_OVER;
  return cards.filter((card) => card.state.at !== "over" || excess-- <= 0);
}

function changeDesk(page: PageState, change: (desk: DeskView) => DeskView): PageState {
  return page.desk === undefined ? page : { ...page, desk: change(page.desk) };
}

function changeConversation(page: PageState, change: (conversation: Conversation) => Conversation): PageState {
  return changeDesk(page, (desk) => (desk.conversation === null ? desk : { ...desk, conversation: change(desk.conversation) }));
}

function withCall(timeline: readonly TimelineCall[], call: TimelineCall): readonly TimelineCall[] {
  const isKnown = timeline.some((known) => known.callId === call.callId);
  if (isKnown) return timeline.map((known) => (known.callId === call.callId ? call : known));
  return [...timeline, call].slice(-MAX_CALLS);
}

function withOutput(timeline: readonly TimelineCall[], callId: string, delta: string): readonly TimelineCall[] {
  return timeline.map((call) => (call.callId === callId ? { ...call, output: appendOutput(call.output, delta) } : call));
}
