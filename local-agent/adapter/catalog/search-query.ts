/** A query as what its words may stand for in an index. */
import { isJoined, pairs, segments, stem, words } from "./search-terms.ts";
import { ACTION_STEMS, SILENT_WORDS, SYNONYMS } from "./search-words.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Words beyond are not looked at: a query is a question, not a document. */
const MAX_UNITS = 24;
/** How much a term counts that is not the word itself. */
const FORM = { same: 1, prefix: 0.8, split: 0.9, guess: 0.8, synonym: 0.8 } as const;
const MIN_PREFIX_LENGTH = 3;
const ACTION_WEIGHT = 0.6;
/** What no tool has a word for, hardly any tool is for. */
const UNKNOWN_WEIGHT = 1.5;
/** What is asked with in scripts without spaces: how, which, please, I want. */
const JOINED_SILENT =
  /怎么样?|什么|如何|哪[里些个]|请|帮我?|我[想要]?|你|的|了|吗|呢|吧|把|一[下个]|可以|能[不否]能?|需要|想要?|方法|어떻게|찾[기아는]|해\s?줘|하는|싶어요?|방법|주세요|알려/gu;

/** One word of a query. */
export interface QueryUnit {
  /** Its share in what the query asks for; the rarer the larger. */
  readonly weight: number;
  /** Terms that stand for it, and how well (0–1). */
  readonly forms: ReadonlyMap<string, number>;
  /** Terms that begin with this do as well. */
  readonly prefix: string | null;
  /** So many of the forms must be met for the whole; 1 but for a word of a script without spaces. */
  readonly needed: number;
}

export function readQuery(text: string, vocabulary: Vocabulary): QueryUnit[] {
  const all = words(text.replaceAll(JOINED_SILENT, " ")).flatMap((word) => (isJoined(word) ? segments(word) : [word]));
  const telling = all.filter((word) => !SILENT_WORDS.has(word) && (!/^\d+$/.test(word) || vocabulary.has(word)));
  const kept = [...new Set(withoutParticles(telling.length > 0 ? telling : all))].slice(0, MAX_UNITS);
  return kept.map((word, index) => (isJoined(word) ? joinedUnit(word, vocabulary) : wordUnit(word, withNeighbours(kept, index), vocabulary)));
}

function withNeighbours(all: readonly string[], index: number): string[] {
  const [before, word, after] = [all[index - 1], all[index], all[index + 1]];
  return [before === undefined ? [] : [`${before}${word}`], after === undefined ? [] : [`${word}${after}`]].flat();
}

/** Hiragana between other characters is grammar. */
function withoutParticles(all: readonly string[]): readonly string[] {
  const others = all.filter((word) => !/^\p{Script=Hiragana}+$/u.test(word));
  return others.length > 0 ? others : all;
}

/** Korean particles that are hardly ever a noun's own last syllable. */
const PARTICLE = /(?<=\p{Script=Hangul}{2})(?:에서|으로|[을를은는에의와과도])$/u;

function joinedUnit(word: string, vocabulary: Vocabulary): QueryUnit {
  const both = pairs(word.replace(PARTICLE, ""));
  const rarities = both.map((pair) => vocabulary.rarity(pair));
  return {
    weight: weigh(rarities.reduce((sum, rarity) => sum + rarity, 0) / rarities.length),
    forms: new Map(both.map((pair) => [pair, FORM.same])),
    prefix: both[0] === word && Array.from(word).length === 1 ? word : null,
    needed: Math.max(1, Math.ceil(both.length * 0.6)),
  };
}

/** @param joined it written as one with its neighbours: `screen shot` may stand for `screenshot` */
function wordUnit(word: string, joined: readonly string[], vocabulary: Vocabulary): QueryUnit {
  const term = stem(word);
  const prefix = term.length >= MIN_PREFIX_LENGTH && vocabulary.hasPrefix(term) ? term : null;
  const isUnknown = prefix === null && !vocabulary.has(term);
  const parts = isUnknown ? vocabulary.split(word) : null;
  if (parts !== null) return unit(new Map(parts.map((part) => [part, FORM.split])), { prefix: null, needed: new Set(parts).size }, vocabulary);
  const others: readonly (readonly [string, number])[] = [
    ...(SYNONYMS.get(term) ?? []).map((synonym) => [synonym, FORM.synonym] as const),
    ...joined.map((both) => [stem(both), FORM.split] as const),
    ...(isUnknown ? vocabulary.near(term) : []).map((guess) => [guess, FORM.guess] as const),
  ];
  const forms = new Map([...others.filter(([form]) => vocabulary.has(form)), [term, FORM.same] as const]);
  return unit(forms, { prefix, needed: 1 }, vocabulary);
}

/** Its weight is that of the word itself; of an unknown one that of what it may stand for. */
function unit(forms: ReadonlyMap<string, number>, rest: Pick<QueryUnit, "prefix" | "needed">, vocabulary: Vocabulary): QueryUnit {
  const known = [...forms.keys()].filter((form) => vocabulary.has(form));
  const [itself] = [...forms].flatMap(([form, quality]) => (quality === FORM.same ? [form] : []));
  const telling = itself !== undefined && (vocabulary.has(itself) || known.length === 0) ? [itself] : known;
  const weight = known.length === 0 && rest.prefix === null ? UNKNOWN_WEIGHT : weigh(Math.max(...telling.map((form) => vocabulary.rarity(form))));
  return { weight: itself !== undefined && ACTION_STEMS.has(itself) && known.length > 0 ? weight * ACTION_WEIGHT : weight, forms, ...rest };
}

/** Also a word that nearly every tool has is a part of the question. */
function weigh(rarity: number): number {
  return 0.4 + 0.6 * rarity;
}

/** How well a term that begins with the word stands for it. */
export function prefixQuality(prefix: string, term: string): number {
  return FORM.prefix * (0.5 + 0.5 * (prefix.length / term.length));
}
