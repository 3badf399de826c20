import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createToolSelectors, matchesGlob } from "../../../../local-agent/adapter/catalog/selectors.ts";
import type { ToolPrefix } from "../../../../local-agent/adapter/config/server-definition.ts";

const tool = (server: string, original: string) => ({ server, original });
const selectors = (tools: ReturnType<typeof tool>[], prefix: ToolPrefix = "server") => createToolSelectors(tools, () => prefix);

describe("what a tool answers to", () => {
  test.each<ToolPrefix>(["server", "short", "none", "mcp"])(
    "[CT9] its own name and every prefix of it, in both spellings, with prefix %s",
    (prefix) => {
      const it = tool("context7", "resolve-library-id");
      expect(selectors([it], prefix).namesOf(it)).toEqual(
        new Set([
          "resolve-library-id",
          "context7_resolve-library-id",
          "context7__resolve-library-id",
          "mcp__context7_resolve-library-id",
          "resolve_library_id",
          "context7_resolve_library_id",
          "context7__resolve_library_id",
          "mcp__context7_resolve_library_id",
        ]),
      );
    },
  );

  test("[CT9] the spellings of earlier versions", () => {
    const it = tool("My Srv-mcp", "a.b-c");
    const names = selectors([it]).namesOf(it);
    for (const name of ["a.b-c", "a.b_c", "My_20_Srv-mcp_a_b-c", "My_20_Srv_a_b_c", "My_20_Srv_2d_mcp_a_b_c", "mcp__My_20_Srv_mcp_a_b_c"]) {
      expect(names).toContain(name);
    }
    const doubled = tool("firecrawl", "firecrawl_scrape");
    expect(selectors([doubled]).namesOf(doubled)).toContain("firecrawl_firecrawl_scrape");
  });

  test("[CT9] not to what another server's tool is called today", () => {
    const mine = tool("my-server", "get");
    const theirs = tool("my_server", "get");
    const both = selectors([mine, theirs]);
    expect(both.matches(mine, ["my_server_get"])).toBe(false);
    expect(both.matches(theirs, ["my_server_get"])).toBe(true);
    expect(selectors([mine, tool("my_server", "other")]).matches(mine, ["my_server_get"])).toBe(true);
    const hyphened = tool("a", "get-it");
    expect(selectors([hyphened, tool("b", "get_it")]).matches(hyphened, ["get_it"])).toBe(false);
  });
});

test("[CT9] no server takes a guard off another's tool by what it calls its own", () => {
  const mine = tool("my-server", "delete-all");
  const hostile = ["delete_all", "my_server_delete_all", "mcp__my_2d_server_delete_all"].map((name) => tool("evil", name));
  const all = selectors([mine, ...hostile]);
  for (const { original } of hostile) {
    expect(all.matches(mine, [original])).toBe(false);
    expect(all.guards(mine, [original])).toBe(true);
    expect(all.guards(mine, [`${original.slice(0, -1)}?`])).toBe(true);
  }
  expect(all.guards(mine, ["my_server_delete_some", "evil_*"])).toBe(false);
  expect(all.guards(mine, [])).toBe(false);
});

describe("globs", () => {
  test.each([
    ["s_a*", true],
    ["mcp__s_a?", true],
    ["a1", true],
    ["a", false],
    ["A*", false],
    ["?", false],
    ["*", true],
    [" a1 ", false],
    ["[a]1", false],
  ])("[CT9] %j matches a1 of s: %s", (pattern, expected) => {
    const it = tool("s", "a1");
    expect(selectors([it]).matches(it, [pattern])).toBe(expected);
  });

  test("[CT9] match as the same regular expression would", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "."), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (pattern, text) => {
        const same = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".")}$`);
        expect(matchesGlob(pattern, text)).toBe(same.test(text));
      }),
    );
  });

  test("[CT9] that would keep a regular expression busy for years end at once", () => {
    expect(matchesGlob(`${"*a".repeat(60)}*b`, "a".repeat(4_000))).toBe(false);
  });
});
