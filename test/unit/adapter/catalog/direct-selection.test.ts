import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { namespaceProxies, parseDirectOverride, selectDirect, type DirectChoice } from "../../../../local-agent/adapter/catalog/direct-selection.ts";
import { catalogEntries, type CatalogSource } from "../../../../local-agent/adapter/catalog/entries.ts";
import type { DirectTools } from "../../../../local-agent/adapter/config/server-definition.ts";
import { catalogSource, serverDefinition } from "../../../support/server-definitions.ts";

const RESOURCES = [{ uri: "file:///doc", name: "doc" }];
const direct = (name: string, tools: readonly string[], directTools: DirectTools) =>
  catalogSource(name, tools, { resources: RESOURCES, fields: { directTools } });

function choiceOf(sources: readonly CatalogSource[], fields: Partial<DirectChoice> = {}): DirectChoice {
  const { entries, selectors } = catalogEntries(sources);
  const servers = sources.map(({ definition: { name, directTools }, held }) => ({ name, directTools, isListed: held !== null }));
  return { servers, entries, selectors, override: null, isReserved: () => false, ...fields };
}

const select = (sources: readonly CatalogSource[], fields?: Partial<DirectChoice>) => {
  const { tools, awaited, warnings } = selectDirect(choiceOf(sources, fields));
  return { names: tools.map(({ entry, shown }) => (shown ? entry.displayed : `(${entry.displayed})`)), awaited, warnings };
};

describe("tools offered by their own names", () => {
  test.each<[DirectTools, string[]]>([
    [true, ["s_a", "s_b-c", "s_read_doc"]],
    [false, []],
    [[], []],
    [
      ["a", "read_doc"],
      ["s_a", "s_read_doc"],
    ],
    [
      ["s_a", "b_c"],
      ["s_a", "s_b-c"],
    ],
    ["search", ["(s_a)", "(s_b-c)", "(s_read_doc)"]],
  ])("[CT34] with %j are %j", (directTools, expected) => {
    expect(select([direct("s", ["a", "b-c"], directTools), direct("other", ["x"], false)])).toEqual({ names: expected, awaited: [], warnings: [] });
  });

  test("[CT34] are awaited of a server of which nothing is known", () => {
    const unlisted = { definition: serverDefinition("later", { directTools: true }), held: null };
    expect(select([unlisted, direct("s", ["a"], ["a"])])).toEqual({ names: ["s_a"], awaited: ["later"], warnings: [] });
  });

  test("[CT34] are named in a warning when the server has none of that name", () => {
    expect(select([direct("s", ["a"], ["a", "gone\u202e"])]).warnings).toEqual([
      { server: "s", message: 'No tool of it is "gone‹U+202E›", which is to be offered directly.' },
    ]);
  });

  test.each(["read", "bash", "edit", "write", "grep", "find", "ls", "mcp", "mcpScript", "human_ask"])("[CT35] are never called %s", (name) => {
    const source = catalogSource("s", [name, "other"], { fields: { directTools: true, toolPrefix: "none" } });
    const { names, warnings } = select([source], { isReserved: (name) => name.startsWith("human_") });
    expect(names).toEqual(["other"]);
    expect(warnings).toEqual([expect.objectContaining({ server: "s" })]);
  });

  test("[CT35] have at most 64 characters", () => {
    const { names, warnings } = select([direct("s", ["x".repeat(62), "x".repeat(63)], true)]);
    expect(names).toEqual([`s_${"x".repeat(62)}`, "s_read_doc"]);
    expect(warnings).toHaveLength(1);
  });

  test("[CT35] of two servers that share a name are distinct", () => {
    const fields = { directTools: true, toolPrefix: "none" } as const;
    expect(select([catalogSource("a", ["list"], { fields }), catalogSource("b", ["list"], { fields })]).names).toEqual(["a_list", "b_list"]);
  });
});

describe("MCP_DIRECT_TOOLS", () => {
  test.each<[string | undefined, Record<string, unknown> | null]>([
    [undefined, null],
    ["", null],
    [" , ", null],
    ["__none__", {}],
    ["a", { a: "all" }],
    ["a/t, a/u ,b", { a: ["t", "u"], b: "all" }],
    ["a/t,a", { a: "all" }],
    ["a,a/t", { a: "all" }],
    ["a/", { a: "all" }],
    ["/t", {}],
    ["a/x/y", { a: ["x/y"] }],
  ])("[CT36] %j is %j", (text, expected) => {
    const read = parseDirectOverride(text);
    expect(read === null ? null : Object.fromEntries(read)).toEqual(expected);
  });

  test("[CT36] takes the place of what is configured", () => {
    const sources = [direct("s", ["a", "b"], "search"), direct("t", ["c"], true)];
    expect(select(sources, { override: parseDirectOverride("s/b,s/read_doc") }).names).toEqual(["s_b", "s_read_doc"]);
    expect(select(sources, { override: parseDirectOverride("s") }).names).toEqual(["s_a", "s_b", "s_read_doc"]);
    expect(select(sources, { override: parseDirectOverride("__none__") }).names).toEqual([]);
  });

  test("[CT36] says loudly what it finds nothing for", () => {
    const sources = [direct("s", ["a"], true), catalogSource("empty", [])];
    const { warnings } = select(sources, { override: parseDirectOverride("s/gone,empty,nowhere") });
    expect(warnings.map(({ server }) => server)).toEqual(["nowhere", "s", "empty"]);
  });
});

describe("a tool for a whole server", () => {
  const options = { sha256: (text: string) => createHash("sha256").update(text).digest("hex"), isReserved: (name: string) => name === "mcp__taken" };
  const proxies = (sources: readonly CatalogSource[]) => {
    const choice = choiceOf(sources);
    return namespaceProxies(choice.entries, selectDirect(choice).tools, options);
  };

  test("[CT37] is for servers with known tools that are not all shown by their own names", () => {
    const unlisted = { definition: serverDefinition("later"), held: null };
    const sources = [
      direct("all", ["a"], true),
      direct("some", ["a"], ["a"]),
      direct("none-of", ["a"], false),
      direct("found", ["a"], "search"),
      unlisted,
    ];
    expect(proxies(sources)).toEqual([
      { name: "mcp__some", server: "some" },
      { name: "mcp__none_of", server: "none-of" },
      { name: "mcp__found", server: "found" },
    ]);
  });

  test("[CT37] takes nobody's name", () => {
    const fields = { directTools: true, toolPrefix: "mcp" } as const;
    const sources = [
      direct("a-b", ["x"], false),
      direct("a_b", ["x"], false),
      direct("taken", ["x"], false),
      catalogSource("c", ["d"], { fields }),
      direct("c_d", ["x"], false),
    ];
    expect(proxies(sources)).toEqual([]);
  });
});
