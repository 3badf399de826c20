import { describe, expect, test } from "vitest";
import type { ProjectTrust } from "../../../../local-agent/adapter/ports.ts";
import type { PlayedServer } from "../../../support/adapter-under-test.ts";
import { adapterUnderTest, remote, textOf } from "../../../support/adapter-under-test.ts";
import { memoryMetadataStore } from "../../../support/memory-metadata-store.ts";
import { upstreamCatalog } from "../../../support/server-definitions.ts";
import { waitUntil } from "../../../support/wait-until.ts";

const denial = (text: string) => ({ content: [{ type: "text" as const, text }], isError: true });

const shots: PlayedServer = {
  tools: {
    take_screenshot: { description: "Takes a picture of the page", inputSchema: { type: "object", properties: { full: { type: "boolean" } } } },
    "resize-page": { description: "Changes the size" },
  },
  instructions: `Take a snapshot first.\n${"More to know. ".repeat(60)}`,
};

async function connected(servers: Record<string, PlayedServer>, scene: Parameters<typeof adapterUnderTest>[1] = {}) {
  const under = await adapterUnderTest(servers, scene);
  for (const [name, { down, state }] of Object.entries(servers)) if (down === undefined && state === undefined) await under.mcp({ connect: name });
  return under;
}

describe("mcp({})", () => {
  test("[CL52] says how each server stands, disabled and failed ones too", async () => {
    const under = await connected({ shots, down: { tools: {}, down: "no such program" }, off: { tools: {}, state: "disabled" } });
    await under.mcp({ connect: "down" });
    under.clock.set(under.clock.now() + 5_000);
    const status = await under.mcp({});
    expect(textOf(status)).toBe(
      '3 servers (1 connected), 2 tools.\n"shots": connected, 2 tools\n"down": failed 5 s ago: no such program\n"off": disabled\n\n' +
        'mcp({search: "what you need"}) finds tools. mcp({connect: "name"}) connects one now and lists its tools.',
    );
    expect(status).toMatchObject({
      isError: false,
      details: { mode: "status", totalTools: 2, connectedCount: 1, disabledCount: 1, directToolsFrozen: false },
    });
    expect(status.details["servers"]).toMatchObject([
      { name: "shots", status: "connected", toolCount: 2, resourceCount: 0 },
      { name: "down", status: "failed", failedAgo: 5 },
      { name: "off", status: "disabled", disabled: true },
    ]);
  });
});

describe("mcp({server})", () => {
  test("[CL53] lists the server's tools with a preview of its instructions", async () => {
    const under = await connected({ shots });
    const list = await under.mcp({ server: "shots" });
    expect(textOf(list)).toMatch(
      /^"shots" \(connected\): 2 tools\nshots_take_screenshot - Takes a picture of the page\nshots_resize-page - Changes the size\n\nInstructions: Take a snapshot first\. More/,
    );
    expect(textOf(list).length).toBeLessThan(700);
    expect(textOf(list)).toContain('mcp({instructions: "shots"})');
    expect(list.details).toMatchObject({ mode: "list", tools: ["shots_take_screenshot", "shots_resize-page"], count: 2, hasInstructions: true });
  });

  test("[CL53] [CL68] needs no connection for what is known, and marks an old list until it is made anew", async () => {
    const metadata = memoryMetadataStore();
    const first = await connected({ shots }, { metadata });
    await first.adapter.close();
    const kept = (await metadata.read()).get("shots");
    await metadata.write("shots", { configHash: kept?.configHash ?? "", catalog: { ...upstreamCatalog(), ...kept?.catalog, ttlMs: 0 } });
    const under = await adapterUnderTest({ shots }, { metadata });
    const list = await under.mcp({ server: "shots" });
    expect(textOf(list)).toContain("(an old list; it is made anew when it connects): 2 tools");
    expect(list.details).toMatchObject({ cached: true, stale: true });
    expect(textOf(await under.mcp({}))).toContain('"shots": connects when it is used, 2 tools (an old list)');
    const old = "rom an old list, which a call makes anew";
    expect(textOf(await under.mcp({ search: "screenshot" }))).toMatch(new RegExp(`shots_take_screenshot[^]*\\nF${old}: "shots"\\.$`));
    expect(textOf(await under.mcp({ describe: "shots_take_screenshot" }))).toContain(`Server: "shots" (f${old})`);
    await under.mcp({ connect: "shots" });
    expect(textOf(await under.mcp({ search: "screenshot" }))).not.toContain(old);
    expect(textOf(await under.mcp({ describe: "shots_take_screenshot" }))).not.toContain(old);
  });

  test("[CL53] says what to do when nothing is known", async () => {
    const metadata = memoryMetadataStore([["other", { configHash: "", catalog: upstreamCatalog() }]]);
    const under = await adapterUnderTest({ shots }, { metadata });
    for (const [args, code] of [
      [{ server: "shots" }, "not_connected"],
      [{ instructions: "shots" }, "not_connected"],
      [{ server: "shot" }, "not_found"],
    ] as const) {
      const result = await under.mcp(args);
      expect(result).toMatchObject({ isError: true, details: { error: code } });
    }
    expect(textOf(await under.mcp({ server: "shots" }))).toContain('mcp({connect: "shots"}) lists them');
    expect(textOf(await under.mcp({ search: "screenshot" }))).toContain('Not looked into yet: "shots"');
  });
});

describe("mcp({describe})", () => {
  test("[CL54] tells everything of a tool, also by another spelling of its name", async () => {
    const hinted = { ...shots.tools["take_screenshot"], annotations: { readOnlyHint: true } };
    const under = await connected({ shots: { ...shots, tools: { take_screenshot: hinted }, definition: { approveTools: true } } });
    const described = await under.mcp({ describe: "shots_take-screenshot" });
    expect(textOf(described)).toBe(
      'shots_take_screenshot (requires approval)\nServer: "shots"\n\nTakes a picture of the page\n\nShape:\n  { full?: boolean; }\n\nThe server says of it: only reads.',
    );
    expect(described.details).toEqual({ mode: "describe", tool: "shots_take_screenshot", server: "shots" });
  });

  test("[CL72] suggests what may be meant", async () => {
    const under = await connected({ shots });
    const missed = await under.mcp({ describe: "take_screenshoot" });
    expect(textOf(missed)).toContain("Did you mean:\n- shots_take_screenshot - Takes");
    expect(missed).toMatchObject({ isError: true, details: { error: "tool_not_found", suggestions: ["shots_take_screenshot"] } });
  });
});

describe("mcp({instructions})", () => {
  test("[CL55] gives them whole", async () => {
    const under = await connected({ shots });
    const said = await under.mcp({ instructions: "shots" });
    expect(textOf(said)).toBe(shots.instructions);
    expect(said.details).toEqual({ mode: "instructions", server: "shots", length: shots.instructions?.length });
  });

  test("[CL55] writes out what hides in them", async () => {
    const under = await connected({ shots: { ...shots, instructions: "Be kind.\u202e\u{e0041}\u001b[2J" } });
    for (const args of [{ instructions: "shots" }, { server: "shots" }]) {
      expect(textOf(await under.mcp(args))).toContain("Be kind.‹U+202E›‹U+E0041›␛[2J");
    }
  });
});

describe("mcp({search})", () => {
  test("[CL62] finds by words, a page at a time, with the parameters unless told otherwise", async () => {
    const under = await connected({ shots });
    const found = await under.mcp({ search: "screenshot", includeSchemas: true });
    expect(textOf(found)).toBe("1 tool:\nshots_take_screenshot - Takes a picture of the page\n  { full?: boolean; }");
    expect(found.details).toMatchObject({
      matches: [{ server: "shots", tool: "shots_take_screenshot" }],
      count: 1,
      hasMore: false,
      nextOffset: null,
    });
    expect(textOf(await under.mcp({ search: "screenshot", includeSchemas: false }))).not.toContain("full");
    const page = await under.mcp({ search: "", server: "shots", limit: 1 });
    expect(page.details).toMatchObject({ count: 1, total: 2, hasMore: true, nextOffset: 1 });
    expect(textOf(page)).toContain("1 of 2 tools:");
    expect(textOf(page)).toContain("More: offset 1.");
    expect(textOf(await under.mcp({ search: "", server: "shots", offset: 5 }))).toContain("There are 2 tools in all, and none from offset 5 on.");
  });

  test("[CL62] finds by a pattern, and in other scripts", async () => {
    const under = await connected({ shots: { tools: { ...shots.tools, web: { description: "网页截图" } } } });
    expect((await under.mcp({ search: "^shots_re", regex: true })).details["matches"]).toMatchObject([{ tool: "shots_resize-page" }]);
    expect((await under.mcp({ search: "截图" })).details["matches"]).toMatchObject([{ tool: "shots_web" }]);
  });

  test("[CL63] shows no more of one tool's parameters than leaves room for the others", async () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`parameter${n}`, { type: "string", description: "d".repeat(50) }]));
    const under = await connected({ shots: { tools: { ...shots.tools, screenshot_all: { inputSchema: { type: "object", properties } } } } });
    const found = await under.mcp({ search: "screenshot" });
    expect(textOf(found)).toContain('(many parameters: mcp({describe: "shots_screenshot_all"}))');
    expect(textOf(found)).toContain("{ full?: boolean; }");
    expect(textOf(await under.mcp({ describe: "shots_screenshot_all" }))).toContain("parameter99");
  });

  test("[CL60] leaves out a server that failed a moment ago, and says so", async () => {
    const played: PlayedServer = { ...shots };
    const under = await connected({ shots: played });
    await under.adapter.pool.disconnect("shots");
    played.down = "no such program";
    await under.mcp({ connect: "shots" });
    const found = await under.mcp({ search: "screenshot" });
    expect(found.details["matches"]).toEqual([]);
    expect(textOf(found)).toContain('failed a moment ago: "shots"');
    expect(textOf(await under.mcp({ tool: "shots_take_screenshot" }))).toMatch(/"shots" failed 0 s ago/);
    expect((await under.mcp({ search: "", server: "shots" })).details["error"]).toBe("server_backoff");
    under.clock.set(under.clock.now() + 61_000);
    expect((await under.mcp({ search: "screenshot" })).details["count"]).toBe(1);
  });

  describe("with tools of the host", () => {
    const hostTools = () => [
      { name: "screenshot", description: "Takes a screenshot of the desktop" },
      { name: "bash", description: "Runs a command" },
      ...Array.from({ length: 9 }, (_, index) => ({ name: `deploy_${index}`, description: "Deploys" })),
    ];
    const withHost = () => connected({ shots }, { host: { isNative: () => false, hostTools } });

    test.each([{ search: "screenshot" }, { search: "take_?screen|^screen", regex: true }])(
      "[CL56] names those that match first: %j",
      async (asked) => {
        const under = await withHost();
        const found = await under.mcp(asked);
        expect(textOf(found)).toMatch(/^\[pi tool\] screenshot - Takes a screenshot of the desktop\n1 tool:\nshots_take_screenshot/);
        expect(found.details).toMatchObject({ count: 1, total: 1, hostTools: ["screenshot"] });
      },
    );

    test("[CL56] names five at most, on the first page, and says when nothing else was found", async () => {
      const under = await withHost();
      const found = textOf(await under.mcp({ search: "deploy" }));
      expect(found.match(/^\[pi tool\] deploy_\d/gm)).toHaveLength(5);
      expect(found).toContain('No MCP tool was found for "deploy"');
      expect(textOf(await under.mcp({ search: "deploy", offset: 5 }))).not.toContain("[pi tool]");
    });

    test("[CL56] leaves them out within a server and for a remote client", async () => {
      const under = await withHost();
      expect(textOf(await under.mcp({ search: "screenshot", server: "shots" }))).not.toContain("[pi tool]");
      expect(textOf(await under.mcp({ search: "screenshot" }, { caller: remote("someone") }))).not.toContain("[pi tool]");
    });
  });

  test("[CL61] says which servers are still connecting when nothing is found", async () => {
    const opening = Promise.withResolvers<void>();
    const under = await adapterUnderTest({ shots: { ...shots, opening: opening.promise } });
    const none = await under.mcp({ search: "screenshot" });
    expect(textOf(none)).toMatch(/No tool was found[^]*Still connecting, search again in a moment: "shots"/);
    expect(none.details["connectingServers"]).toEqual(["shots"]);
    opening.resolve();
    await waitUntil("it is found", async () => (await under.mcp({ search: "screenshot" })).details["count"] === 1);
  });

  test("[CL64] and every other way to a tool know nothing of what the configuration leaves out", async () => {
    const under = await connected({ shots: { ...shots, definition: { excludeTools: ["take_*"] } } });
    expect((await under.mcp({ search: "screenshot" })).details["count"]).toBe(0);
    expect(textOf(await under.mcp({ server: "shots" }))).not.toContain("screenshot -");
    for (const args of [{ describe: "shots_take_screenshot" }, { tool: "shots_take_screenshot" }, { tool: "take_screenshot", server: "shots" }]) {
      expect((await under.mcp(args)).details["error"]).toMatch(/^tool_not_found/);
    }
    expect(under.received).toEqual([]);
  });
});

describe("mcp({connect})", () => {
  test("[CL65] lists anew what is connected, and names what is new", async () => {
    const played: PlayedServer = { tools: { old: {} } };
    const under = await connected({ box: played });
    played.tools = { new: {} };
    const again = await under.mcp({ connect: "box" });
    expect(again.details).toMatchObject({ mode: "connect", tools: ["box_new"], addedTools: ["box_new"] });
    expect(textOf(await under.mcp({ tool: "box_new" }))).toBe("ran new");
    expect((await under.mcp({ tool: "box_old" })).isError).toBe(true);
  });

  test("[CL65] keeps the connection that works when the new one does not", async () => {
    const played: PlayedServer = { tools: { old: {} } };
    const under = await connected({ box: played });
    played.down = "no such program";
    expect(await under.mcp({ connect: "box" })).toMatchObject({ isError: true, details: { error: "connect_failed" } });
    expect(textOf(await under.mcp({ tool: "box_old" }))).toBe("ran old");
  });
});

describe("a tool's name", () => {
  test("[UP78] that its server denies has the server listed anew, also when the denial is a failed call", async () => {
    const played: PlayedServer = { tools: { before: { run: () => denial("Tool before not found") } } };
    const under = await connected({ box: played });
    played.tools["after"] = {};
    expect(await under.mcp({ tool: "box_before" })).toMatchObject({ isError: true });
    await waitUntil("it was listed", async () => textOf(await under.mcp({ server: "box" })).includes("box_after"), 5000);
  });

  test("[CL70] is looked for on its server, connected for it, before it is said not to exist", async () => {
    const metadata = memoryMetadataStore([["other", { configHash: "", catalog: upstreamCatalog() }]]);
    const under = await adapterUnderTest({ shots }, { metadata });
    expect(textOf(await under.mcp({ tool: "shots_take_screenshot" }))).toBe("ran take_screenshot");
    const later = await adapterUnderTest({ shots }, { metadata });
    const missing = await later.mcp({ tool: "shots_nothing_like_it" });
    expect(missing.details["error"]).toBe("tool_not_found_after_reconnect");
    expect(textOf(missing)).toContain('"shots" was asked for its tools just now');
  });

  test("[CL70] is looked for anew on a connected server, which may have been replaced without a word", async () => {
    const played: PlayedServer = { tools: { before: {} } };
    const under = await connected({ box: played });
    played.tools = { after: {} };
    expect(textOf(await under.mcp({ tool: "box_after" }))).toContain('No tool "box_after" was found on "box"');
    under.clock.set(under.clock.now() + 1_000);
    expect(textOf(await under.mcp({ tool: "box_after" }))).toBe("ran after");
    expect(textOf(await under.mcp({ server: "box" }))).not.toContain("box_before");
  });

  test("[CL71] that several servers have is not guessed; the server beside it decides", async () => {
    const under = await connected({ a: { tools: { list: {} } }, b: { tools: { list: {} } } });
    expect(await under.mcp({ tool: "list" })).toMatchObject({
      isError: true,
      details: { error: "ambiguous_tool", candidates: ["a_list", "b_list"] },
    });
    expect(textOf(await under.mcp({ tool: "list", server: "b" }))).toBe("ran list");
    expect(under.received).toEqual([{ server: "b", tool: "list", args: {} }]);
  });

  test("[CL71] is the one a server gives it, without a doubled prefix, and stays apart from its look-alikes", async () => {
    const under = await connected({
      firecrawl: { tools: { firecrawl_scrape: {} } },
      "my-server": { tools: { get: {} } },
      my_server: { tools: { get: {} } },
    });
    const names = under.adapter.entries().map(({ displayed }) => displayed);
    expect(names).toEqual(["firecrawl_scrape", "my-server_get", "my_server_get"]);
    for (const tool of names) await under.mcp({ tool });
    expect(under.received.map(({ server }) => server)).toEqual(["firecrawl", "my-server", "my_server"]);
  });
});

test("[CL51] fields inside args are an error with advice, never the status", async () => {
  const under = await connected({ shots });
  const result = await under.mcp({ args: '{"search":"x"}' });
  expect(textOf(result)).toBe('"search" must stand at the top level, not inside "args": mcp({search: "x"}).');
  expect(result).toMatchObject({ isError: true, details: { error: "invalid_request" } });
});

test.each([
  ["ui-messages", false, /windows of MCP servers are not shown/],
  ["auth-start", true, /not possible here yet/],
  ["auth-complete", true, /not possible here yet/],
  ["install", true, /The person adds them to \.mcp\.json/],
  ["dance", true, /There is no action "dance"/],
])("[CL66] the action %s is answered with a sentence", async (action, isError, said) => {
  const under = await adapterUnderTest({ shots });
  const result = await under.mcp({ action });
  expect(result.isError).toBe(isError);
  expect(textOf(result)).toMatch(said);
});

test("[CL67] a server that only the project's files want is used after somebody allowed it, and said to wait for that until then", async () => {
  const answers = [false, true];
  const asked: (string | null)[] = [];
  let known: "unasked" | "denied" | "allowed" = "unasked";
  const trust: ProjectTrust = {
    known: () => known,
    ask: ({ server }) => {
      asked.push(server);
      const isAllowed = answers.shift() ?? false;
      known = isAllowed ? "allowed" : "denied";
      return Promise.resolve(isAllowed);
    },
  };
  const under = await adapterUnderTest({ shots: { ...shots, definition: { projectText: '{"command":"shots"}' } } }, { ports: { trust } });
  expect(asked).toEqual([]);
  expect(textOf(await under.mcp({}))).toContain('"shots": not allowed yet: A file of this project configures it');
  const refused = await under.mcp({ connect: "shots" });
  expect(refused).toMatchObject({ isError: true, details: { error: "server_untrusted" } });
  expect(textOf(refused)).toMatch(/project/);
  known = "unasked";
  expect(textOf(await under.mcp({ tool: "shots_take_screenshot" }))).toBe("ran take_screenshot");
  expect(asked).toEqual(["shots", "shots"]);
});
