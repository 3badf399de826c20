import { describe, expect, test } from "vitest";
import { createSearchIndex } from "../../../../local-agent/adapter/catalog/search.ts";
import type { CatalogEntry } from "../../../../local-agent/adapter/catalog/upstream-catalog.ts";
import { labelledQueries, labelledTools, recall, type LabelledQuery } from "../../../support/search-set.ts";

const TOOLS = labelledTools();
const QUERIES = labelledQueries();
const index = createSearchIndex(TOOLS);
const search = (query: string): readonly CatalogEntry[] => index.search({ query, limit: 5, offset: 0 }).hits.map((hit) => hit.entry);
const ofKind = (kind: string): LabelledQuery[] => QUERIES.filter((query) => query.kind === kind);
const about = QUERIES.filter((query) => query.kind !== "nothing");
const kinds = [...new Set(about.map((query) => query.kind))];

describe("the labelled set", () => {
  test("has enough tools, servers and questions, and names only tools there are", () => {
    const known = new Set(TOOLS.map((tool) => `${tool.server}/${tool.original}`));
    expect(TOOLS.length).toBeGreaterThanOrEqual(150);
    expect(known.size).toBe(TOOLS.length);
    expect(new Set(TOOLS.map((tool) => tool.server)).size).toBeGreaterThanOrEqual(12);
    expect(QUERIES.length).toBeGreaterThanOrEqual(120);
    expect(new Set(QUERIES.map((query) => query.text)).size).toBe(QUERIES.length);
    expect(about.flatMap((query) => query.right).filter((tool) => !known.has(tool))).toEqual([]);
    expect(about.every((query) => query.right.length > 0)).toBe(true);
  });
});

describe("how well the search does on it", () => {
  test("[SE15] finds a right tool among the first five", () => {
    expect(recall(about, search)).toBeGreaterThanOrEqual(0.93);
  });

  test("[SE15] finds as well what was held out", () => {
    const heldOut = about.filter((query) => query.isHeldOut);
    expect(recall(heldOut, search)).toBeGreaterThanOrEqual(0.93);
  });

  test.each(kinds)("[SE15] finds by %s", (kind) => {
    expect(recall(ofKind(kind), search)).toBeGreaterThanOrEqual(0.85);
  });

  test.each([false, true])("[SE16] seldom answers a question about nothing (held out: %s)", (isHeldOut) => {
    const nothing = ofKind("nothing").filter((query) => query.isHeldOut === isHeldOut);
    expect(recall(nothing, search)).toBeGreaterThanOrEqual(0.9);
  });
});
