/** Tools that were probably meant by a name that none has. Pure. */
import { serverPrefix } from "./names.ts";
import { editDistance } from "../../../shared/edit-distance.ts";
import { allowedEdits } from "./spelling.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";

const MAX_SUGGESTIONS = 5;
/** Nobody mistypes more than that; the rest of an endless name would only cost time. */
const MAX_ASKED = 128;
/** Pairs of letters. A server whose thousands of tools all have the longest names would hold everybody up for seconds. */
const MAX_COMPARED = 2_000_000;
/** Below, what two names share is chance. */
const LEAST = 0.5;

/**
 * At most five, the likeliest first: names that differ by a few letters or in the order of their words, or that share most of them. Names
 * are compared with and without the server's prefix.
 * @param hintServer where it is likelier to be
 */
export function suggestEntries(asked: string, entries: readonly CatalogEntry[], hintServer: string | null): CatalogEntry[] {
  const name = wordsOf(asked.slice(0, MAX_ASKED));
  if (name.length === 0) return [];
  const known = new Map<string, readonly string[]>();
  const distance = boundedDistance(MAX_COMPARED);
  const isLike = rememberedLikeness(distance);
  const scored = entries.flatMap((entry) => {
    const prefix = known.get(entry.server) ?? wordsOf(serverPrefix(entry.server, "short"));
    known.set(entry.server, prefix);
    const likeness = likenessTo(name, withoutPrefix(name, prefix), { entry, prefix, isLike, distance });
    const score = likeness + (entry.server === hintServer ? 0.1 : 0);
    return likeness >= LEAST ? [{ entry, score }] : [];
  });
  return scored
    .toSorted((a, b) => b.score - a.score || (a.entry.displayed < b.entry.displayed ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ entry }) => entry);
}

interface Compared {
  readonly entry: CatalogEntry;
  /** The server's, as words. */
  readonly prefix: readonly string[];
  readonly isLike: IsLike;
  readonly distance: Distance;
}

type Distance = typeof editDistance;

type IsLike = (one: string, other: string) => boolean;

function likenessTo(asked: readonly string[], stripped: readonly string[], { entry, prefix, ...measures }: Compared): number {
  const own = withoutPrefix(wordsOf(entry.original), prefix);
  // The prefix in both names says nothing about the tool.
  if (stripped !== asked) return likeness(stripped, own, measures);
  return Math.max(likeness(asked, own, measures), likeness(asked, wordsOf(entry.displayed), measures));
}

/** 1 for the same letters, less for each that is wrong; or how many words they share. */
function likeness(one: readonly string[], other: readonly string[], { isLike, distance }: Pick<Compared, "isLike" | "distance">): number {
  const a = one.join("_");
  const b = other.join("_");
  const longer = Math.max(a.length, b.length);
  if (longer === 0) return 0;
  const limit = Math.max(1, Math.floor(longer / 4));
  const wrong = distance(a, b, limit);
  const spelled = wrong <= limit ? 1 - wrong / longer : 0;
  return Math.max(spelled, 0.95 * shared(one, other, isLike));
}

/** Between 0 and 1 (Dice's coefficient); a word counts when it is the same, mistyped, or the beginning of the other. */
function shared(one: readonly string[], other: readonly string[], isLike: IsLike): number {
  const open = [...other];
  let found = 0;
  for (const word of one) {
    const at = open.findIndex((each) => isLike(word, each));
    if (at < 0) continue;
    found += 1;
    open.splice(at, 1);
  }
  return (2 * found) / (one.length + other.length);
}

/** Thousands of tools are named with the same few hundred words. */
function rememberedLikeness(distance: Distance): IsLike {
  const known = new Map<string, Map<string, boolean>>();
  return (one, other) => {
    const ofOne = known.get(one) ?? new Map<string, boolean>();
    known.set(one, ofOne);
    const answer = ofOne.get(other) ?? areAlike(one, other, distance);
    ofOne.set(other, answer);
    return answer;
  };
}

function areAlike(one: string, other: string, distance: Distance): boolean {
  if (one === other) return true;
  if (Math.min(one.length, other.length) >= 4 && (one.startsWith(other) || other.startsWith(one))) return true;
  const limit = allowedEdits(one);
  return limit > 0 && distance(one, other, limit) <= limit;
}

/** Beyond `pairs` compared pairs of letters everything else is far from everything. */
function boundedDistance(pairs: number): Distance {
  let left = pairs;
  return (a, b, limit) => {
    if (Math.abs(a.length - b.length) > limit) return limit + 1;
    left -= a.length * b.length;
    return left < 0 ? limit + 1 : editDistance(a, b, limit);
  };
}

function withoutPrefix(name: readonly string[], prefix: readonly string[]): readonly string[] {
  const bears = prefix.length > 0 && name.length > prefix.length && prefix.every((word, index) => name[index] === word);
  return bears ? name.slice(prefix.length) : name;
}

/** Cheaper than the search's words: thousands of names are taken apart for one slip. */
function wordsOf(name: string): string[] {
  const apart = name
    .replace(/^mcp__/, "")
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase();
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
}
