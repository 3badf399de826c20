/** A tool's parameters, one on a line: `name (type) *required* - description [default: …]`. For every schema, however odd. Pure. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { visibleLine } from "../../../shared/visible-text.ts";
import { constraintsOf, keyword, listKeyword, literal, noteOf, objectKeyword, referenced, requiredOf, typesOf } from "./schema-reading.ts";

const MAX_LINES = 120;
/** Deeper members are the model's to find out by an error; more would be read by nobody. */
const MAX_DEPTH = 6;
const MAX_LITERALS = 20;
const MAX_REFERENCES = 8;
/** Looks at one schema. References make a few hundred of them a tree without end, of which each way could be gone. */
const MAX_STEPS = 1000;

/** Always some text, at most about 120 lines. */
export function parameterLines(schema: unknown): string {
  if (!isJsonObject(schema)) return "(any arguments)";
  const lines: string[] = [];
  const whole = resolved(schema, schema);
  const page: Page = { root: schema, lines, stepsLeft: MAX_STEPS };
  writeMembers(page, whole, 0);
  const isCut = page.stepsLeft <= 0;
  if (lines.length === 0) return isCut || isOpen(whole) ? "(any arguments)" : "(no parameters)";
  return [...lines.slice(0, MAX_LINES), ...(isCut || lines.length > MAX_LINES ? ["… and more"] : [])].join("\n");
}

interface Page {
  readonly root: JsonObject;
  readonly lines: string[];
  /** None: what was not looked at yet is left out. */
  stepsLeft: number;
}

/** Whether this schema may be looked at, too. */
function mayLook(page: Page, depth: number): boolean {
  if (depth > MAX_DEPTH || page.stepsLeft <= 0) return false;
  page.stepsLeft -= 1;
  return true;
}

/** Members of the object, of its parts (`allOf`), and of its alternatives. */
function writeMembers(page: Page, schema: JsonObject, depth: number): void {
  if (page.lines.length > MAX_LINES || !mayLook(page, depth)) return;
  const properties = Object.entries(objectKeyword(schema, "properties") ?? {});
  const required = properties.length === 0 ? new Set() : requiredOf(schema);
  for (const [name, property] of properties) {
    if (page.lines.length > MAX_LINES) return;
    writeMember(page, { name: visibleLine(name, 100), isRequired: required.has(name), schema: property }, depth);
  }
  for (const part of listKeyword(schema, "allOf") ?? []) {
    if (page.stepsLeft <= 0) return;
    if (isJsonObject(part)) writeMembers(page, resolved(page.root, part), depth + 1);
  }
  for (const name of ["anyOf", "oneOf"]) {
    for (const choice of (listKeyword(schema, name) ?? []).slice(0, MAX_LITERALS)) writeChoice(page, choice, depth);
  }
}

function writeChoice(page: Page, choice: JsonValue, depth: number): void {
  if (!isJsonObject(choice)) return;
  const schema = resolved(page.root, choice);
  if (objectKeyword(schema, "properties") === null || page.lines.length > MAX_LINES) return;
  page.lines.push(`${indent(depth)}or:`);
  writeMembers(page, schema, depth + 1);
}

interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: JsonValue;
}

function writeMember(page: Page, { name, isRequired, schema }: Member, depth: number): void {
  const mark = isRequired ? " *required*" : "";
  if (!isJsonObject(schema)) {
    page.lines.push(`${indent(depth)}${name}${mark}`);
    return;
  }
  const whole = resolved(page.root, schema);
  const type = typeName(page, whole, 0);
  const note = noteOf(schema) || noteOf(whole);
  const asked = constraintsOf(whole).map(([constraint, value]) => ` [${constraint}: ${value}]`);
  page.lines.push(`${indent(depth)}${name}${type === "" ? "" : ` (${type})`}${mark}${note === "" ? "" : ` - ${note}`}${asked.join("")}`);
  writeMembers(page, whole, depth + 1);
  const items = keyword(whole, "items");
  if (isJsonObject(items)) writeMembers(page, resolved(page.root, items), depth + 1);
}

function typeName(page: Page, schema: JsonObject, depth: number): string {
  if (!mayLook(page, depth)) return "";
  const values = listKeyword(schema, "enum");
  if (values !== null) return `enum: ${values.slice(0, MAX_LITERALS).map(literal).join(", ")}${values.length > MAX_LITERALS ? ", …" : ""}`;
  if (Object.hasOwn(schema, "const")) return `const ${literal(keyword(schema, "const") ?? null)}`;
  const types = typesOf(schema).filter((type) => typeof type === "string");
  if (types.length > 0) return [...new Set(types)].slice(0, 7).map((type) => (type === "array" ? arrayName(page, schema, depth) : visibleLine(type, 20))).join(" | "); // prettier-ignore
  const choices = listKeyword(schema, "anyOf") ?? listKeyword(schema, "oneOf") ?? [];
  const names = choices.slice(0, 7).map((choice) => (isJsonObject(choice) ? typeName(page, resolved(page.root, choice), depth + 1) : ""));
  return [...new Set(names)].filter((name) => name !== "").join(" | ");
}

function arrayName(page: Page, schema: JsonObject, depth: number): string {
  const items = keyword(schema, "items");
  const item = isJsonObject(items) ? typeName(page, resolved(page.root, items), depth + 1) : "";
  return item === "" ? "array" : `array of ${item}`;
}

/** Follows local references a few steps; what leads nowhere stays as it is. */
function resolved(root: JsonObject, schema: JsonObject): JsonObject {
  let at = schema;
  for (let step = 0; step < MAX_REFERENCES; step += 1) {
    const reference = keyword(at, "$ref");
    const target = typeof reference === "string" ? referenced(root, reference) : undefined;
    if (!isJsonObject(target)) return at;
    at = target;
  }
  return at;
}

function isOpen(schema: JsonObject): boolean {
  const open = keyword(schema, "additionalProperties");
  return open !== false && (open !== undefined || typesOf(schema).length === 0 || Object.hasOwn(schema, "patternProperties"));
}

function indent(depth: number): string {
  return "  ".repeat(depth);
}
