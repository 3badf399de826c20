/**
 * The rows of the conversation, as the rules of `queue.ts` need them: small and synchronous, so that SQLite in the
 * workspace object and a file of the agent can both be it. An implementation decides nothing.
 */
import type { Asked, HumanEntry, Said, Typed } from "./entry.ts";

/** An entry before it has its place. */
export type Unplaced = Omit<Said, "n"> | Omit<Asked, "n"> | Omit<Typed, "n">;

/** What an entry still waits for. One that waits for nothing is settled, and may be swept. */
export type WaitsAs = "queued" | "delivered" | "open";

export interface ImagePart {
  readonly id: string;
  readonly part: number;
  readonly parts: number;
  /** Base64. */
  readonly data: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** `none`: no message names it yet. `gone`: the message was swept. */
export interface ImageUse {
  readonly id: string;
  readonly at: number;
  readonly usedBy: "none" | "waiting" | "settled" | "gone";
}

export interface HumanRows {
  /** All of it or, when it throws, nothing. Not nested. */
  transaction<T>(work: () => T): T;
  get(id: string): HumanEntry | undefined;
  /** The message that answers this question. */
  answerTo(questionId: string): Typed | undefined;
  /** Messages to this client that answer a question and are `queued` or `delivered`. */
  waitingAnswers(principalId: string): readonly Typed[];
  /** Returns the place: higher than that of every entry so far. */
  insert(entry: Unplaced): number;
  /** Replaces the entry with this place. */
  update(entry: HumanEntry): void;
  /** Oldest first; with `forClient` only what is this client's or nobody's. What was yielded may be updated in between. */
  waiting(as: WaitsAs, forClient?: string): Iterable<HumanEntry>;
  count(as: WaitsAs, forClient?: string): number;
  /** Every client for which, or from which, something waits. */
  waitingClients(): readonly string[];
  /** Newest first, only places below `before`; null: all. */
  latest(before: number | null): Iterable<HumanEntry>;
  /** Forgets the settled entries with a place up to `n`. */
  dropSettled(n: number): void;
  /** Oldest first. */
  images(): readonly ImageUse[];
  /** Nothing happens to a part that is there. */
  putPart(part: ImagePart): void;
  part(id: string, part: number): ImagePart | undefined;
  /** The entry at place `n` names this image; nothing happens if there is no such image. */
  useImage(id: string, n: number): void;
  dropImage(id: string): void;
}

export function waitsAs(entry: Unplaced): WaitsAs | null {
  if (entry.kind === "said") return null;
  const { state } = entry;
  return state === "queued" || state === "delivered" || state === "open" ? state : null;
}

/** The client that an entry is from or to; null: nobody in particular. */
export function clientOf(entry: Unplaced): string | null {
  return (entry.kind === "typed" ? entry.to : entry.client)?.principalId ?? null;
}

export function questionOf(entry: Unplaced): string | null {
  return entry.kind === "typed" ? entry.questionId : null;
}
