/**
 * Where the conversation is kept, as the agent sees it: the relay over the link, or a local file where there is none.
 * The rules behind both are `queue.ts`.
 */
import type { HumanEntry, Mark } from "./entry.ts";
import type { HumanMethod, HumanParams, HumanResult } from "./calls.ts";

/** The store cannot be asked right now (no link, no answer in time). Nothing is known to have been kept. */
export class StoreUnreachable extends Error {
  override readonly name = "StoreUnreachable";
}

export interface HumanStore {
  /** Rejects with `StoreUnreachable`; any other rejection is a defect. */
  ask<M extends HumanMethod>(method: M, params: HumanParams<M>): Promise<HumanResult<M>>;
  /** What happened to entries without being asked. Called synchronously, in order; must not throw. Returns the unsubscriber. */
  subscribe(listener: (news: HumanNews) => void): () => void;
}

export type HumanNews =
  | { readonly t: "marks"; readonly marks: readonly Mark[] }
  | { readonly t: "entries"; readonly entries: readonly HumanEntry[] }
  /** The store can be asked again after it could not: load what was missed, send what waits. Also said once at the start. */
  | { readonly t: "reachable" }
  | { readonly t: "unreachable" };
