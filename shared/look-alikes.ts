/**
 * Letters that look like others. A command whose `с` is Cyrillic runs another program than the one a person reads. The
 * pairs are a selection of what Unicode's confusables data (UTS #39) calls confusable with ASCII in common fonts.
 */

const LISU = Array.from(
  "\ua4d0\ua4d1\ua4d3\ua4d4\ua4d6\ua4d7\ua4d9\ua4da\ua4dc\ua4dd\ua4df\ua4e0\ua4e1\ua4e2\ua4e3\ua4e6\ua4e7\ua4ea\ua4eb\ua4ec\ua4ee\ua4f0\ua4f2\ua4f3\ua4f4",
);

/** What is taken for the first character. By number, because here too they would look like something else. */
const LOOKING_LIKE: readonly (readonly [string, string])[] = [
  // Cyrillic.
  ["a", "\u0430"],
  ["A", "\u0410"],
  ["c", "\u0441"],
  ["C", "\u0421"],
  ["e", "\u0435"],
  ["E", "\u0415\u0415"],
  ["o", "\u043e"],
  ["O", "\u041e"],
  ["p", "\u0440"],
  ["P", "\u0420"],
  ["x", "\u0445"],
  ["X", "\u0425"],
  ["y", "\u0443"],
  ["Y", "\u0423"],
  ["i", "\u0456"],
  ["I", "\u0406\u04c0"],
  ["j", "\u0458"],
  ["J", "\u0408"],
  ["s", "\u0455"],
  ["S", "\u0405"],
  ["d", "\u0501"],
  ["q", "\u051b"],
  ["W", "\u051c"],
  ["w", "\u051d"],
  ["h", "\u04bb"],
  ["H", "\u04ba\u041d"],
  ["l", "\u04cf"],
  ["B", "\u0412"],
  ["K", "\u041a"],
  ["M", "\u041c"],
  ["T", "\u0422"],
  ["k", "\u043a"],
  ["G", "\u050c"],
  ["g", "\u050d"],
  ["v", "\u0475"],
  ["V", "\u0474"],
  ["Q", "\u051a"],
  ["b", "\u042c"],
  ["3", "\u0437\u0417"],
  // Greek.
  ["a", "\u03b1"],
  ["o", "\u03bf"],
  ["O", "\u039f"],
  ["v", "\u03bd"],
  ["u", "\u03c5"],
  ["i", "\u03b9"],
  ["p", "\u03c1"],
  ["k", "\u03ba"],
  ["t", "\u03c4"],
  ["x", "\u03c7"],
  ["y", "\u03b3"],
  ["A", "\u0391"],
  ["B", "\u0392"],
  ["E", "\u0395"],
  ["Z", "\u0396"],
  ["H", "\u0397"],
  ["I", "\u0399"],
  ["K", "\u039a"],
  ["M", "\u039c"],
  ["N", "\u039d"],
  ["P", "\u03a1"],
  ["T", "\u03a4"],
  ["Y", "\u03a5"],
  ["X", "\u03a7"],
  ["c", "\u03f2"],
  ["C", "\u03f9"],
  ["j", "\u03f3"],
  ["J", "\u037f"],
  // Armenian and Cherokee.
  ["o", "\u0585"],
  ["n", "\u0578"],
  ["u", "\u057d"],
  ["g", "\u0581"],
  ["h", "\u0570"],
  ["S", "\u054f\u13da"],
  ["O", "\u0555"],
  ["L", "\u053c\u13de"],
  ["j", "\u0575"],
  ["p", "\u0584"],
  ["U", "\u0531"],
  ["A", "\u13aa"],
  ["B", "\u13f4"],
  ["C", "\u13df"],
  ["D", "\u13a0"],
  ["E", "\u13ac"],
  ["H", "\u13bb"],
  ["J", "\u13ab"],
  ["K", "\u13e6"],
  ["M", "\u13b7"],
  ["P", "\u13e2"],
  ["R", "\u13d2"],
  ["T", "\u13a2"],
  ["V", "\u13d9"],
  ["W", "\u13b3"],
  ["Z", "\u13c3"],
  // Lisu, whose letters are Latin capitals.
  ...Array.from("BPDTGKJCZFMNLSRVHWXYAEIOU", (letter, place): readonly [string, string] => [letter, LISU[place] ?? ""]),
  // Latin that is not what it looks like.
  ["i", "\u0131\u0269\u2170"],
  ["j", "\u0237"],
  ["a", "\u0251"],
  ["g", "\u0261"],
  ["L", "\u029f\u216c"],
  ["o", "\u1d0f"],
  ["c", "\u1d04\u217d"],
  ["v", "\u1d20\u2174"],
  ["w", "\u1d21"],
  ["z", "\u1d22"],
  ["s", "\ua731"],
  ["f", "\u017f"],
  ["R", "\u0280"],
  ["N", "\u0274"],
  ["H", "\u029c"],
  ["I", "\u2160"],
  ["V", "\u2164"],
  ["X", "\u2169"],
  ["C", "\u216d"],
  ["D", "\u216e"],
  ["M", "\u216f"],
  ["x", "\u2179"],
  ["l", "\u217c"],
  ["d", "\u217e"],
  ["m", "\u217f"],
  // Signs that a shell would read as such, were they the real ones.
  ["/", "\u2044\u2215\u29f8\u2571\u2afd\u1735"],
  ["\\", "\u2216\u29f5\u29f9\u2572"],
  ["-", "\u2010\u2011\u2043\u2212"],
  ["|", "\u2223\u01c0\u2502\u2503\u2758\u00a6"],
  ["<", "\u02c2\u2039\u276e\u1438"],
  [">", "\u02c3\u203a\u276f\u1433"],
  ["$", "\u{1f4b2}"],
  ["!", "\u01c3"],
  [";", "\u037e"],
  [".", "\u2024"],
  [":", "\ua789\u02d0\u2236"],
  [",", "\u201a"],
  ["'", "\u02b9\u02bb\u02bc\u2032"],
  ['"', "\u2033"],
  ["`", "\u02cb"],
  ["*", "\u2217\u204e\u066d"],
  ["~", "\u02dc\u223c"],
];

const TAKEN_FOR: ReadonlyMap<string, string> = new Map(
  LOOKING_LIKE.flatMap(([ascii, alike]) => Array.from(alike, (letter): [string, string] => [letter, ascii])),
);

/** Letters of an alphabet of their own are only suspicious where they stand for Latin ones; these always are. */
const ALWAYS = /[\u0131-\u024f\u0250-\u02af\u1d00-\u1dbf\ua731\u2160-\u217f\uff01-\uff5e\u{1d400}-\u{1d7ff}]|[^\p{L}\p{M}\p{N}]/u;
/** Full-width forms lie at one distance from ASCII. */
const FULL_WIDTH = /[\uff01-\uff5e]/;
const SIGN = /^[!-/:-@[-`{-~]$/;
const MATHEMATICAL = /[\u{1d400}-\u{1d7ff}]/u;

/** The ASCII character that `character` is taken for; undefined when it looks like none. */
export function takenFor(character: string): string | undefined {
  if (FULL_WIDTH.test(character)) return String.fromCodePoint((character.codePointAt(0) ?? 0) - 0xfee0);
  const usual = character.normalize("NFKC");
  // Also small forms and the like, which Unicode itself calls another shape of the sign.
  if (MATHEMATICAL.test(character) || (usual !== character && SIGN.test(usual))) return usual;
  return TAKEN_FOR.get(character);
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const NOT_ASCII = /[^\u0000-\u007f]/u; // oxlint-disable-line no-control-regex -- the other half is what is looked for

/**
 * Where in `text` the look-alikes stand, as UTF-16 offsets in order. A letter counts in a word that has Latin letters or
 * digits beside it, and in one that looks Latin from end to end; a word that is plainly of another script is left alone.
 */
export function lookAlikesIn(text: string): number[] {
  if (!NOT_ASCII.test(text)) return [];
  const found = new Set<number>();
  for (const { index, 0: character } of text.matchAll(/[^\u0000-\u007f]/gu)) /* oxlint-disable-line no-control-regex -- as above */ {
    if (ALWAYS.test(character) && takenFor(character) !== undefined) found.add(index);
  }
  for (const { index: start, 0: word } of text.matchAll(WORD)) {
    if (!NOT_ASCII.test(word) || !passesForLatin(word)) continue;
    for (const { index, 0: character } of word.matchAll(/./gsu)) if (takenFor(character) !== undefined) found.add(start + index);
  }
  return [...found].toSorted((a, b) => a - b);
}

function passesForLatin(word: string): boolean {
  return /[A-Za-z]/.test(word) || Array.from(word).every((character) => takenFor(character) !== undefined || /[0-9\p{M}]/u.test(character));
}
