/** Which resources are watched, the ones read last, and what happened since they were read. Pure but for what it holds. */
import type { ChangedResources } from "./upstream-pool.ts";

const MAX_WATCHED = 32;
/** All of them are sent at once, and they are a server's own words. */
const MAX_URI_CHARS = 4096;

/** Turns, not times: they say what came before what. 0: never. */
interface Marks {
  /** When its last read that worked began: news during a read may be of a state that was not read. */
  readAt: number;
  changedAt: number;
  /** When it was found that news of it may have been missed. */
  missedAt: number;
}

export class WatchedResources {
  /** Least recently read first. */
  readonly #marks = new Map<string, Marks>();
  #turn = 1;

  /** The turn of a read that begins now. */
  now(): number {
    return this.#turn;
  }

  /** Least recently read first. */
  uris(): readonly string[] {
    return [...this.#marks.keys()];
  }

  /** @returns whether it is watched, since when, and which one made way for it */
  read(uri: string, readAt: number): { readonly is: "refused" | "known" | "new"; readonly dropped: string | null } {
    if (uri.length > MAX_URI_CHARS) return { is: "refused", dropped: null };
    const known = this.#marks.get(uri);
    this.#marks.delete(uri);
    this.#marks.set(uri, { changedAt: 0, missedAt: 0, ...known, readAt: Math.max(readAt, known?.readAt ?? 0) });
    const [oldest = null] = this.#marks.size > MAX_WATCHED ? this.#marks.keys() : [];
    if (oldest !== null) this.#marks.delete(oldest);
    return { is: known === undefined ? "new" : "known", dropped: oldest };
  }

  /** Of one that is not watched nothing is kept. */
  updated(uri: string): void {
    const known = this.#marks.get(uri);
    if (known !== undefined) known.changedAt = ++this.#turn;
  }

  /** Of every one there may have been news that nobody heard. */
  missed(): void {
    this.#turn++;
    for (const each of this.#marks.values()) each.missedAt = this.#turn;
  }

  forget(uri: string): void {
    this.#marks.delete(uri);
  }

  clear(): void {
    this.#marks.clear();
  }

  /** Whether it changed, or may have, since it was read. */
  isDoubtful(uri: string): boolean {
    return happened(this.#marks.get(uri)) !== "nothing";
  }

  /** null: nothing is known to have changed. */
  changed(): ChangedResources | null {
    const newest = [...this.#marks].toReversed();
    const those = (what: ReturnType<typeof happened>) => newest.flatMap(([uri, each]) => (happened(each) === what ? [uri] : []));
    const [certain, possible] = [those("changed"), those("missed")];
    return certain.length + possible.length === 0 ? null : { certain, possible };
  }
}

function happened(marks: Marks | undefined): "changed" | "missed" | "nothing" {
  if (marks === undefined) return "nothing";
  if (marks.changedAt > marks.readAt) return "changed";
  return marks.missedAt > marks.readAt ? "missed" : "nothing";
}
