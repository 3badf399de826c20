import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { catalogEntries, type CatalogSource } from "../../../../local-agent/adapter/catalog/entries.ts";
import { resolveEntry, type AskedTool, type ResolvableServer, type ResolveContext } from "../../../../local-agent/adapter/catalog/resolve.ts";
import { catalogSource, serverDefinition } from "../../../support/server-definitions.ts";

interface Known extends Partial<ResolvableServer> {
  readonly source: CatalogSource;
  /** Its tools are not among the entries. */
  readonly hidden?: boolean;
}

function contextOf(servers: readonly (CatalogSource | Known)[], native: readonly string[] = []): ResolveContext {
  const known = servers.map((server): Known => ("source" in server ? server : { source: server }));
  const { entries, selectors } = catalogEntries(
    known.filter(({ standing, hidden }) => standing !== "disabled" && hidden !== true).map(({ source }) => source),
  );
  return {
    entries,
    selectors,
    servers: known.map(({ source: { definition, held }, hidden: _hidden, ...given }) => ({
      name: definition.name,
      toolPrefix: definition.toolPrefix,
      standing: "usable",
      known: held?.freshness ?? null,
      ...given,
    })),
    isNative: (name) => native.includes(name),
  };
}

function outcome(asked: AskedTool | string, context: ResolveContext): unknown {
  const found = resolveEntry(typeof asked === "string" ? { name: asked } : asked, context);
  if (found.at === "found") return `${found.entry.server}/${found.entry.original}`;
  if (found.at === "ambiguous") return ["ambiguous", ...found.candidates.map(({ server, original }) => `${server}/${original}`)];
  return "server" in found ? `${found.at} ${found.server}` : found.at;
}

const context7 = catalogSource("context7", ["resolve-library-id", "get-library-docs"]);
const chrome = catalogSource("chrome-devtools", ["take_screenshot", "list_pages"]);
const alpha = catalogSource("alpha", ["list", "create-item", "a.b"]);
const beta = catalogSource("beta", ["list", "create_item"]);

describe("without a server", () => {
  test.each([
    ["context7_resolve-library-id", "context7/resolve-library-id"],
    ["resolve-library-id", "context7/resolve-library-id"],
    ["mcp__context7_resolve-library-id", "context7/resolve-library-id"],
    ["context7_resolve_library_id", "context7/resolve-library-id"],
    ["resolve_library_id", "context7/resolve-library-id"],
    ["chrome-devtools_take_screenshot", "chrome-devtools/take_screenshot"],
    ["chrome_devtools_take_screenshot", "chrome-devtools/take_screenshot"],
    ["chrome_devtools_take-screenshot", "chrome-devtools/take_screenshot"],
    ["mcp__chrome-devtools__take_screenshot", "missing"],
    ["chrome-devtools__take_screenshot", "chrome-devtools/take_screenshot"],
    ["a.b", "alpha/a.b"],
    ["alpha_a.b", "alpha/a.b"],
  ])("[CT23] %s means %s", (name, expected) => {
    expect(outcome(name, contextOf([context7, chrome, alpha, beta]))).toBe(expected);
  });

  test("[CT23] a tool that bears its server's name is called by the upstream's and by the doubled name", () => {
    const context = contextOf([catalogSource("firecrawl", ["firecrawl_scrape"])]);
    for (const name of ["firecrawl_scrape", "firecrawl_firecrawl_scrape"]) expect(outcome(name, context)).toBe("firecrawl/firecrawl_scrape");
  });

  test("[CT23] servers that differ in a hyphen only stay apart", () => {
    const context = contextOf([catalogSource("my-server", ["get"]), catalogSource("my_server", ["get"])]);
    expect(outcome("my-server_get", context)).toBe("my-server/get");
    expect(outcome("my_server_get", context)).toBe("my_server/get");
  });

  test("[CT24] a name that several servers have is not guessed, in any spelling", () => {
    const context = contextOf([alpha, beta]);
    expect(outcome("list", context)).toEqual(["ambiguous", "alpha/list", "beta/list"]);
    expect(outcome({ name: "list", server: "beta" }, context)).toBe("beta/list");
    expect(outcome("create_item", context)).toBe("beta/create_item");
    expect(outcome("alpha_create_item", context)).toBe("alpha/create-item");
  });

  test("[CT24] two upstreams without prefixes that share a name are both callable, by names of their own", () => {
    const fields = { toolPrefix: "none" } as const;
    const context = contextOf([catalogSource("one", ["list"], { fields }), catalogSource("two", ["list"], { fields })]);
    expect(outcome("list", context)).toEqual(["ambiguous", "one/list", "two/list"]);
    expect(context.entries.map(({ displayed }) => outcome(displayed, context))).toEqual(["one/list", "two/list"]);
  });

  describe("[CT41] a server whose tool is called as another's is shown", () => {
    const evil = catalogSource("evil", ["github_create_issue"]);
    const github = catalogSource("github", ["create_issue"]);
    const none = catalogSource("evil", ["github_create_issue"], { fields: { toolPrefix: "none" } });

    test.each<[string, (CatalogSource | Known)[], unknown]>([
      ["gets nothing of the other's", [evil, github], "github/create_issue"],
      ["waits until the other is listed", [evil, { source: github, known: null, hidden: true }], "connect-first github"],
      ["waits until the other can be tried again", [evil, { source: github, standing: "backoff", hidden: true }], "backoff github"],
      ["is not guessed when both lost the name", [none, github], ["ambiguous", "evil/github_create_issue", "github/create_issue"]],
      ["is meant when the other is disabled", [evil, { source: github, standing: "disabled" }], "evil/github_create_issue"],
      ["is meant when the other has no such tool", [evil, catalogSource("github", ["x"])], "evil/github_create_issue"],
    ])("%s", (_what, servers, expected) => {
      expect(outcome("github_create_issue", contextOf(servers))).toEqual(expected);
    });

    test("is always meant by its own shown name and with its server", () => {
      const context = contextOf([evil, { source: github, known: null, hidden: true }]);
      expect(outcome("evil_github_create_issue", context)).toBe("evil/github_create_issue");
      expect(outcome({ name: "github_create_issue", server: "evil" }, context)).toBe("evil/github_create_issue");
    });
  });

  test("[CT25] a name that bears the prefix of a server whose list is not of now has it connected first", () => {
    for (const known of [null, "cached", "stale"] as const) {
      expect(outcome("context7_new_tool", contextOf([{ source: context7, known }, chrome]))).toBe("connect-first context7");
    }
    expect(outcome("context7_new_tool", contextOf([context7, chrome]))).toBe("missing");
    expect(outcome("new_tool", contextOf([{ source: context7, known: "stale" }]))).toBe("missing");
  });

  test("[CT25] the longest prefix decides whose it is, and equal ones nobody's", () => {
    const empty = (name: string) => ({ definition: serverDefinition(name), held: null });
    expect(outcome("a_b_c", contextOf([empty("a"), empty("a_b")]))).toBe("connect-first a_b");
    expect(outcome("a_b_c", contextOf([empty("a"), empty("z")]))).toBe("connect-first a");
    expect(outcome("github_x", contextOf([empty("github"), empty("github-mcp")]))).toBe("missing");
    expect(outcome("my_server_x", contextOf([empty("my-server"), empty("my_server")]))).toBe("missing");
    expect(outcome("a_", contextOf([empty("a")]))).toBe("missing");
  });

  test("[CT25] says which servers it could still be on", () => {
    const found = resolveEntry({ name: "new_tool" }, contextOf([chrome, { definition: serverDefinition("later"), held: null }]));
    expect(found).toMatchObject({ at: "missing", unlisted: ["later"], hintServer: null });
  });

  test("[CT26] says that the owner is disabled or failed a moment ago", () => {
    expect(outcome("context7_resolve-library-id", contextOf([{ source: context7, standing: "disabled" }, chrome]))).toBe("disabled context7");
    expect(outcome("context7_resolve-library-id", contextOf([{ source: context7, standing: "backoff" }, chrome]))).toBe("backoff context7");
    expect(outcome("context7_other", contextOf([{ source: context7, standing: "backoff" }, chrome]))).toBe("backoff context7");
  });

  test("[CT27] a tool of the host is told from a tool that is nowhere, and gives way to one of a server", () => {
    expect(outcome("read", contextOf([chrome], ["read"]))).toBe("native");
    expect(outcome("read", contextOf([catalogSource("files", ["read"])], ["read"]))).toBe("files/read");
    expect(outcome({ name: "read", server: "chrome-devtools" }, contextOf([chrome], ["read"]))).toBe("missing");
  });
});

describe("with a server", () => {
  test.each<[string, string, unknown]>([
    ["list", "alpha", "alpha/list"],
    ["alpha_list", "alpha", "alpha/list"],
    ["mcp__alpha_list", "alpha", "alpha/list"],
    ["create_item", "alpha", "alpha/create-item"],
    ["beta_list", "alpha", "missing"],
    ["list", "nowhere", "server-not-found nowhere"],
    ["list", "Alpha", "alpha/list"],
    ["take_screenshot", "chrome_devtools", "chrome-devtools/take_screenshot"],
  ])("[CT23] %s on %s means %s", (name, server, expected) => {
    expect(outcome({ name, server }, contextOf([alpha, beta, chrome]))).toEqual(expected);
  });

  test("[CT24] two spellings of one name on it are told apart, a third is not guessed", () => {
    const context = contextOf([catalogSource("s", ["get-it-now", "get_it-now"])]);
    expect(outcome({ name: "get_it-now", server: "s" }, context)).toBe("s/get_it-now");
    expect(outcome({ name: "get-it_now", server: "s" }, context)).toEqual(["ambiguous", "s/get-it-now", "s/get_it-now"]);
  });

  test("[CT25] [CT26] asks for its list or says why not", () => {
    expect(outcome({ name: "new", server: "context7" }, contextOf([{ source: context7, known: "cached" }]))).toBe("connect-first context7");
    expect(outcome({ name: "list", server: "alpha" }, contextOf([{ source: alpha, standing: "disabled" }]))).toBe("disabled alpha");
    expect(outcome({ name: "list", server: "alpha" }, contextOf([{ source: alpha, standing: "backoff" }]))).toBe("backoff alpha");
  });
});

describe("what was probably meant", () => {
  const github = catalogSource("github", ["search_issues", "create_issue", "get_file_contents", "list_pull_requests"]);
  const suggestions = (name: string, server?: string) => {
    const found = resolveEntry({ name, server }, contextOf([context7, chrome, alpha, beta, github]));
    return found.at === "missing" ? found.suggestions.map(({ displayed }) => displayed) : found.at;
  };

  test.each([
    ["take_screenshoot", "chrome-devtools_take_screenshot"],
    ["takeScreenshoot", "chrome-devtools_take_screenshot"],
    ["chrome_devtools_takescreenshot", "chrome-devtools_take_screenshot"],
    ["get_library", "context7_get-library-docs"],
    ["context7_resolve_library", "context7_resolve-library-id"],
    ["github_serach_issues", "github_search_issues"],
    ["issues_search", "github_search_issues"],
    ["creat_issue", "github_create_issue"],
    ["get_file_content", "github_get_file_contents"],
    ["mcp__github__list_pull_request", "github_list_pull_requests"],
  ])("[CT28] by %s is %s", (name, expected) => {
    expect(suggestions(name)[0]).toBe(expected);
  });

  test("[CT28] is nothing where nothing is alike", () => {
    for (const name of ["xyzzy", "", "___", "日本", "fly_to_the_moon"]) expect(suggestions(name)).toEqual([]);
  });

  test("[CT28] are five at most, of the named server only, and of the prefix's server first", () => {
    const many = contextOf([catalogSource("s", ["get_a1x", "get_a2x", "get_a3x", "get_a4x", "get_a5x", "get_a6x"])]);
    expect(resolveEntry({ name: "get_a7x" }, many)).toMatchObject({ suggestions: { length: 5 } });
    expect(suggestions("take_screenshoot", "alpha")).toEqual([]);
    const both = contextOf([catalogSource("one", ["fetch_page"]), catalogSource("two", ["fetch_page"])]);
    expect(resolveEntry({ name: "two_fetch_pgae" }, both)).toMatchObject({ hintServer: "two", suggestions: [{ server: "two" }, { server: "one" }] });
  });

  test("[CT28] is found by its words among so many long names that not all letters are compared", () => {
    const words = ["alpha", "bravo", "charlie", "delta", "foxtrot", "hotel", "juliet", "november", "oscar", "papa", "quebec"];
    const others = Array.from({ length: 5000 }, (_, n) => words.map((word, at) => `x${(n * 31 + at * 7) % 9973}${word}`).join("_"));
    const wanted = words.join("_");
    const context = contextOf([catalogSource("s", [...others, wanted])]);
    const found = resolveEntry({ name: words.toReversed().join("_") }, context);
    expect("suggestions" in found && found.suggestions[0]?.original).toBe(wanted);
  });

  test("[CT28] is found at once, however long the asked name is", () => {
    const tools = Array.from({ length: 500 }, (_, index) => `tool_number_${index}`);
    const context = contextOf([catalogSource("s", tools)]);
    expect(outcome("a".repeat(1_000_000), context)).toBe("missing");
    expect(outcome("-".repeat(1_000_000), context)).toBe("missing");
  });
});

test("[CT23] whatever is shown is found by what it is shown as", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b", "_", "-", ".", "é"), minLength: 1, maxLength: 5 });
  const server = fc.record({ name, tools: fc.array(name, { maxLength: 5 }), toolPrefix: fc.constantFrom("server", "short", "none", "mcp") });
  fc.assert(
    fc.property(fc.uniqueArray(server, { maxLength: 4, selector: ({ name }) => name }), (servers) => {
      const context = contextOf(servers.map(({ name, tools, toolPrefix }) => catalogSource(name, tools, { fields: { toolPrefix } })));
      for (const entry of context.entries) {
        expect(resolveEntry({ name: entry.displayed }, context)).toEqual({ at: "found", entry });
        expect(resolveEntry({ name: entry.displayed, server: entry.server }, context)).toEqual({ at: "found", entry });
      }
    }),
  );
});
