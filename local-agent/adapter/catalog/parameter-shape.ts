/**
 * A tool's parameters as a TypeScript type: models read that best, and it costs the least (docs/spec/upstream-catalog.md). Schemas come from
 * strangers, so what is written is bounded, and what a type cannot say exactly is left to the plainer form (parameter-lines.ts). Pure.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { constraintsOf, keyword, listKeyword, literal, noteOf, objectKeyword, referenced, requiredOf, typesOf } from "./schema-reading.ts";

/** A type that says less than these would be wrong. */
const UNSAID = ["if", "then", "else", "allOf", "not", "patternProperties", "dependentSchemas", "dependentRequired", "$dynamicRef"];
const MAX_NODES = 500;
const MAX_DEPTH = 16;
const MAX_CHARS = 12_000;
const MAX_LITERALS = 40;

/**
 * `{ query: string; limit?: number; }`, in one line or, with comments, in several. Null: the schema says what a type cannot, or is too large.
 */
export function parameterShape(schema: unknown): string | null {
  if (!isJsonObject(schema)) return null;
  try {
    const writer = new ShapeWriter(schema);
    const shape = writer.type(schema, 0);
    const text = [...writer.definitions(), shape].join("\n\n");
    return text.length <= MAX_CHARS ? text : null;
  } catch (error) {
    if (error instanceof NoShape) return null;
    throw error;
  }
}

class NoShape extends Error {
  override readonly name = "NoShape";
}

class ShapeWriter {
  readonly #root: JsonObject;
  /** By reference. A name is given before its text is written, so that a type may speak of itself. */
  readonly #named = new Map<string, { readonly name: string; text: string }>();
  /** Texts that need parentheses before `[]`. */
  readonly #unions = new Set<string>();
  #nodes = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** All of them in one block. */
  definitions(): string[] {
    const lines = [...this.#named.values()].map(({ name, text }) => `type ${name} = ${text};`);
    return lines.length === 0 ? [] : [lines.join("\n")];
  }

  type(schema: JsonValue | undefined, depth: number): string {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || depth > MAX_DEPTH) throw new NoShape();
    if (schema === true) return "unknown";
    if (!isJsonObject(schema) || UNSAID.some((name) => Object.hasOwn(schema, name))) throw new NoShape();
    const reference = keyword(schema, "$ref");
    if (reference !== undefined) return this.#reference(reference, depth);
    if (Object.hasOwn(schema, "const")) return atom(keyword(schema, "const"));
    const values = listKeyword(schema, "enum");
    if (values !== null) return this.#union(literals(values));
    const choices = listKeyword(schema, "anyOf") ?? listKeyword(schema, "oneOf");
    if (choices !== null) return this.#choice(schema, choices, depth);
    return this.#plain(schema, depth);
  }

  #reference(reference: JsonValue, depth: number): string {
    const target = typeof reference === "string" ? referenced(this.#root, reference) : undefined;
    if (typeof reference !== "string" || target === undefined) throw new NoShape();
    const known = this.#named.get(reference);
    if (known !== undefined) return known.name;
    const named = { name: this.#freeName(reference), text: "" };
    this.#named.set(reference, named);
    named.text = this.type(target, depth + 1);
    return named.name;
  }

  #freeName(reference: string): string {
    const wanted = reference.split("/").at(-1) ?? "";
    const taken = new Set([...this.#named.values()].map(({ name }) => name));
    if (/^[A-Za-z_]\w{0,63}$/.test(wanted) && !BUILT_IN.has(wanted) && !taken.has(wanted)) return wanted;
    let number = taken.size;
    while (taken.has(`Definition${number}`)) number += 1;
    return `Definition${number}`;
  }

  #choice(schema: JsonObject, choices: readonly JsonValue[], depth: number): string {
    // Beside the choices there may be members that hold for each of them; a union could not say so.
    if (choices.length === 0 || objectKeyword(schema, "properties") !== null || Object.hasOwn(schema, "items")) throw new NoShape();
    return this.#union(choices.map((choice) => this.type(choice, depth + 1)));
  }

  #plain(schema: JsonObject, depth: number): string {
    const types = typesOf(schema);
    if (types.length > 0) return this.#union(types.map((type) => this.#ofType(type, schema, depth)));
    if (Object.hasOwn(schema, "properties")) return this.#object(schema, depth);
    if (Object.hasOwn(schema, "items")) return this.#array(schema, depth);
    if (Object.hasOwn(schema, "additionalProperties")) throw new NoShape();
    return "unknown";
  }

  #union(types: readonly string[]): string {
    const distinct = [...new Set(types)];
    const text = distinct.join(" | ");
    if (distinct.length > 1) this.#unions.add(text);
    return text;
  }

  #ofType(type: JsonValue, schema: JsonObject, depth: number): string {
    if (typeof type !== "string") throw new NoShape();
    switch (type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return type;
      case "integer":
        return "number";
      case "array":
        return this.#array(schema, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        throw new NoShape();
    }
  }

  #array(schema: JsonObject, depth: number): string {
    const items = keyword(schema, "items");
    if (items === undefined || Array.isArray(items)) return "unknown[]";
    const item = this.type(items, depth + 1);
    return this.#unions.has(item) ? `(${item})[]` : `${item}[]`;
  }

  #object(schema: JsonObject, depth: number): string {
    const open = keyword(schema, "additionalProperties");
    if (open !== undefined && open !== false) throw new NoShape();
    const required = requiredOf(schema);
    const properties = Object.entries(objectKeyword(schema, "properties") ?? {});
    if (properties.length === 0) return "{}";
    const members = properties.map(([name, property]) => ({
      text: `${memberName(name)}${required.has(name) ? "" : "?"}: ${this.type(property, depth + 1)};`,
      comment: isJsonObject(property) ? commentOf(property) : "",
    }));
    const isFlat = members.every(({ text, comment }) => comment === "" && !text.includes("\n"));
    if (isFlat) return `{ ${members.map(({ text }) => text).join(" ")} }`;
    const lines = members.map(({ text, comment }) => `${text}${comment === "" ? "" : ` // ${comment}`}`);
    return `{\n${indented(lines.join("\n"))}\n}`;
  }
}

const BUILT_IN = new Set(["string", "number", "boolean", "null", "unknown", "object", "undefined", "any", "never", "symbol", "bigint", "void"]);

/** `default 10, minimum 1` after the description. */
function commentOf(schema: JsonObject): string {
  const asked = constraintsOf(schema).map(([name, value]) => `${name} ${value}`);
  return [noteOf(schema), asked.join(", ")].filter((part) => part !== "").join(" — ");
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

function literals(values: readonly JsonValue[]): string[] {
  if (values.length === 0 || values.length > MAX_LITERALS) throw new NoShape();
  return values.map(atom);
}

function atom(value: JsonValue | undefined): string {
  if (value === undefined || (typeof value === "object" && value !== null)) throw new NoShape();
  return literal(value);
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
