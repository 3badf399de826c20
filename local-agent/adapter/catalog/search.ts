/**
 * Finds tools by what they are called, for and given. Ranking is BM25 over fields (minisearch); what is added here is the question's
 * side: which of its words a tool answers, and that a tool which answers too little of it is no answer.
 */
import MiniSearch, { type SearchResult } from "minisearch";
import { coverageOf } from "./search-coverage.ts";
import { searchDocument, type SearchField, textShares } from "./search-document.ts";
import { pageOf, type Page, type PageRequest } from "./search-page.ts";
import { readQuery, type QueryUnit } from "./search-query.ts";
import { stem, terms, words } from "./search-terms.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";
import { createVocabulary, type Vocabulary } from "./vocabulary.ts";

export interface SearchHit {
  readonly entry: CatalogEntry;
  /** Comparable within one query only; higher is better, 0 for what was listed rather than found. */
  readonly score: number;
}

interface SearchRequest extends PageRequest {
  readonly query: string;
  /** Only tools of this server; a query without words then lists all of them. */
  readonly server?: string | undefined;
}

export interface SearchIndex {
  /** Best first, then by name. Without a word to look for and without a server nothing is found. */
  search(request: SearchRequest): Page<SearchHit>;
}

/** How much a word counts that is found there. */
const BOOST: Readonly<Record<SearchField, number>> = { name: 6, title: 3, keywords: 4, server: 2.5, summary: 1.5, details: 0.8, parameters: 0.8 };
const FIELDS: readonly SearchField[] = ["name", "title", "keywords", "server", "summary", "details", "parameters"];
/** What answers much less of the question than the best answer does is left out, the sooner when that answers nearly all of it. */
const MIN_OF_BEST = 0.5;
const MIN_OF_WHOLE = 0.7;
const WHOLE = 0.85;

/** Cheap to make: the index is built by the first search. */
export function createSearchIndex(entries: readonly CatalogEntry[]): SearchIndex {
  let built: Built | null = null;
  return {
    search: (request) => {
      built ??= build(entries);
      const units = readQuery(request.query, built.vocabulary);
      return pageOf(units.length === 0 ? listed(entries, request) : found(built, units, request), request);
    },
  };
}

interface Built {
  readonly entries: readonly CatalogEntry[];
  readonly index: MiniSearch<{ readonly id: number }>;
  readonly vocabulary: Vocabulary;
  /** The words of each tool's name. */
  readonly names: readonly (readonly string[])[];
}

function build(entries: readonly CatalogEntry[]): Built {
  const frequencies = new Map<string, number>();
  const index = new MiniSearch<{ readonly id: number }>({
    fields: [...FIELDS],
    tokenize: (text) => (text === "" ? [] : text.split(" ")),
    processTerm: (term) => term,
  });
  const shareOf = textShares(entries);
  const documents = entries.map((entry, id) => {
    const split = Object.entries(searchDocument(entry, shareOf(entry))).map(([field, text]) => [field, terms(text)] as const);
    for (const term of new Set(split.flatMap(([, found]) => found))) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    return { id, ...Object.fromEntries(split.map(([field, found]) => [field, found.join(" ")])) };
  });
  index.addAll(documents);
  const names = entries.map((entry) => words(entry.original));
  return { entries, index, vocabulary: createVocabulary(frequencies, entries.length), names };
}

function listed(entries: readonly CatalogEntry[], { server }: SearchRequest): SearchHit[] {
  const ofServer = entries.filter((entry) => entry.server === server);
  return ofServer.map((entry) => ({ entry, score: 0 })).toSorted(byScore);
}

function found({ entries, index, names }: Built, units: readonly QueryUnit[], { query, server }: SearchRequest): SearchHit[] {
  const cover = coverageOf(units);
  const asked = askedWords(query);
  const answers = lookUp(index, units).flatMap((result) => {
    const entry = entries[result.id as number];
    if (entry === undefined || (server !== undefined && entry.server !== server)) return [];
    const { share, isAnswer } = cover(result.match);
    const score = result.score * share ** 3 * nameFactor(names[result.id as number] ?? [], asked);
    return isAnswer ? [{ entry, share, score: Math.round(100 * score) / 100 }] : [];
  });
  const best = answers.reduce((most, { share }) => Math.max(most, share), 0);
  const least = best * (best < WHOLE ? MIN_OF_BEST : MIN_OF_WHOLE);
  const near = answers.filter(({ share }) => share >= least);
  return near.toSorted(byScore).map(({ entry, score }) => ({ entry, score }));
}

function byScore(a: SearchHit, b: SearchHit): number {
  return b.score - a.score || (a.entry.displayed < b.entry.displayed ? -1 : 1);
}

function lookUp(index: Built["index"], units: readonly QueryUnit[]): SearchResult[] {
  const quality = new Map<string, number>();
  const prefixes = new Set<string>();
  for (const unit of units) {
    if (unit.prefix !== null) prefixes.add(unit.prefix);
    for (const [form, value] of unit.forms) quality.set(form, Math.max(quality.get(form) ?? 0, value / unit.needed));
  }
  return index.search([...new Set([...quality.keys(), ...prefixes])].join(" "), {
    boost: BOOST,
    combineWith: "OR",
    prefix: (term) => prefixes.has(term),
    boostTerm: (term) => quality.get(term) ?? 1,
  });
}

interface AskedWords {
  readonly exact: ReadonlySet<string>;
  readonly stems: ReadonlySet<string>;
}

function askedWords(query: string): AskedWords {
  const exact = words(query);
  return { exact: new Set(exact), stems: new Set(exact.map(stem)) };
}

/** The more of a tool's name was asked for, the more probably it is meant: `create issue` is `create_issue`, not `create_issue_comment`. */
function nameFactor(name: readonly string[], { exact, stems }: AskedWords): number {
  if (name.length === 0) return 1;
  const met = name.map((word) => (exact.has(word) ? 1 : stems.has(stem(word)) ? 0.9 : 0));
  return 1 + met.reduce((sum: number, value) => sum + value, 0) / name.length;
}
