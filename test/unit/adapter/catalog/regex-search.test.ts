import { expect, test } from "vitest";
import { regexSearch } from "../../../../local-agent/adapter/catalog/regex-search.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";

const ENTRIES = [
  catalogEntry({ server: "github", original: "search_issues", description: "Finds issues" }),
  catalogEntry({ server: "github", original: "create_issue", description: "Opens one" }),
  catalogEntry({ server: "files", original: "find", description: "a".repeat(20_000) }),
];
const names = (pattern: string, server?: string): string[] => {
  const found = regexSearch(ENTRIES, { pattern, server, limit: 12, offset: 0 });
  return found.ok ? found.value.hits.map((entry) => entry.displayed) : [found.error.code];
};

test("[SE13] matches shown names and descriptions in any case, in the order of their names", () => {
  expect(names("ISSUE")).toEqual(["github_create_issue", "github_search_issues"]);
  expect(names("^files_")).toEqual(["files_find"]);
  expect(names("opens|finds")).toEqual(["github_create_issue", "github_search_issues"]);
  expect(names("i", "files")).toEqual(["files_find"]);
});

test("[SE13] gives pages", () => {
  const page = regexSearch(ENTRIES, { pattern: ".", limit: 2, offset: 0 });
  expect(page).toMatchObject({ ok: true, value: { total: 3, nextOffset: 2 } });
});

test.each(["(a+)+$", "(a|a)*b", "(.*)*x", "(a{1,30}){1,30}$"])("[SE14] matches %s in linear time", (pattern) => {
  // A back-tracking engine would not end within the life of the machine.
  expect(names(pattern).length).toBeLessThanOrEqual(3);
});

test.each(["(", "[z-a]", "a**", "(?=a)", String.raw`(a)\1`, "(?<!x)y(", "a{2000}"])("[SE14] refuses %s with a sentence", (pattern) => {
  const found = regexSearch(ENTRIES, { pattern, limit: 12, offset: 0 });
  expect(found).toMatchObject({ ok: false, error: { code: "invalid_pattern" } });
});

test("[SE14] takes 256 characters and no more", () => {
  expect(names("a".repeat(256))).toEqual(["files_find"]);
  expect(names("a".repeat(257))).toEqual(["query_too_long"]);
});
