import { expect, test } from "vitest";
import { conversationOf, type Conversation } from "../../../ui/conversation-state.ts";
import { clientLabel, recipientOf } from "../../../ui/recipient.ts";
import type { ConversationView } from "../../../shared/desk.ts";
import { asked, CLAUDE } from "../../support/scripted-conversation.ts";

const OTHER = { principalId: "grant:2", name: "Claude" };
const NOW = Date.now();

function conversation(changes: Partial<ConversationView>): Conversation {
  return conversationOf(null, { entries: [], unsent: [], isLoaded: true, waiting: null, clients: [], ...changes }) as Conversation;
}

test("[PG69] words go to whoever waits, else to the one active last, else to nobody in particular; a chosen one comes first", () => {
  const clients = [
    { ...OTHER, lastAt: NOW },
    { ...CLAUDE, lastAt: NOW - 1 },
  ];
  const waiting = { client: CLAUDE, questionId: null, since: NOW, until: NOW + 1 };
  const to = (changes: Partial<ConversationView>, chosen: string | null = null): string | undefined =>
    recipientOf(conversation(changes), chosen, NOW).client?.principalId;
  expect([to({}), to({ clients }), to({ clients, waiting }), to({ clients, waiting }, "grant:2")]).toEqual([
    undefined,
    "grant:2",
    "grant:1",
    "grant:2",
  ]);
});

test("[PG69] they answer the newest open question of that client", () => {
  const entries = [asked(1, "first"), asked(2, "second"), asked(3, "over", [], { state: "answered" }), asked(4, "not theirs", [], { client: OTHER })];
  expect(recipientOf(conversation({ entries }), "grant:1", NOW).answers?.text).toBe("second");
});

test("[PG69] names are in quotes, two of one name are told apart, and tokens are the person's own", () => {
  expect(clientLabel(CLAUDE, [CLAUDE])).toBe("“Claude”");
  expect(clientLabel(CLAUDE, [CLAUDE, OTHER])).toBe("“Claude” (…nt:1)");
  expect(clientLabel({ principalId: "token:9", name: "static token" }, [])).toBe("your token");
  expect(clientLabel({ principalId: "token:9", name: "ci\u202e" }, [])).toBe("your token “ci‹U+202E›”");
  expect(clientLabel({ principalId: "grant:9", name: "your token" }, [])).toBe("“your token”");
});
