import type { JSX } from "preact";
import { visibleLine } from "../shared/visible-text.ts";
import type { Conversation } from "./conversation-state.ts";
import { chosenClient, clientLabel, recipientOf } from "./recipient.ts";

export interface RecipientChoiceProps {
  readonly conversation: Conversation;
  readonly chosen: string | null;
  readonly now: number;
  readonly onChoose: (to: string | null) => void;
}

const BY_RULE = "";

/** Says to whom it goes, and lets the person choose where there are several. */
export function RecipientChoice({ conversation, chosen, now, onChoose }: RecipientChoiceProps): JSX.Element {
  const { clients } = conversation;
  const { client, answers } = recipientOf(conversation, chosen, now);
  const name = client === null ? "whichever app asks first" : clientLabel(client, clients);
  return (
    <div class="recipient">
      {clients.length < 2 ? (
        <span class="muted">
          to <bdi>{name}</bdi>
        </span>
      ) : (
        <label>
          <span class="muted">to</span>{" "}
          <select
            value={chosenClient(conversation, chosen)?.principalId ?? BY_RULE}
            onChange={(event) => onChoose(event.currentTarget.value || null)}
          >
            <option value={BY_RULE}>{byRule(conversation)}</option>
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

function byRule(conversation: Conversation): string {
  const { waiting, clients } = conversation;
  if (waiting !== null) return `${clientLabel(waiting.client, clients)}, who waits`;
  const [latest] = clients;
  return latest === undefined ? "whichever app asks first" : `${clientLabel(latest, clients)}, active last`;
}
