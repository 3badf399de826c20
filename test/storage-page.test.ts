import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8");
const found = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name ?? ""))].toSorted();

/** Holds docs/storage.md against the schema: what is stored and not told, and what is told and not stored, are both errors. */
test("the page about storage names every table and every setting, and no other", () => {
  const tables = found(read("worker/workspace/tables.ts"), /CREATE TABLE (\w+)\(/g);
  const settings = found(read("worker/workspace/workspace-facts.ts"), /#store\.(?:read|write)\("(\w+)"/g);
  expect(tables.length).toBeGreaterThan(8);
  expect(settings.length).toBeGreaterThan(3);
  const named = found(read("docs/storage.md"), /^\| `([a-z_]+)`/gm);
  expect(named).toEqual([...tables, ...settings].toSorted());
});
