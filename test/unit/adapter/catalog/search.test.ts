import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSearchIndex } from "../../../../local-agent/adapter/catalog/search.ts";
import type { CatalogEntry } from "../../../../local-agent/adapter/catalog/upstream-catalog.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";

const ENTRIES: readonly CatalogEntry[] = [
  catalogEntry({ server: "github", original: "create_issue", description: "Opens a new issue in a repository" }),
  catalogEntry({ server: "github", original: "create_issue_comment", description: "Answers below an issue" }),
  catalogEntry({ server: "github", original: "search_issues", description: "Finds issues of any repository" }),
  catalogEntry({
    server: "browser",
    original: "takeScreenshot",
    description: "A picture of what the browser shows",
    inputSchema: {
      type: "object",
      properties: {
        fullPage: { type: "boolean", description: "beyond the viewport" },
        clip: { type: "object", properties: { rectangle: { enum: ["rounded", "sharp"] } } },
      },
    },
  }),
  catalogEntry({ server: "browser", original: "click", title: "Press a button", description: "Clicks what a selector names", keywords: ["tap"] }),
  catalogEntry({ server: "files", original: "delete-file", description: "Deletes a file for good" }),
  catalogEntry({ server: "files", original: "résumé.export", description: "Writes the curriculum vitae" }),
  catalogEntry({ server: "karten", original: "search_place", description: "根据关键词搜索附近的地点" }),
  catalogEntry({ server: "notes", original: "memo", description: "新しいノートを作成する。노트를 만들어 저장합니다" }),
];
const index = createSearchIndex(ENTRIES);
const find = (query: string, server?: string): string[] =>
  index.search({ query, server, limit: 50, offset: 0 }).hits.map((hit) => hit.entry.original);

describe("what is found", () => {
  test.each([
    ["name", "delete file", "delete-file"],
    ["title", "button", "click"],
    ["description", "repository", "create_issue"],
    ["server", "browser", "takeScreenshot"],
    ["keyword", "tap", "click"],
    ["parameter's name", "full page", "takeScreenshot"],
    ["parameter's description", "viewport", "takeScreenshot"],
    ["nested parameter", "rectangle", "takeScreenshot"],
    ["fixed choice", "rounded", "takeScreenshot"],
  ])("[SE1] finds by a word of the %s", (_where, query, original) => {
    expect(find(query)).toContain(original);
  });

  test.each([
    ["TAKE_SCREENSHOT", "takeScreenshot"],
    ["take-screenshots", "takeScreenshot"],
    ["taking a screen shot", "takeScreenshot"],
    ["deletefile", "delete-file"],
    ["deleted files", "delete-file"],
    ["resume export", "résumé.export"],
    ["issue creation", "create_issue"],
  ])("[SE2] finds %s however it is written", (query, original) => {
    expect(find(query)[0]).toBe(original);
  });

  test.each([
    ["take_screenshoot", "takeScreenshot"],
    ["screnshto", "takeScreenshot"],
    ["rectnagle", "takeScreenshot"],
    ["repositorry", "create_issue"],
  ])("[SE3] finds %s despite a slip of the finger", (query, original) => {
    expect(find(query)).toContain(original);
  });

  test("[SE3] guesses no word of three letters", () => {
    expect(find("tep")).toEqual([]);
  });

  test.each([
    ["附近地点", "search_place"],
    ["请帮我搜索附近的地点", "search_place"],
    ["ノートを作成したい", "memo"],
    ["노트 저장", "memo"],
    ["点", "search_place"],
  ])("[SE4] finds %s by its parts", (query, original) => {
    expect(find(query)[0]).toBe(original);
  });

  test("[SE5] finds by the beginning of a word", () => {
    expect(find("repo")).toContain("create_issue");
    expect(find("scr")).toEqual(["takeScreenshot"]);
    expect(find("sc")).toEqual([]);
  });

  test("[SE6] takes common words for the same thing, after what has the word itself", () => {
    expect(find("remove a file")[0]).toBe("delete-file");
    const both = createSearchIndex([catalogEntry({ server: "a", original: "erase_row" }), catalogEntry({ server: "b", original: "remove_row" })]);
    const hits = both.search({ query: "remove row", limit: 9, offset: 0 }).hits;
    expect(hits.map((hit) => hit.entry.original)).toEqual(["remove_row", "erase_row"]);
  });

  test("[SE7] does not mind how a question is asked", () => {
    expect(find("hello, could you please tell me how I can delete a file with this?")).toEqual(find("delete file"));
    const silent = createSearchIndex([catalogEntry({ server: "a", original: "do_it" }), catalogEntry({ server: "a", original: "rest" })]);
    expect(silent.search({ query: "do it", limit: 9, offset: 0 }).total).toBe(1);
  });

  test.each(["what is the capital of France", "book a flight to Lisbon", "pizza", "冰淇淋", "issue a refund for the parcel"])(
    "[SE8] finds nothing for %s",
    (query) => {
      expect(find(query)).toEqual([]);
    },
  );
});

describe("order and pages", () => {
  test("[SE9] puts the whole name first, then names, then the rest", () => {
    expect(find("create issue").slice(0, 2)).toEqual(["create_issue", "create_issue_comment"]);
    expect(find("search issues")).toEqual(["search_issues"]);
    expect(find("issue").indexOf("create_issue")).toBeLessThan(find("issue").indexOf("search_issues"));
    expect(find("take screenshot")).toEqual(["takeScreenshot"]);
    expect(find("create repository issue now")[0]).toBe("create_issue");
  });

  test("[SE9] orders equal ones by name, whatever order they came in", () => {
    const tied = ["c", "a", "b"].map((server) => catalogEntry({ server, original: "list" }));
    const names = (entries: readonly CatalogEntry[]): string[] =>
      createSearchIndex(entries)
        .search({ query: "list", limit: 9, offset: 0 })
        .hits.map((hit) => hit.entry.displayed);
    expect(names(tied)).toEqual(["a_list", "b_list", "c_list"]);
    expect(names(tied.toReversed())).toEqual(["a_list", "b_list", "c_list"]);
  });

  test("[SE10] pages give every hit once", () => {
    const many = createSearchIndex(Array.from({ length: 23 }, (_, n) => catalogEntry({ server: "s", original: `list_${n}` })));
    fc.assert(
      fc.property(fc.integer({ min: -3, max: 30 }), (limit) => {
        const seen: string[] = [];
        for (let offset: number | null = 0; offset !== null;) {
          const page = many.search({ query: "list", limit, offset });
          expect(page.total).toBe(23);
          expect(page.hits.length).toBe(Math.min(Math.max(1, limit), 23 - offset));
          seen.push(...page.hits.map((hit) => hit.entry.original));
          offset = page.nextOffset;
        }
        expect(new Set(seen).size).toBe(23);
        expect(seen.length).toBe(23);
      }),
    );
  });

  test("[SE10] takes an offset below zero as zero, and finds nothing behind the end", () => {
    expect(index.search({ query: "issue", limit: 1, offset: -5 }).hits.length).toBe(1);
    expect(index.search({ query: "issue", limit: 1, offset: 99 })).toMatchObject({ hits: [], nextOffset: null });
  });

  test("[SE11] keeps to the server that was named, and lists it when no word was", () => {
    expect(find("delete", "github")).toEqual([]);
    expect(find("", "github")).toEqual(["create_issue", "create_issue_comment", "search_issues"]);
    expect(find(" - ", "files").length).toBe(2);
    expect(find("")).toEqual([]);
  });

  test("[SE12] reads a bounded part of what a server writes", () => {
    const deep: Record<string, unknown> = { type: "object" };
    let inner = deep;
    for (let level = 0; level < 5_000; level++) {
      const next: Record<string, unknown> = { type: "object" };
      inner["properties"] = { [`level${level}`]: next };
      inner = next;
    }
    const circular: Record<string, unknown> = { type: "object", description: "round" };
    circular["properties"] = { again: circular };
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`wide${n}`, { description: "x".repeat(100) }]));
    const hostile = createSearchIndex([
      catalogEntry({ server: "h", original: "deep", inputSchema: deep as CatalogEntry["inputSchema"] }),
      catalogEntry({ server: "h", original: "circular", inputSchema: circular as CatalogEntry["inputSchema"] }),
      catalogEntry({ server: "h", original: "wide", inputSchema: { type: "object", properties: wide } }),
      catalogEntry({ server: "h", original: "long", description: "abc ".repeat(1_000_000) }),
      catalogEntry({ server: "h", original: "__proto__", description: "constructor toString", keywords: ["hasOwnProperty"] }),
    ]);
    const names = (query: string): string[] => hostile.search({ query, limit: 9, offset: 0 }).hits.map((hit) => hit.entry.original);
    expect(names("level1")).toEqual(["deep"]);
    expect(names("level4000")).toEqual([]);
    expect(names("circular")).toEqual(["circular"]);
    expect(names("wide40000")).toEqual([]);
    expect(names("constructor")).toEqual(["__proto__"]);
    expect(names("wide ".repeat(100_000))).toContain("wide");
  });

  test("[SE12] thousands of long descriptions of one server are read as far as there is time, and another's are read whole", () => {
    const words = (n: number) => Array.from({ length: 400 }, (_, at) => `w${(n * 400 + at) % 99_991}`).join(" ");
    const many = Array.from({ length: 5_000 }, (_, n) => catalogEntry({ server: "h", original: `tool_${n}`, description: words(n) }));
    const other = catalogEntry({ server: "g", original: "other", description: `Something. ${"filler ".repeat(400)} needle` });
    const index = createSearchIndex([...many, other]);
    expect(index.search({ query: "needle", limit: 5, offset: 0 }).hits.map(({ entry }) => entry.original)).toEqual(["other"]);
    expect(index.search({ query: "w0", limit: 5, offset: 0 }).hits[0]?.entry.original).toBe("tool_0");
  });

  test("[SE12] answers any query and any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.string({ unit: "grapheme", maxLength: 60 }), (query, description) => {
        const page = createSearchIndex([catalogEntry({ server: "s", original: "t", description })]).search({ query, limit: 5, offset: 0 });
        expect(page.hits.every((hit) => Number.isFinite(hit.score))).toBe(true);
      }),
    );
  });
});
