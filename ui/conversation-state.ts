/** What the page knows of the conversation, and how each event changes it. Pure. */
import type { ConversationView, DeskEvent } from "../shared/desk.ts";
import type { Asked, HumanEntry, Mark } from "../shared/human/entry.ts";

export interface Conversation extends Readonly<Omit<ConversationView, "entries">> {
  /** In order of arrival. An entry that did not change keeps its identity, so that its row is not drawn again. */
  readonly entries: readonly HumanEntry[];
  /** Whether the store may have older ones than the first one here. */
  readonly earlier: "perhaps" | "none";
}

/** Entries kept on the page; older ones can be loaded again. */
const MAX_ENTRIES = 3_000;

/** A snapshot says everything anew; older entries that this page has loaded before stay if nothing is missing in between. */
export function conversationOf(old: Conversation | null, view: ConversationView | null): Conversation | null {
  if (view === null) return null;
  const first = view.entries[0]?.n;
  const last = old?.entries.at(-1)?.n ?? 0;
  const joins = old !== null && first !== undefined && last >= first;
  const kept = joins ? old.entries.filter((entry) => entry.n < first) : [];
  const entries = [...kept, ...view.entries];
  return { ...view, entries, earlier: joins ? old.earlier : earlierThan(entries, "perhaps") };
}

type ConversationEvent = Extract<DeskEvent, { t: "entry" | "marks" | "conversation" }>;

export function afterConversationEvent(conversation: Conversation, event: ConversationEvent): Conversation {
  switch (event.t) {
    case "entry":
      return withEntry(conversation, event.entry);
    case "marks":
      return withMarks(conversation, event.marks);
    case "conversation": {
      const { t: _, ...rest } = event;
      return { ...conversation, ...rest };
    }
  }
}

/** A new entry, or a known one changed. */
function withEntry(conversation: Conversation, entry: HumanEntry): Conversation {
  const { entries } = conversation;
  if (entries.some((known) => known.id === entry.id)) {
    return { ...conversation, entries: entries.map((known) => (known.id === entry.id ? entry : known)) };
  }
  const place = entries.findLastIndex((known) => known.n < entry.n) + 1;
  const grown = entries.toSpliced(place, 0, entry);
  if (grown.length <= MAX_ENTRIES) return { ...conversation, entries: grown };
  return { ...conversation, entries: grown.slice(-MAX_ENTRIES), earlier: "perhaps" };
}

function withMarks(conversation: Conversation, marks: readonly Mark[]): Conversation {
  const byId = new Map(marks.map((mark) => [mark.id, mark]));
  const entries = conversation.entries.map((entry) => {
    const mark = byId.get(entry.id);
    return mark === undefined || entry.kind !== "typed" ? entry : { ...entry, state: mark.state, repeat: mark.repeat };
  });
  return { ...conversation, entries };
}

/** Older entries, as `GET /api/history` gave them. */
export function withEarlier(conversation: Conversation, older: readonly HumanEntry[], more: boolean): Conversation {
  const known = new Set(conversation.entries.map((entry) => entry.id));
  const entries = [...older.filter((entry) => !known.has(entry.id)), ...conversation.entries].toSorted((one, other) => one.n - other.n);
  return { ...conversation, entries, earlier: more ? "perhaps" : "none" };
}

/** The first place is 1: before it there is nothing. */
function earlierThan(entries: readonly HumanEntry[], otherwise: Conversation["earlier"]): Conversation["earlier"] {
  const first = entries[0];
  return first === undefined || first.n <= 1 ? "none" : otherwise;
}

export type QuestionState = Asked["state"];

/** The clock counts before the store has swept. */
export function questionState(question: Asked, now: number): QuestionState {
  return question.state === "open" && question.expiresAt <= now ? "expired" : question.state;
}

/** Oldest first. */
export function openQuestions(conversation: Conversation, now: number): readonly Asked[] {
  return conversation.entries.filter((entry) => entry.kind === "asked").filter((question) => questionState(question, now) === "open");
}
