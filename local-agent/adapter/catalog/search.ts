/**
 * Finds tools by what they are called, for and given. Ranking is BM25 over fields (minisearch); what is added here is the question's
 * side: which of its words a tool answers, and that a tool which answers too little of it is no answer.
 */
import MiniSearch, { type SearchResult } from "minisearch";
import { prefixQuality, readQuery, type QueryUnit } from "./search-query.ts";
import { searchDocument, type SearchField } from "./search-document.ts";
import { pageOf, type Page, type PageRequest } from "./search-page.ts";
import { stem, terms, words } from "./search-terms.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";
import { createVocabulary, type Vocabulary } from "./vocabulary.ts";

export interface SearchHit {
  readonly entry: CatalogEntry;
  /** Comparable within one query only; higher is better, 0 for what was listed rather than found. */
  readonly score: number;
}

export interface SearchRequest extends PageRequest {
  readonly query: string;
  /** Only tools of this server; a query without words then lists all of them. */
  readonly server?: string | undefined;
}

export interface SearchIndex {
  /** Best first, then by name. Without a word to look for and without a server nothing is found. */
  search(request: SearchRequest): Page<SearchHit>;
}

/** How much a word counts that is found there. */
const BOOST: Readonly<Record<SearchField, number>> = { name: 6, title: 3, keywords: 4, server: 2.5, description: 1.5, parameters: 0.8 };
/** How certain it is that a tool is meant whose field has the word. */
const CERTAINTY: Readonly<Record<SearchField, number>> = { name: 1, title: 1, keywords: 1, server: 0.9, description: 0.9, parameters: 0.75 };
const FIELDS: readonly SearchField[] = ["name", "title", "keywords", "server", "description", "parameters"];
/** Less of the question than this is no answer to it. Of two words both are meant. */
const MIN_COVERAGE = { ofTwo: 0.6, ofOthers: 0.5 } as const;

/** Cheap to make: the index is built by the first search. */
export function createSearchIndex(entries: readonly CatalogEntry[]): SearchIndex {
  let built: Built | null = null;
  return {
    search: (request) => {
      built ??= build(entries);
      return pageOf(find(built, entries, request), request);
    },
  };
}

interface Built {
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
  const documents = entries.map((entry, id) => {
    const split = Object.entries(searchDocument(entry)).map(([field, text]) => [field, terms(text)] as const);
    for (const term of new Set(split.flatMap(([, found]) => found))) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    return { id, ...Object.fromEntries(split.map(([field, found]) => [field, found.join(" ")])) };
  });
  index.addAll(documents);
  const names = entries.map((entry) => words(entry.original));
  return { index, vocabulary: createVocabulary(frequencies, entries.length), names };
}

function find(built: Built, entries: readonly CatalogEntry[], request: SearchRequest): SearchHit[] {
  const units = readQuery(request.query, built.vocabulary);
  const isMeant = (entry: CatalogEntry | undefined): entry is CatalogEntry =>
    entry !== undefined && (request.server === undefined || entry.server === request.server);
  if (units.length === 0)
    return request.server === undefined
      ? []
      : entries
          .filter(isMeant)
          .map((entry) => ({ entry, score: 0 }))
          .toSorted(byScore);
  const asked = askedWords(request.query);
  const whole = wholeOf(units);
  const least = units.length === 2 ? MIN_COVERAGE.ofTwo : MIN_COVERAGE.ofOthers;
  const meaning = new Map<string, readonly Met[]>();
  return lookUp(built.index, units)
    .flatMap((result): SearchHit[] => {
      const entry = entries[result.id as number];
      if (!isMeant(entry)) return [];
      const coverage = covered(result, units, meaning) / whole;
      if (coverage < least) return [];
      return [{ entry, score: Math.round(100 * result.score * coverage ** 2 * nameFactor(built.names[result.id as number], asked)) / 100 }];
    })
    .toSorted(byScore);
}

function byScore(a: SearchHit, b: SearchHit): number {
  return b.score - a.score || (a.entry.displayed < b.entry.displayed ? -1 : 1);
}

function wholeOf(units: readonly QueryUnit[]): number {
  return units.reduce((sum, unit) => sum + unit.weight, 0);
}

function lookUp(index: Built["index"], units: readonly QueryUnit[]): SearchResult[] {
  const quality = new Map<string, number>();
  const prefixes = new Set<string>();
  for (const unit of units) {
    if (unit.prefix !== null) prefixes.add(unit.prefix);
    for (const [form, value] of unit.forms) quality.set(form, Math.max(quality.get(form) ?? 0, (value * unit.weight) / unit.needed));
  }
  return index.search([...new Set([...quality.keys(), ...prefixes])].join(" "), {
    boost: BOOST,
    combineWith: "OR",
    prefix: (term) => prefixes.has(term),
    boostTerm: (term) => quality.get(term) ?? 1,
  });
}

/** What a term of the index says of the query: how well it stands for which of its words. */
interface Met {
  readonly unit: number;
  readonly quality: number;
}

function covered(result: SearchResult, units: readonly QueryUnit[], meaning: Map<string, readonly Met[]>): number {
  const met = units.map((): number => 0);
  for (const [term, fields] of Object.entries(result.match)) {
    const certainty = Math.max(...fields.map((field) => CERTAINTY[field as SearchField]));
    const known = meaning.get(term) ?? meansWhat(term, units);
    meaning.set(term, known);
    for (const { unit, quality } of known) {
      const isWord = (units[unit]?.needed ?? 1) === 1;
      met[unit] = isWord ? Math.max(met[unit] ?? 0, quality * certainty) : (met[unit] ?? 0) + quality * certainty;
    }
  }
  return units.reduce((sum, unit, index) => sum + unit.weight * Math.min(1, (met[index] ?? 0) / unit.needed), 0);
}

function meansWhat(term: string, units: readonly QueryUnit[]): Met[] {
  return units.flatMap((unit, index): Met[] => {
    const form = unit.forms.get(term) ?? 0;
    const begun = unit.prefix !== null && term.startsWith(unit.prefix) ? prefixQuality(unit.prefix, term) : 0;
    const quality = Math.max(form, begun);
    return quality > 0 ? [{ unit: index, quality }] : [];
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
function nameFactor(name: readonly string[] | undefined, { exact, stems }: AskedWords): number {
  if (name === undefined || name.length === 0) return 1;
  const met = name.map((word) => (exact.has(word) ? 1 : stems.has(stem(word)) ? 0.9 : 0));
  return 1 + met.reduce((sum: number, value) => sum + value, 0) / name.length;
}
