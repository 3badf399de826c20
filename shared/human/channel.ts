/** The conversation as the tools of a client use it. Implemented by the desk, called by the MCP surface. */
import type { AbortSignalLike } from "../tool.ts";
import type { Category, HumanClient, HumanImage, Typed } from "./entry.ts";

/** Whether somebody can see what was said: a page is open; none is; or the relay has to come back first. */
export type SayOutcome = "shown" | "page_closed" | "unsent";

export interface OpenQuestion {
  readonly questionId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A question as it stands. Times in milliseconds since the epoch. */
export interface AskedQuestion {
  /** `over`: nobody answered in time, or what became of it is no longer known. */
  readonly state: "open" | "answered" | "withdrawn" | "over";
  readonly askedAt: number;
  readonly expiresAt: number;
  readonly answer: Typed | null;
}

export interface WaitOrder {
  readonly client: HumanClient;
  /** The exchange whose answer will carry the words; null where nobody can say whether an answer arrived (stdio). */
  readonly x: number | null;
  /** The question this call asks or asks after. */
  readonly questionId: string | null;
  readonly budgetMs: number;
  /** Ends the waiting, never the question: the call was cancelled, or its client is gone. */
  readonly signal: AbortSignalLike;
  /** Writes a comment into the call's stream, so that a connection its client has closed is noticed before the words are handed over. */
  readonly probe: () => void;
}

export type WaitOutcome =
  | { readonly at: "messages"; readonly messages: readonly Typed[]; /** Still queued: one answer has a bound. */ readonly left: number }
  /** `busy`: another call of this workspace waits already. `ended`: the signal. Nothing was taken. */
  | { readonly at: "no_message"; readonly why: "budget" | "busy" | "ended" };

/** Every method may reject with `StoreUnreachable`, whose message is a sentence for the client. */
export interface HumanChannel {
  /** Resolves when the words are kept: by the relay, or on the workstation's disk until the relay is back. */
  say(order: { readonly client: HumanClient; readonly category: Category; readonly text: string }): Promise<SayOutcome>;
  /** Puts a question before the person, or finds the open one that is the same. `too_many`: nothing was asked. */
  ask(order: { readonly client: HumanClient; readonly text: string; readonly options: readonly string[] }): Promise<OpenQuestion | "too_many">;
  /** Waits until the person has said something to this client. Never rejects because nobody answered. */
  wait(order: WaitOrder): Promise<WaitOutcome>;
  /**
   * What `wait` handed over for exchange `x` cannot be answered any more: its call was cancelled since. The words go back
   * to the queue as repeats. Never rejects; harmless when nothing was taken.
   */
  release(x: number): Promise<void>;
  /** The state of one of this client's questions, and its answer however often that was delivered; null: it has no such question. */
  question(client: HumanClient, questionId: string): Promise<AskedQuestion | null>;
  /** Takes an open question of this client back. One that is not open stays as it is. */
  withdraw(client: HumanClient, questionId: string): Promise<void>;
  /** Base64 of an image's bytes; null when it is gone. */
  image(image: HumanImage): Promise<string | null>;
}
