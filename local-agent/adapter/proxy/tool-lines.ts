/** Tools as lines of a text for a model. Pure. */
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";

const LINE_CHARS = 200;
const SEARCH_CHARS = 400;

/** The beginning of what the tool says of itself, in one line. */
export function toolLine(entry: CatalogEntry, maxChars: number = LINE_CHARS): string {
  const said = (entry.description === "" ? (entry.title ?? "") : entry.description).replaceAll(/\s+/g, " ").trim();
  return said === "" ? entry.displayed : `${entry.displayed} - ${cut(said, maxChars)}`;
}

export function foundLines(entry: CatalogEntry, shape: string | null): string {
  return [toolLine(entry, SEARCH_CHARS), ...(shape === null ? [] : [indented(shape)])].join("\n");
}

export function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}

/** At a word, with an ellipsis. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars);
  const word = kept.lastIndexOf(" ");
  return `${(word > maxChars / 2 ? kept.slice(0, word) : kept).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A schema that names no parameter, and allows none or says nothing of others. */
export function takesNothing(schema: CatalogEntry["inputSchema"]): boolean {
  return Object.keys(schema).every((word) => PLAIN.has(word)) && Object.keys(schema.properties ?? {}).length === 0;
}

const PLAIN = new Set(["type", "properties", "required", "title", "description", "additionalProperties", "$schema"]);
