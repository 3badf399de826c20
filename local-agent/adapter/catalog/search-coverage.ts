/** Which part of a query a tool answers, and whether that is an answer at all. */
import type { SearchField } from "./search-document.ts";
import { prefixQuality, type QueryUnit } from "./search-query.ts";

/** How certain it is that a tool is meant whose field has the word. */
const CERTAINTY: Readonly<Record<SearchField, number>> = { name: 1, title: 1, keywords: 1, server: 0.9, summary: 0.9, details: 0.6, parameters: 0.7 };
/** How well one word must be met to be counted. */
const MIN_MET = 0.5;

export interface Coverage {
  /** 0–1, weighed by how much each word of the query tells. */
  readonly share: number;
  /** False: what was met may well be chance. */
  readonly isAnswer: boolean;
}

/** @returns takes, of one tool, the terms that were met and the fields they were met in */
export function coverageOf(units: readonly QueryUnit[]): (match: Readonly<Record<string, readonly string[]>>) => Coverage {
  const whole = units.reduce((sum, unit) => sum + unit.weight, 0);
  const meaning = new Map<string, readonly Meaning[]>();
  const meaningOf = (term: string): readonly Meaning[] => {
    const known = meaning.get(term) ?? meansWhat(term, units);
    meaning.set(term, known);
    return known;
  };
  return (match) => {
    const met = units.map((): number => 0);
    for (const term of Object.keys(match)) {
      const certainty = Math.max(...(match[term] ?? []).map((field) => CERTAINTY[field as SearchField]));
      for (const { index, unit, quality } of meaningOf(term)) {
        const before = met[index] ?? 0;
        met[index] = unit.needed === 1 ? Math.max(before, quality * certainty) : Math.min(1, before + (quality * certainty) / unit.needed);
      }
    }
    const share = units.reduce((sum, unit, index) => sum + unit.weight * (met[index] ?? 0), 0) / whole;
    return { share, isAnswer: share >= leastShare(units.length, met.filter((one) => one >= MIN_MET).length) };
  };
}

/** One word of many is met by chance; the more of them are, the less probable that is. */
function leastShare(asked: number, met: number): number {
  if (met <= 1) return asked === 1 ? 0.3 : 0.33;
  if (met === 2) return asked <= 3 ? 0.4 : 0.16;
  return 0.1;
}

/** What a term of the index says of the query: which of its words it stands for, and how well. */
interface Meaning {
  readonly index: number;
  readonly unit: QueryUnit;
  readonly quality: number;
}

function meansWhat(term: string, units: readonly QueryUnit[]): Meaning[] {
  return units.flatMap((unit, index): Meaning[] => {
    const begun = unit.prefix !== null && term.startsWith(unit.prefix) ? prefixQuality(unit.prefix, term) : 0;
    const quality = Math.max(unit.forms.get(term) ?? 0, begun);
    return quality > 0 ? [{ index, unit, quality }] : [];
  });
}
