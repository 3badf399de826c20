import type { JSX } from "preact";
import { visibleLine } from "../shared/visible-text.ts";
import type { Conversation } from "./conversation-state.ts";
import { clientLabel, recipientOf } from "./recipient.ts";

export interface RecipientChoiceProps {
  readonly conversation: Conversation;
  readonly chosen: string | null;
  readonly now: number;
  readonly onChoose: (to: string | null) => void;
}

const BY_RULE = "";
const NOBODY = "whichever app asks first";

/** Says to whom it goes, and lets the person choose where there are several. */
export function RecipientChoice({ conversation, chosen, now, onChoose }: RecipientChoiceProps): JSX.Element {
  const { clients } = conversation;
  const { client, answers } = recipientOf(conversation, chosen, now);
  const name = client === null ? NOBODY : clientLabel(client, clients);
  return (
    <div class="recipient">
      {clients.length < 2 && chosen === null ? (
        <span class="muted">
          to <bdi>{name}</bdi>
        </span>
      ) : (
        <label>
          <span class="muted">to</span>{" "}
          <select value={chosen ?? BY_RULE} onChange={(event) => onChoose(event.currentTarget.value || null)}>
            <option value={BY_RULE}>{byRule(conversation, now)}</option>
            {/* Chosen before it left the list: it still gets the words. */}
            {chosen === null || clients.some((client) => client.principalId === chosen) ? null : <option value={chosen}>{name}</option>}
            {clients.map((client) => (
              <option key={client.principalId} value={client.principalId}>
                {clientLabel(client, clients)}
              </option>
            ))}
          </select>
        </label>
      )}
      {answers === undefined ? null : (
        <span class="answers muted">
          answers <q>{visibleLine(answers.text, 60)}</q>
        </span>
      )}
    </div>
  );
}

function byRule(conversation: Conversation, now: number): string {
  const { client } = recipientOf(conversation, null, now);
  if (client === null) return NOBODY;
  return `${clientLabel(client, conversation.clients)}, ${conversation.waiting === null ? "active last" : "who waits"}`;
}
