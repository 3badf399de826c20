/** What of a tool is searched, as texts by field. A schema is a stranger's: how deep, how wide and how long it is read is bounded. */
import { isJsonObject, type JsonValue } from "../../../shared/json.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";

/** `summary` is what a description begins with, `details` the rest of it. */
export type SearchField = "name" | "server" | "title" | "keywords" | "summary" | "details" | "parameters";

const MAX_SUMMARY_LENGTH = 240;
const MAX_NAME_LENGTH = 400;
const MAX_SERVER_TEXT = 600_000;
const MAX_DEPTH = 6;
const MAX_PARAMETERS = 200;
const MAX_PARAMETER_TEXT = 6_000;
const MAX_ENUM_VALUES = 20;
/** Where a schema holds further schemas of the same arguments. */
const NESTED_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;

/** @param maxText of the details and of the parameters each */
export function searchDocument(entry: CatalogEntry, maxText: number): Record<SearchField, string> {
  const summary = firstSentence(entry.description);
  return {
    name: entry.original.slice(0, MAX_NAME_LENGTH),
    server: entry.server,
    title: (entry.title ?? entry.annotations?.title ?? "").slice(0, MAX_NAME_LENGTH),
    keywords: entry.keywords.join(" "),
    summary,
    details: entry.description.slice(summary.length, summary.length + maxText),
    parameters: parameterText(entry.inputSchema as JsonValue, Math.min(maxText, MAX_PARAMETER_TEXT)),
  };
}

/**
 * A server's tools share what is read of them at length, so that one with thousands of long descriptions holds up nobody's search: all
 * of the index is made at once.
 */
export function textShares(entries: readonly CatalogEntry[]): (entry: CatalogEntry) => number {
  const shares = new Map(
    [...Map.groupBy(entries, ({ server }) => server)].map(([server, own]) => [server, Math.floor(MAX_SERVER_TEXT / own.length)]),
  );
  return ({ server }) => shares.get(server) ?? 0;
}

/** What a tool is for is said first; what follows are conditions, examples and warnings that name much else. */
function firstSentence(description: string): string {
  const head = description.slice(0, MAX_SUMMARY_LENGTH);
  const end = /[.!?](?=\s)|[。！？]|\n\s*\n/.exec(head);
  return end === null ? head : head.slice(0, end.index + 1);
}

interface Budget {
  parameters: number;
  length: number;
}

/** Names, titles, descriptions and fixed choices of the arguments, nested ones included. */
function parameterText(schema: JsonValue, length: number): string {
  const texts: string[] = [];
  collect(schema, texts, 0, { parameters: MAX_PARAMETERS, length });
  return texts.join(" ");
}

function collect(schema: JsonValue | undefined, texts: string[], depth: number, budget: Budget): void {
  if (depth > MAX_DEPTH || budget.length <= 0 || !isJsonObject(schema)) return;
  if (depth > 0) ownTexts(schema).forEach((text) => add(text, texts, budget));
  const properties = schema["properties"];
  if (isJsonObject(properties)) {
    for (const name of Object.keys(properties)) {
      if (budget.parameters-- <= 0) return;
      add(name, texts, budget);
      collect(properties[name], texts, depth + 1, budget);
    }
  }
  for (const nested of [schema["items"], ...NESTED_LISTS.flatMap((key) => listOf(schema[key]))]) {
    if (budget.parameters-- <= 0) return;
    collect(nested, texts, depth + 1, budget);
  }
}

function ownTexts(schema: { readonly [key: string]: JsonValue }): string[] {
  const choices = listOf(schema["enum"]).slice(0, MAX_ENUM_VALUES);
  return [schema["title"], schema["description"], ...choices].filter((text) => typeof text === "string");
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function add(text: string, texts: string[], budget: Budget): void {
  if (budget.length <= 0) return;
  const part = text.slice(0, budget.length);
  budget.length -= part.length;
  texts.push(part);
}
