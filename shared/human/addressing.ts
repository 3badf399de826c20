/** Whom the person's words go to: decided by the desk, and shown by the page before they are sent. Pure. */
import type { Asked, HumanClient } from "./entry.ts";
import type { SeenClient } from "../desk.ts";

/** A client that was silent for longer may be gone for good; words for nobody in particular reach whoever asks next. */
const RECENT_MS = 12 * 60 * 60_000;

export interface Known {
  /** Latest first. */
  readonly clients: readonly SeenClient[];
  readonly waiting: HumanClient | null;
  /** Newest first. */
  readonly openQuestions: readonly Asked[];
  readonly now: number;
}

export interface Address {
  readonly to: HumanClient | null;
  /** The open question of that client that free words answer, so that its card closes. */
  readonly questionId: string | null;
}

/** `chosen` is a client's principal id, or null for the rule: whoever waits now, else the one active last, else whoever asks first. */
export function addressOf(chosen: string | null, known: Known): Address {
  const to = chosen === null ? defaultClient(known) : namedClient(chosen, known);
  const question = to === null ? undefined : known.openQuestions.find((asked) => asked.client.principalId === to.principalId);
  return { to, questionId: question?.id ?? null };
}

function defaultClient({ waiting, clients, now }: Known): HumanClient | null {
  if (waiting !== null) return waiting;
  const latest = clients[0];
  return latest === undefined || now - latest.lastAt > RECENT_MS ? null : bare(latest);
}

/** The page chose from a list that may have changed since: an unknown one is still the one it named. */
function namedClient(principalId: string, { waiting, clients, openQuestions }: Known): HumanClient {
  if (waiting?.principalId === principalId) return waiting;
  const seen =
    clients.find((client) => client.principalId === principalId) ?? openQuestions.find(({ client }) => client.principalId === principalId)?.client;
  return seen === undefined ? { principalId, name: principalId } : bare(seen);
}

function bare({ principalId, name }: HumanClient): HumanClient {
  return { principalId, name };
}
