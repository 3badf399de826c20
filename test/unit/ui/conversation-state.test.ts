import { expect, test } from "vitest";
import {
  afterConversationEvent,
  conversationOf,
  openQuestions,
  questionState,
  withEarlier,
  type Conversation,
} from "../../../ui/conversation-state.ts";
import type { ConversationView } from "../../../shared/desk.ts";
import { asked, entryId, said, typed } from "../../support/scripted-conversation.ts";

function view(changes: Partial<ConversationView>): ConversationView {
  return { entries: [], unsent: [], isLoaded: true, waiting: null, clients: [], ...changes };
}

function conversation(changes: Partial<ConversationView>): Conversation {
  return conversationOf(null, view(changes)) as Conversation;
}

const places = ({ entries }: Conversation): number[] => entries.map((entry) => entry.n);

test("[PG60] an entry takes its place by arrival, and a known one is replaced without touching the others", () => {
  const first = said(1, "one");
  const start = conversation({ entries: [first, said(5, "five")] });
  const grown = afterConversationEvent(start, { t: "entry", entry: said(3, "three") });
  expect(places(grown)).toEqual([1, 3, 5]);
  expect(grown.entries[0]).toBe(first);
  const changed = afterConversationEvent(grown, { t: "entry", entry: said(3, "changed") });
  expect(places(changed)).toEqual([1, 3, 5]);
  expect(changed.entries[0]).toBe(first);
});

test("[PG70] marks change what they name and nothing else", () => {
  const other = typed(2, "other");
  const marked = afterConversationEvent(conversation({ entries: [typed(1, "mine"), other] }), {
    t: "marks",
    marks: [{ id: entryId(1), state: "read", repeat: true }],
  });
  expect(marked.entries[0]).toMatchObject({ state: "read", repeat: true });
  expect(marked.entries[1]).toBe(other);
});

test("[PG61] older entries join at the front, and a snapshot that joins keeps them", () => {
  const start = conversation({ entries: [said(10, "ten")] });
  expect(start.earlier).toBe("perhaps");
  const longer = withEarlier(start, [said(8, "eight"), said(9, "nine"), said(10, "ten")], false);
  expect([places(longer), longer.earlier]).toEqual([[8, 9, 10], "none"]);
  const again = conversationOf(longer, view({ entries: [said(10, "ten"), said(11, "eleven")] }));
  expect([places(again as Conversation), again?.earlier]).toEqual([[8, 9, 10, 11], "none"]);
});

test("[PG61] a snapshot with a gap before it drops what was loaded, so that nothing seems complete that is not", () => {
  const start = conversation({ entries: [said(1, "one")] });
  expect(start.earlier).toBe("none");
  const later = conversationOf(start, view({ entries: [said(400, "later")] })) as Conversation;
  expect([places(later), later.earlier]).toEqual([[400], "perhaps"]);
});

test("[PG71] an open question past its time is expired", () => {
  const question = asked(1, "Go on?", [], { expiresAt: 1_000 });
  expect([questionState(question, 999), questionState(question, 1_000)]).toEqual(["open", "expired"]);
  expect(openQuestions(conversation({ entries: [question, asked(2, "And?", [], { expiresAt: 5_000 })] }), 2_000).map(({ n }) => n)).toEqual([2]);
});
