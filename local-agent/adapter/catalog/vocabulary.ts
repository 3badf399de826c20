/** The terms of an index: which there are, how rare they are, and which of them an unknown one may stand for. */
import { stem } from "./search-terms.ts";
import { editDistance } from "../../../shared/edit-distance.ts";
import { allowedEdits } from "./spelling.ts";

/** At most so many guesses of one word are searched for. */
const MAX_GUESSES = 4;
const MIN_PART_LENGTH = 3;

export interface Vocabulary {
  has(term: string): boolean;
  /** Whether some term begins with it. */
  hasPrefix(prefix: string): boolean;
  /** From 0 (in every document) to 1 (in one or none). */
  rarity(term: string): number;
  /** Known terms that differ by few letters, those that differ least only. */
  near(term: string): readonly string[];
  /** The two known terms of which an unknown word is made; null: there are no such two. */
  split(word: string): readonly [string, string] | null;
}

/** @param frequencies by term, in how many of the documents it is */
export function createVocabulary(frequencies: ReadonlyMap<string, number>, documents: number): Vocabulary {
  const sorted = [...frequencies.keys()].toSorted();
  const byInitial = Map.groupBy(sorted, (term) => term[0] ?? "");
  const rarest = inverse(1, documents);
  return {
    has: (term) => frequencies.has(term),
    hasPrefix: (prefix) => sorted[lowerBound(sorted, prefix)]?.startsWith(prefix) === true,
    rarity: (term) => (rarest === 0 ? 1 : Math.min(1, inverse(Math.max(1, frequencies.get(term) ?? 0), documents) / rarest)),
    near: (term) =>
      near(
        term,
        [term[0], term[1]].flatMap((initial) => byInitial.get(initial ?? "") ?? []),
      ),
    split: (word) => split(word, frequencies),
  };
}

function inverse(frequency: number, documents: number): number {
  return Math.log(1 + Math.max(0, documents - frequency) / frequency);
}

function lowerBound(sorted: readonly string[], wanted: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function near(term: string, candidates: readonly string[]): string[] {
  const limit = allowedEdits(term);
  if (limit === 0) return [];
  const found = new Map<string, number>();
  for (const candidate of candidates) {
    const distance = candidate.length < 4 ? limit + 1 : editDistance(term, candidate, limit);
    if (distance <= limit) found.set(candidate, distance);
  }
  const least = Math.min(...found.values());
  return [...found].flatMap(([candidate, distance]) => (distance === least ? [candidate] : [])).slice(0, MAX_GUESSES);
}

function split(word: string, frequencies: ReadonlyMap<string, number>): readonly [string, string] | null {
  for (let at = MIN_PART_LENGTH; at <= word.length - MIN_PART_LENGTH; at++) {
    const [head, tail] = [stem(word.slice(0, at)), stem(word.slice(at))];
    if (frequencies.has(head) && frequencies.has(tail)) return [head, tail];
  }
  return null;
}
