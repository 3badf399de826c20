/** Keeps schemas that upstreams send within what a model, a validator and a terminal can take. Pure. */
import { isJsonObject } from "../../../shared/json.ts";

/** A real tool's schema has tens of these, the largest published ones a few thousand. */
const MAX_NODES = 20_000;
const MAX_DEPTH = 64;
const MAX_CHARS = 256 * 1024;

/** Whether it is small enough to be walked, compiled and shown. Also false for what refers to itself in memory. */
export function isWithinBounds(schema: unknown): boolean {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value: schema, depth: 0 }];
  let nodes = 0;
  let chars = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next;
    nodes += 1;
    if (typeof value === "string") chars += value.length;
    if (nodes + waiting.length > MAX_NODES || chars > MAX_CHARS || depth > MAX_DEPTH) return false;
    if (Array.isArray(value)) {
      if (value.length > MAX_NODES) return false;
      for (const each of value as readonly unknown[]) waiting.push({ value: each, depth: depth + 1 });
    } else if (isJsonObject(value)) {
      for (const name of Object.keys(value)) {
        chars += name.length;
        waiting.push({ value: value[name], depth: depth + 1 });
      }
    }
  }
  return true;
}
