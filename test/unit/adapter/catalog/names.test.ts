import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayedName, namespaceProxyName, promptCommand, resourceToolName, serverPrefix } from "../../../../local-agent/adapter/catalog/names.ts";
import type { ToolPrefix } from "../../../../local-agent/adapter/config/server-definition.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const MODES: readonly ToolPrefix[] = ["server", "short", "none", "mcp"];

describe("the prefix of a server", () => {
  test.each([
    ["my_server", "my_server"],
    ["my-server", "my-server"],
    ["codebase-memory-mcp", "codebase-memory-mcp"],
    ["Bright Data", "Bright_20_Data"],
    ["a.b", "a_2e_b"],
    ["@scope/x", "_40_scope_2f_x"],
    ["日本", "_65e5__672c_"],
    ["😀x", "_1f600_x"],
  ])("[CT4] of %j is %j", (server, expected) => {
    expect(serverPrefix(server, "server")).toBe(expected);
    expect(serverPrefix(server, "mcp")).toBe(`mcp__${expected}`);
    expect(serverPrefix(server, "none")).toBe("");
  });

  test.each([
    ["github-mcp", "github"],
    ["codebase-memory-mcp", "codebase-memory"],
    ["github-MCP", "github"],
    ["foomcp", "foo"],
    ["x mcp", "x_20_"],
    ["mcp", "mcp"],
    ["-mcp", "mcp"],
  ])("[CT4] of %j is %j in short", (server, expected) => {
    expect(serverPrefix(server, "short")).toBe(expected);
  });
});

describe("the shown name of a tool", () => {
  test.each<[string, string, ToolPrefix, string]>([
    ["resolve-library-id", "context7", "server", "context7_resolve-library-id"],
    ["take_screenshot", "chrome-devtools", "server", "chrome-devtools_take_screenshot"],
    ["a.b-c", "My Srv-mcp", "server", "My_20_Srv-mcp_a_b-c"],
    ["a.b-c", "My Srv-mcp", "short", "My_20_Srv_a_b-c"],
    ["a.b-c", "My Srv-mcp", "none", "a_b-c"],
    ["a.b-c", "My Srv-mcp", "mcp", "mcp__My_20_Srv-mcp_a_b-c"],
    ["firecrawl_scrape", "firecrawl", "server", "firecrawl_scrape"],
    ["firecrawl.scrape", "firecrawl", "server", "firecrawl_scrape"],
    ["firecrawl", "firecrawl", "server", "firecrawl_firecrawl"],
    ["firecrawl_", "firecrawl", "server", "firecrawl_firecrawl_"],
    ["firecrawl_scrape", "firecrawl", "mcp", "mcp__firecrawl_firecrawl_scrape"],
    ["my_srv_x", "my-srv", "server", "my-srv_my_srv_x"],
    ["fire\u202ecrawl\n", "s", "server", "s_fire_202e_crawl_a_"],
  ])("[CT5] of %j on %j with %s is %j", (tool, server, mode, expected) => {
    expect(displayedName(tool, server, mode)).toBe(expected);
  });

  test("[CT5] has only characters that every provider takes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), fc.constantFrom(...MODES), (tool, server, mode) => {
        expect(displayedName(tool, server, mode)).toMatch(/^[A-Za-z0-9_-]*$/);
      }),
    );
  });
});

test.each([
  ["My Doc (v2)", "read_my_doc_v2"],
  ["2024 report", "read_resource_2024_report"],
  ["日本", "read_resource"],
  ["Résumé.pdf", "read_r_sum_pdf"],
  ["__a__", "read_a"],
  ["9", "read_resource_9"],
])("[CT6] the resource %j is read by %s", (name, expected) => {
  expect(resourceToolName(name)).toBe(expected);
});

test.each([
  ["create plan", "mcp__agent-board__create_plan"],
  ["1st", "mcp__agent-board___1st"],
  ["a.b", "mcp__agent-board__a_b"],
  ["日本", "mcp__agent-board__prompt"],
  ["--a--b", "mcp__agent-board__a--b"],
  ["x__y", "mcp__agent-board__x__y"],
])("[CT7] the prompt %j is the command %s", (name, expected) => {
  expect(promptCommand(name, "agent-board", "server")).toBe(expected);
  expect(promptCommand(name, "agent-board", "none")).toBe(expected);
  expect(promptCommand(name, "agent-board-mcp", "short")).toBe(expected);
});

describe("the tool for a whole server", () => {
  test.each([
    ["a-b", "mcp__a_b"],
    ["My Srv", "mcp___mcpns_My_20_Srv"],
    ["a.b", "mcp___mcpns_a_2e_b"],
    ["日本", "mcp___mcpns__65e5__672c_"],
    ["é-a", "mcp___mcpns__e9___a"],
    ["_mcpns_a", "mcp___mcpns___mcpns__a"],
    ["x".repeat(59), `mcp__${"x".repeat(59)}`],
    ["x".repeat(60), `mcp___mcpns__h_${"x".repeat(32)}_42f2d97335669f86`],
    ["é".repeat(20), "mcp___mcpns__h__e9__e9__e9__e9__e9__e9__e9__e9__17ea248af18dad7e"],
    ["-".repeat(70), `mcp___mcpns__h_${"_".repeat(32)}_80cb6a41bba70c3c`],
  ])("[CT8] of %j is %s", (server, expected) => {
    expect(namespaceProxyName(server, sha256)).toBe(expected);
  });

  test("[CT8] is distinct for names that differ in more than hyphen and underscore", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (one, other) => {
        fc.pre(one.replaceAll("-", "_") !== other.replaceAll("-", "_"));
        expect(namespaceProxyName(one, sha256)).not.toBe(namespaceProxyName(other, sha256));
        expect(namespaceProxyName(one, sha256).length).toBeLessThanOrEqual(64);
      }),
    );
  });
});
