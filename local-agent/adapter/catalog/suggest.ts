/** Tools that were probably meant by a name that none has. Pure. */
import { serverPrefix } from "./names.ts";
import { editDistance } from "../../../shared/edit-distance.ts";
import { allowedEdits } from "./spelling.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";

const MAX_SUGGESTIONS = 5;
/** Nobody mistypes more than that; the rest of an endless name would only cost time. */
const MAX_ASKED = 128;
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
  const isLike = rememberedLikeness();
  const scored = entries.flatMap((entry) => {
    const prefix = known.get(entry.server) ?? wordsOf(serverPrefix(entry.server, "short"));
    known.set(entry.server, prefix);
    const likeness = likenessTo(name, withoutPrefix(name, prefix), { entry, prefix, isLike });
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
}

type IsLike = (one: string, other: string) => boolean;

function likenessTo(asked: readonly string[], stripped: readonly string[], { entry, prefix, isLike }: Compared): number {
  const own = withoutPrefix(wordsOf(entry.original), prefix);
  // The prefix in both names says nothing about the tool.
  if (stripped !== asked) return likeness(stripped, own, isLike);
  return Math.max(likeness(asked, own, isLike), likeness(asked, wordsOf(entry.displayed), isLike));
}

/** 1 for the same letters, less for each that is wrong; or how many words they share. */
function likeness(one: readonly string[], other: readonly string[], isLike: IsLike): number {
  const a = one.join("_");
  const b = other.join("_");
  const longer = Math.max(a.length, b.length);
  if (longer === 0) return 0;
  const limit = Math.max(1, Math.floor(longer / 4));
  const distance = editDistance(a, b, limit);
  const spelled = distance <= limit ? 1 - distance / longer : 0;
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
function rememberedLikeness(): IsLike {
  const known = new Map<string, Map<string, boolean>>();
  return (one, other) => {
    const ofOne = known.get(one) ?? new Map<string, boolean>();
    known.set(one, ofOne);
    const answer = ofOne.get(other) ?? areAlike(one, other);
    ofOne.set(other, answer);
    return answer;
  };
}

function areAlike(one: string, other: string): boolean {
  if (one === other) return true;
  if (Math.min(one.length, other.length) >= 4 && (one.startsWith(other) || other.startsWith(one))) return true;
  const limit = allowedEdits(one);
  return limit > 0 && editDistance(one, other, limit) <= limit;
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
