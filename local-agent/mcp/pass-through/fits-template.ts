/**
 * Whether an address fits a URI template (RFC 6570) that an upstream lists. Pure. Not by the SDK's `UriTemplate`, which makes a regular
 * expression of the template: over one such as `{+a}{+b}{+c}{+d}` a short address already takes hours. Here the time is at most the
 * address's length times the template's variables.
 */

/** A template or an address that is longer than anybody writes fits nothing, and so does a template of more variables. */
const MAX_CHARS = 2000;
const MAX_VARIABLES = 16;

/** One character or more, none of them in `without`. */
interface Variable {
  readonly without: string;
}

type Piece = string | Variable;

/** A template that makes no sense fits nothing. */
export function fitsTemplate(template: string, uri: string): boolean {
  if (template.length > MAX_CHARS || uri.length > MAX_CHARS) return false;
  const pieces = piecesOf(template);
  if (pieces === null || pieces.filter((piece) => typeof piece !== "string").length > MAX_VARIABLES) return false;
  let places: ReadonlySet<number> = new Set([0]);
  for (const piece of pieces) places = typeof piece === "string" ? afterText(uri, piece, places) : afterVariable(uri, piece, places);
  return places.has(uri.length);
}

/** Where the address can go on, from each of the places it had come to. */
function afterText(uri: string, text: string, places: ReadonlySet<number>): ReadonlySet<number> {
  return new Set([...places].filter((place) => uri.startsWith(text, place)).map((place) => place + text.length));
}

function afterVariable(uri: string, { without }: Variable, places: ReadonlySet<number>): ReadonlySet<number> {
  const ends = new Set<number>();
  let isInside = false;
  for (let place = 0; place < uri.length; place++) {
    isInside = (isInside || places.has(place)) && !without.includes(uri.charAt(place));
    if (isInside) ends.add(place + 1);
  }
  return ends;
}

/** Null: a brace that nothing closes, or an expression without a name. */
function piecesOf(template: string): readonly Piece[] | null {
  if (template.lastIndexOf("{") > template.lastIndexOf("}")) return null;
  const pieces: Piece[] = [];
  for (const [text, expression] of template.matchAll(/\{([^}]*)\}|[^{]+/g)) {
    const found = expression === undefined ? [text] : expressionPieces(expression);
    if (found.length === 0) return null;
    pieces.push(...found);
  }
  return pieces;
}

function expressionPieces(expression: string): readonly Piece[] {
  const operator = /^[+#./?&]?/.exec(expression)?.[0] ?? "";
  const names = expression
    .slice(operator.length)
    .split(",")
    .map((name) => name.replace("*", "").trim())
    .filter((name) => name !== "");
  if (names.length === 0) return [];
  if (operator === "?" || operator === "&") return names.flatMap((name, index) => [`${index === 0 ? operator : "&"}${name}=`, { without: "&" }]);
  if (operator === "+" || operator === "#") return [{ without: "" }];
  const isList = names.length > 1 || expression.includes("*");
  const variable = { without: isList ? "/" : "/," };
  return operator === "" ? [variable] : [operator, variable];
}
