/** To whom the person's words go, as the agent will decide it; shown before they are sent. Pure. */
import type { SeenClient } from "../shared/desk.ts";
import type { Asked, HumanClient } from "../shared/human/entry.ts";
import { OWN_TOKEN_NAME } from "../shared/principal.ts";
import { visibleLine } from "../shared/visible-text.ts";
import { openQuestions, type Conversation } from "./conversation-state.ts";

export interface Recipient {
  /** Null: nobody is known; whichever client asks first gets it. */
  readonly client: HumanClient | null;
  /** The open question that the words will answer. */
  readonly answers: Asked | undefined;
}

/** `chosen`: the client picked on the page; null: whoever waits now, else the one active last, else nobody in particular. */
export function recipientOf(conversation: Conversation, chosen: string | null, now: number): Recipient {
  const client = chosenClient(conversation, chosen) ?? conversation.waiting?.client ?? conversation.clients[0] ?? null;
  const answers =
    client === null ? undefined : openQuestions(conversation, now).findLast((question) => question.client.principalId === client.principalId);
  return { client, answers };
}

/** Undefined also when the picked client is not among the known ones any more. */
export function chosenClient(conversation: Conversation, chosen: string | null): SeenClient | undefined {
  return chosen === null ? undefined : conversation.clients.find((client) => client.principalId === chosen);
}

const NAME_CHARS = 60;

/** In quotes what a client calls itself; the person's own tokens are theirs. Two of one name are told apart by the end of their id. */
export function clientLabel(client: HumanClient, all: readonly HumanClient[]): string {
  const isShared = all.some((other) => other.name === client.name && other.principalId !== client.principalId);
  const name = `“${visibleLine(client.name, NAME_CHARS)}”${isShared ? ` (…${visibleLine(client.principalId.slice(-4))})` : ""}`;
  if (!client.principalId.startsWith("token:")) return name;
  return client.name === OWN_TOKEN_NAME ? "your token" : `your token ${name}`;
}
