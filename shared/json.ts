/** JSON values as TypeScript sees them. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * One text for equal values: keys in order, no spaces (in the manner of RFC 8785). For comparing and hashing, not for showing.
 * Members without a value are left out.
 */
export function canonicalJson(value: JsonValue): string {
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const ordered = members.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${ordered.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}

function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** JSON in one line of ASCII: what lies beyond is written as escapes, so that a stranger's text in it can neither break a line nor drive a terminal. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Parses JSON without throwing; `undefined` means "not JSON" (JSON itself has no `undefined`). */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined; // Malformed input is an expected answer here, the caller says what to do about it.
  }
}
