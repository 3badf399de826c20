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
import { boundedSchema, STEP_KEYWORD } from "./bounded-schema.ts";

/** Problems of a value, each in a few words; empty: none. */
export type SchemaCheck = (value: unknown) => readonly string[];

/** Followed references per check. Honest schemas need as many as the value has parts; a doubling chain of them would never end. */
const MAX_STEPS = 100_000;
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
    const problems = run(first(), value);
    if (problems.length === 0 || tooLargeToList(value)) return problems;
    const listed = run(all(), value);
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

let stepsLeft = 0;

class TooManySteps extends Error {
  override readonly name = "TooManySteps";
}

function run(validate: ValidateFunction | undefined, value: unknown): readonly string[] {
  if (validate === undefined) return [];
  stepsLeft = MAX_STEPS;
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

function compile(dialect: "draft-07" | "2020-12", schema: object, allErrors: boolean): ValidateFunction | undefined {
  const ajv = validator(dialect, allErrors);
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
    // Nothing a schema names itself may stand in for another one, a meta-schema least of all.
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign(linearRegExp, { code: "linearRegExp" }) },
  });
  formats.default(ajv, { mode: "fast" });
  ajv.addKeyword({
    keyword: STEP_KEYWORD,
    schemaType: "boolean",
    validate: () => {
      stepsLeft -= 1;
      if (stepsLeft < 0) throw new TooManySteps("the schema asks for too much");
      return true;
    },
  });
  return ajv;
}

/** Linear in the text. A pattern that such an engine cannot express matches everything: the upstream knows better. */
function linearRegExp(pattern: string): { test: (text: string) => boolean; toString: () => string } {
  // The library keeps patterns apart by their text.
  const toString = (): string => `/${pattern}/`;
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.matcher(text).find(), toString };
  } catch {
    return { test: () => true, toString };
  }
}

function tooLargeToList(value: unknown): boolean {
  try {
    return (JSON.stringify(value) ?? "").length > MAX_LISTED_CHARS;
  } catch {
    return true;
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
