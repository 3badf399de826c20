/** To whom the person's words go, as the agent will decide it; shown before they are sent. Pure. */
import { addressOf } from "../shared/human/addressing.ts";
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

/** `chosen`: the client picked on the page; null: the desk's rule. */
export function recipientOf(conversation: Conversation, chosen: string | null, now: number): Recipient {
  const questions = openQuestions(conversation, now).toReversed();
  const known = { clients: conversation.clients, waiting: conversation.waiting?.client ?? null, openQuestions: questions, now };
  const { to, questionId } = addressOf(chosen, known);
  return { client: to, answers: questions.find((question) => question.id === questionId) };
}

const NAME_CHARS = 60;

/** In quotes what a client calls itself; the person's own tokens are theirs. Two of one name are told apart by the end of their id. */
export function clientLabel(client: HumanClient, all: readonly HumanClient[]): string {
  const isShared = all.some((other) => other.name === client.name && other.principalId !== client.principalId);
  const name = `“${visibleLine(client.name, NAME_CHARS)}”${isShared ? ` (…${visibleLine(client.principalId.slice(-4))})` : ""}`;
  if (!client.principalId.startsWith("token:")) return name;
  return client.name === OWN_TOKEN_NAME ? "your token" : `your token ${name}`;
}
