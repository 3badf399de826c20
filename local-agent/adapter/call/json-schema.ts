/**
 * Checks values against the JSON Schemas that upstreams write. Those are strangers' programs of a kind: they are bounded before they are
 * compiled, their patterns run in linear time, and what they may ask of one check is counted. A schema that cannot be used checks nothing;
 * the upstream checks its own arguments in any case.
 */
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { RE2JS } from "re2js";
import { canonicalJson, type JsonValue } from "../../../shared/json.ts";
import { type BoundedSchema, boundedSchema, STEP_KEYWORD } from "./bounded-schema.ts";

/** Problems of a value, each in a few words; empty: none. */
export type SchemaCheck = (value: unknown) => readonly string[];

/** Characters of a value times parts of its schema: each may be compared with each. */
const MAX_PRODUCT = 200_000_000;
/**
 * What else one check may take: parts of the schema behind each reference that is followed (a doubling chain of them would never end),
 * for each pattern its size times the text's, and the items that are compared. About a second at worst.
 */
const MAX_WORK = 20_000_000;
/** Of one pattern, and of all of a schema: what they may be unrolled to. */
const MAX_PATTERN = 20_000;
const MAX_PATTERNS = 50_000;
/** More would not help a model. */
const MAX_PROBLEMS = 8;
/** Above, only the first problem is looked for: every part of a large value may be one. */
const MAX_LISTED_CHARS = 65_536;

const known = new WeakMap<object, SchemaCheck>();

/** [CL5] Compiled once per schema object. Draft 7 where a schema says so, 2020-12 where it says that or nothing; no other. */
export function schemaCheck(schema: object): SchemaCheck {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const made = makeCheck(schema);
  known.set(schema, made);
  return made;
}

function makeCheck(schema: object): SchemaCheck {
  const dialect = dialectOf(schema);
  const bounded = dialect === undefined ? undefined : boundedSchema(schema);
  if (dialect === undefined || bounded === undefined) return NO_CHECK;
  const first = lazily(() => compile(dialect, bounded, false));
  const all = lazily(() => compile(dialect, bounded, true));
  return (value) => {
    const chars = lengthOf(value);
    if (chars * bounded.nodes > MAX_PRODUCT) return [];
    const problems = run(first(), value, bounded);
    if (problems.length === 0 || chars > MAX_LISTED_CHARS) return problems;
    const listed = run(all(), value, bounded);
    return listed.length === 0 ? problems : listed;
  };
}

const NO_CHECK: SchemaCheck = () => [];

function dialectOf(schema: object): "draft-07" | "2020-12" | undefined {
  const named: unknown = Reflect.get(schema, "$schema");
  if (named === undefined) return "2020-12";
  if (typeof named !== "string") return undefined;
  if (named.includes("draft-07")) return "draft-07";
  return named.includes("2020-12") ? "2020-12" : undefined;
}

/** Of the check that runs: nothing is awaited in it. */
let workLeft = 0;
let workPerStep = 1;

function spend(work: number): void {
  workLeft -= work;
  if (workLeft < 0) throw new TooMuchWork("the schema asks for too much");
}

class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}

function run(validate: ValidateFunction | undefined, value: unknown, { nodes }: BoundedSchema): readonly string[] {
  if (validate === undefined) return [];
  workLeft = MAX_WORK;
  workPerStep = nodes;
  try {
    if (validate(value)) return [];
    return inWords(validate.errors ?? []);
  } catch {
    // References that lead nowhere (or everywhere) say nothing about the value.
    return [];
  } finally {
    validate.errors = null;
  }
}

/** Of the schema that is being compiled. */
let patternsLeft = 0;

function compile(dialect: "draft-07" | "2020-12", { schema }: BoundedSchema, allErrors: boolean): ValidateFunction | undefined {
  const ajv = validator(dialect, allErrors);
  patternsLeft = MAX_PATTERNS;
  try {
    return ajv.compile(schema);
  } catch {
    return undefined; // Not a schema, or of a kind the library does not know.
  } finally {
    ajv.removeSchema(schema); // The library would hold it for ever; `known` holds it as long as its owner does.
  }
}

const makers = {
  "draft-07": { one: lazily(() => prepared(Ajv, false)), all: lazily(() => prepared(Ajv, true)) },
  "2020-12": { one: lazily(() => prepared(Ajv2020, false)), all: lazily(() => prepared(Ajv2020, true)) },
};

function validator(dialect: "draft-07" | "2020-12", allErrors: boolean): Ajv {
  return allErrors ? makers[dialect].all() : makers[dialect].one();
}

function prepared(Validator: new (options: Options) => Ajv, allErrors: boolean): Ajv {
  const ajv = new Validator({
    allErrors,
    strict: false,
    // A definition would be copied to every place that means it.
    inlineRefs: false,
    // Nothing a schema names itself may stand in for another one, a meta-schema least of all.
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    // Optimizing what is generated takes the square of a schema's parts.
    code: { optimize: false, regExp: Object.assign(linearRegExp, { code: "linearRegExp" }) },
  });
  formats.default(ajv, { mode: "fast" });
  ajv.addKeyword({
    keyword: STEP_KEYWORD,
    schemaType: "boolean",
    validate: () => {
      spend(workPerStep);
      return true;
    },
  });
  // The library's own compares every item with every other.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must NOT have duplicate items" },
    validate: (isAsked: boolean, items: readonly JsonValue[]) => !isAsked || new Set(items.map(compared)).size === items.length,
  });
  return ajv;
}

/** Equal for equal items; a schema may want it of the same item as often as it has parts. */
function compared(item: JsonValue): string {
  const text = canonicalJson(item);
  spend(text.length + PER_ITEM);
  return text;
}

/** The shortest takes as long as so many characters. */
const PER_ITEM = 30;

/** Linear in the text. A pattern that such an engine cannot express, or only at length, matches everything: the upstream knows better. */
function linearRegExp(pattern: string): { test: (text: string) => boolean; toString: () => string } {
  // The library keeps patterns apart by their text.
  const toString = (): string => `/${pattern}/`;
  const anything = { test: () => true, toString };
  const size = unrolledLength(pattern);
  if (size > MAX_PATTERN || size > patternsLeft) return anything;
  patternsLeft -= size;
  try {
    const compiled = RE2JS.compile(pattern);
    const perChar = compiled.programSize();
    return {
      test(text) {
        spend(perChar * (text.length + 1));
        return compiled.matcher(text).find();
      },
      toString,
    };
  } catch {
    return anything;
  }
}

/** At most: what is repeated so many times is written out as often. */
function unrolledLength(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most = ""]) => Math.max(Number(least), Number(most)));
  return pattern.length * counts.reduce((sum, count) => sum + count, 1);
}

function lengthOf(value: unknown): number {
  try {
    return (JSON.stringify(value) ?? "").length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function inWords(errors: readonly ErrorObject[]): readonly string[] {
  const words = errors.map((error) => `${placeOf(error)}${error.message ?? "is not as expected"}${detailOf(error)}`);
  return [...new Set(words)].slice(0, MAX_PROBLEMS);
}

function placeOf(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll("/", ".");
  return path === "" ? "" : `"${path.slice(0, 200)}" `;
}

function detailOf(error: ErrorObject): string {
  const { additionalProperty, allowedValues } = error.params;
  if (typeof additionalProperty === "string") return ` ("${additionalProperty.slice(0, 100)}")`;
  return Array.isArray(allowedValues) ? `: ${JSON.stringify(allowedValues).slice(0, 300)}` : "";
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
