/**
 * Text as the search index sees it: words in lower case without accents, reduced to their stems, and pairs of neighbouring characters
 * where a script has no spaces. Query and index go through the same functions, so equal words always meet.
 */

/** What is looked at of one text. A description may be a whole manual; its head says what the tool is for. */
const MAX_TEXT_LENGTH = 4_000;
/** Scripts written without spaces between words, and Hangul, whose particles hang on the word. */
const JOINED_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]/u;
const RUN =
  /\p{Script=Hiragana}+|[\p{Script=Katakana}ー]+|\p{Script=Han}+|\p{Script=Hangul}+|\p{Script=Thai}+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])[\p{L}\p{N}\p{M}])+/gu;

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** The words of a text: `takeScreenshot`, `take_screenshot` and `Take screenshot` are the same two. Not reduced to stems. */
export function words(text: string): string[] {
  const head = text.slice(0, MAX_TEXT_LENGTH);
  // Most texts are ASCII, and an index is built of thousands of them.
  if (!BEYOND_ASCII.test(head))
    return (
      withoutContractions(apart(head))
        .toLowerCase()
        .match(/[a-z0-9]+/g) ?? []
    );
  const plain = head
    .normalize("NFKD")
    .replaceAll(/(?<=[A-Za-z])[\u0300-\u036f]+/g, "")
    .normalize("NFC")
    .replaceAll("’", "'");
  return withoutContractions(apart(plain)).toLowerCase().match(RUN) ?? [];
}

/** `takeScreenshot` and `HTMLPage` in their words. */
function apart(text: string): string {
  return text.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ");
}

function withoutContractions(text: string): string {
  return text.includes("'") ? text.replaceAll(/(?<=\p{L})'(?:s|t|re|ve|ll|d|m)\b/giu, "") : text;
}

/** The terms under which a text is found. A word of a script without spaces gives each pair of neighbours, and its last character. */
export function terms(text: string): string[] {
  return words(text).flatMap((word) => (isJoined(word) ? [...pairs(word), word.at(-1) ?? ""] : [stem(word)]));
}

export function isJoined(word: string): boolean {
  return JOINED_SCRIPT.test(word);
}

const SEGMENTER = new Intl.Segmenter("zh", { granularity: "word" });

/** The words within a run of a script without spaces, as well as they can be told apart; what falls into single characters stays together. */
export function segments(run: string): string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const { segment } of SEGMENTER.segment(run)) {
    const isSingle = Array.from(segment).length === 1;
    if (isSingle && isOpen) found.push(`${found.pop() ?? ""}${segment}`);
    else found.push(segment);
    isOpen = isSingle;
  }
  return found;
}

/** Each two neighbouring characters; of a single character that one. */
export function pairs(word: string): string[] {
  const characters = Array.from(word);
  return characters.length < 2 ? characters : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** English endings that do not change what a tool is for; every suffix leaves enough of the word to be told from others. */
const ENDINGS: readonly { readonly pattern: RegExp; readonly minLength: number; readonly by: string }[] = [
  { pattern: /ies$/, minLength: 5, by: "y" },
  { pattern: /(?<=ss|x|ch|sh|zz)es$/, minLength: 5, by: "" },
  { pattern: /(?<![suia]|^new)s$/, minLength: 4, by: "" },
];
const VERB_ENDINGS: readonly { readonly pattern: RegExp; readonly minLength: number; readonly by: string }[] = [
  { pattern: /ment$/, minLength: 10, by: "" },
  { pattern: /(?<=[st])ion$/, minLength: 7, by: "" },
  { pattern: /ly$/, minLength: 7, by: "" },
  { pattern: /ied$/, minLength: 5, by: "y" },
  { pattern: /(?<=[aeiouy].*)ing$/, minLength: 6, by: "" },
  { pattern: /(?<=[aeiouy].*)ed$/, minLength: 5, by: "" },
];

/** A light stemmer: plurals, `-ing`, `-ed`, `-tion`, `-ly`, a final `e`. `creates`, `creating` and `creation` are one term. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const singular = without(ENDINGS, word);
  const base = without(VERB_ENDINGS, singular);
  const single = base !== singular && /([b-df-hj-km-np-rt-vx-z])\1$/.test(base) ? base.slice(0, -1) : base;
  return single.length > 4 && single.endsWith("e") ? single.slice(0, -1) : single;
}

function without(endings: typeof ENDINGS, word: string): string {
  const ending = endings.find(({ pattern, minLength }) => word.length >= minLength && pattern.test(word));
  return ending === undefined ? word : word.replace(ending.pattern, ending.by);
}
