import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { catalogEntries } from "../../../../local-agent/adapter/catalog/entries.ts";
import type { UpstreamTool } from "../../../../local-agent/adapter/catalog/upstream-catalog.ts";
import type { ServerDefinition } from "../../../../local-agent/adapter/config/server-definition.ts";
import { catalogSource, upstreamTool } from "../../../support/server-definitions.ts";

const shown = (...sources: Parameters<typeof catalogEntries>[0]) => catalogEntries(sources).entries.map(({ displayed }) => displayed);
const DOC = { uri: "file:///doc", name: "doc" };

describe("filters", () => {
  test.each<[Partial<ServerDefinition>, string[]]>([
    [{}, ["s_a1", "s_ab", "s_c", "s_read_doc"]],
    [{ includeTools: ["s_a*"] }, ["s_a1", "s_ab"]],
    [{ includeTools: ["read_*", "c"] }, ["s_c", "s_read_doc"]],
    [{ includeTools: ["a?"], excludeTools: ["mcp__s_ab"] }, ["s_a1"]],
    [{ excludeTools: ["*"] }, []],
    [{ excludeTools: ["read_doc"] }, ["s_a1", "s_ab", "s_c"]],
    [{ exposeResources: false }, ["s_a1", "s_ab", "s_c"]],
  ])("[CT10] %j keep %j", (fields, expected) => {
    expect(shown(catalogSource("s", ["a1", "ab", "c"], { resources: [DOC], fields }))).toEqual(expected);
  });

  test("[CT9] [CT10] what is taken away stays away, whatever another server calls its tools", () => {
    const mine = catalogSource("my-server", ["get-it", "look"], { fields: { excludeTools: ["my_server_get_it"] } });
    expect(shown(mine)).toEqual(["my-server_look"]);
    expect(shown(mine, catalogSource("evil", ["my_server_get_it"]))).toEqual(["my-server_look", "evil_my_server_get_it"]);
  });

  test("[CT11] tools for a window only are not shown", () => {
    const tool = (name: string, visibility: unknown) => upstreamTool(name, { _meta: { ui: { visibility } } });
    const tools = [tool("app", ["app"]), tool("both", ["app", "model"]), tool("none", []), tool("odd", "model"), upstreamTool("plain")];
    expect(shown(catalogSource("s", tools))).toEqual(["s_both", "s_plain"]);
  });

  test("extra words for the search come from every pattern that means the tool", () => {
    const fields = { searchKeywords: { "a*": ["x"], s_ab: ["y", "z"], other: ["no"] } };
    const { entries } = catalogEntries([catalogSource("s", ["ab", "c"], { fields })]);
    expect(entries.map(({ keywords }) => keywords)).toEqual([["x", "y", "z"], []]);
  });
});

describe("names that clash", () => {
  test("a tool that bears its server's name keeps one of them", () => {
    expect(shown(catalogSource("firecrawl", ["firecrawl_scrape"]))).toEqual(["firecrawl_scrape"]);
  });

  test("hyphen and underscore keep servers apart", () => {
    expect(shown(catalogSource("my-server", ["get"]), catalogSource("my_server", ["get"]))).toEqual(["my-server_get", "my_server_get"]);
  });

  test("[CT12] of two servers without prefix get distinct names, and nobody the contested one", () => {
    const fields = { toolPrefix: "none" } as const;
    const { entries, warnings } = catalogEntries([
      catalogSource("alpha", ["list", "own"], { fields }),
      catalogSource("beta", ["list"], { fields }),
      catalogSource("gamma", ["x"], { fields }),
    ]);
    expect(entries.map(({ displayed }) => displayed)).toEqual(["alpha_list", "own", "beta_list", "x"]);
    expect(warnings).toEqual([
      { server: "alpha", message: '"list" is offered by several servers; here it is "alpha_list".' },
      { server: "beta", message: '"list" is offered by several servers; here it is "beta_list".' },
    ]);
  });

  test("[CT12] whose prefixes run into each other get two underscores", () => {
    expect(shown(catalogSource("a_b", ["c"]), catalogSource("a", ["b_c"]))).toEqual(["a_b__c", "a__b_c"]);
  });

  test("[CT13] within one server are left out, the others stay", () => {
    const { entries, warnings } = catalogEntries([catalogSource("s", ["a.b", "a_b", "s_x", "x", "y", "a-b"])]);
    expect(entries.map(({ displayed }) => displayed)).toEqual(["s_y", "s_a-b"]);
    expect(warnings).toHaveLength(2);
  });

  test("[CT13] of a tool with itself or a resource leave the tool", () => {
    const resources = [DOC, { uri: "file:///doc2", name: "Doc!" }, { uri: "file:///other", name: "other" }];
    const { entries } = catalogEntries([catalogSource("s", ["x", "x", "read_doc"], { resources })]);
    expect(entries.map(({ displayed, kind }) => [displayed, kind])).toEqual([
      ["s_x", "tool"],
      ["s_read_doc", "tool"],
      ["s_read_other", "resource"],
    ]);
  });

  test("[CT12] [CT13] [CT14] leave every tool distinct, or out", () => {
    const name = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "b", "_", "-", ".", " ", "é", "\u202e"), minLength: 1, maxLength: 6 }),
      fc.constantFrom("a_b", "a", "b", "_", "__proto__", "constructor"),
    );
    const server = fc.record({ name, tools: fc.array(name, { maxLength: 6 }), toolPrefix: fc.constantFrom("server", "short", "none", "mcp") });
    fc.assert(
      fc.property(fc.uniqueArray(server, { maxLength: 4, selector: ({ name }) => name }), (servers) => {
        const { entries, warnings } = catalogEntries(
          servers.map(({ name, tools, toolPrefix }) => catalogSource(name, tools, { fields: { toolPrefix } })),
        );
        const names = entries.map(({ displayed }) => displayed);
        expect(new Set(names).size).toBe(names.length);
        for (const each of names) expect(each).toMatch(/^[A-Za-z0-9_-]+$/);
        const offered = servers.reduce((sum, { tools }) => sum + new Set(tools).size, 0);
        expect(entries.length === offered || warnings.length > 0).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("what strangers send", () => {
  const only = (tool: UpstreamTool) => catalogEntries([catalogSource("s", [tool])]);

  test("[CT14] a name that drives terminals or hides is written out", () => {
    const { entries } = only(upstreamTool("rm\u001b[2K\u202e\u0000x"));
    expect(entries[0]?.displayed).toBe("s_rm_1b__5b_2K_202e__0_x");
    expect(entries[0]?.original).toBe("rm\u001b[2K\u202e\u0000x");
  });

  test("[CT14] a name that is none, or endless, leaves the others alone", () => {
    const { entries, warnings } = catalogEntries([catalogSource("s", ["", "x".repeat(1_000_000), "fine"])]);
    expect(entries.map(({ displayed }) => displayed)).toEqual(["s_fine"]);
    expect(warnings).toHaveLength(2);
    expect(JSON.stringify(warnings).length).toBeLessThan(1_000);
  });

  test("[CT14] warnings are few and can be printed", () => {
    const { warnings } = catalogEntries([
      catalogSource(
        "s",
        Array.from({ length: 100 }, (_, index) => "\u001b\u202e".padEnd(300 + index, "x")),
      ),
    ]);
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)?.message).toContain("90 more");
    // oxlint-disable-next-line no-control-regex -- their absence is the point
    for (const { message } of warnings) expect(message).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  test("[CT15] an endless description is cut, and nothing in it hides", () => {
    const { entries } = only(upstreamTool("x", { description: `one\ntwo\u202e\u200b${"😀".repeat(500_000)}`, title: "t\n".repeat(1_000) }));
    expect(entries[0]?.description.length).toBeLessThan(9_000);
    expect(entries[0]?.description).toMatch(/^one\ntwo‹U\+202E›‹U\+200B›/);
    expect(entries[0]?.title?.length).toBeLessThanOrEqual(200);
  });

  test.each<[string, unknown]>([
    ["too deep", nested(100_000)],
    ["too wide", { type: "object", properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`p${index}`, {}])) }],
    ["too long", { type: "object", description: "x".repeat(1_000_000) }],
    ["in a circle", circular()],
    ["none of an object", { type: "string" }],
    ["absent", undefined],
  ])("[CT15] a schema that is %s is taken as any object", (_what, schema) => {
    const { entries } = only(upstreamTool("x", { inputSchema: schema as UpstreamTool["inputSchema"] }));
    expect(entries.map(({ inputSchema }) => inputSchema)).toEqual([{ type: "object" }]);
  });

  test("[CT15] keys called __proto__ stay what they are", () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as UpstreamTool["inputSchema"];
    const { entries } = only(upstreamTool("__proto__", { inputSchema: schema }));
    expect(entries[0]?.displayed).toBe("s___proto__");
    expect(JSON.stringify(entries[0]?.inputSchema)).toBe(JSON.stringify(schema));
    expect(({} as { type?: string }).type).toBeUndefined();
  });
});

function nested(depth: number): unknown {
  let schema: unknown = { type: "string" };
  for (let level = 0; level < depth; level += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
}

function circular(): unknown {
  const schema: Record<string, unknown> = { type: "object" };
  schema["properties"] = { a: schema };
  return schema;
}
