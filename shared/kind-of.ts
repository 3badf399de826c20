/** For a sentence: what a value is. Texts, and what objects and lists hold, are not shown: there may be a secret among them. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return value === "" ? "an empty string" : `a ${typeof value}`;
}
