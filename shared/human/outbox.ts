/** What was said here and could not be handed to the store yet. Survives the end of the agent, however it ends. */
import type { NewSaid, NewTyped } from "./entry.ts";

export type Unsent = NewSaid | NewTyped;

export interface Outbox {
  /** Oldest first. */
  list(): readonly Unsent[];
  /**
   * `kept`: it is on the disk, and outlives a power cut. `known`: it was there before, by its id. `full`: nothing was kept.
   * Throws when the disk takes nothing; nothing was kept then.
   */
  add(entry: Unsent): "kept" | "known" | "full";
  /** The store has it. Must not throw: at worst it is sent again, and known by its id. */
  remove(id: string): void;
}
