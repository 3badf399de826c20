/**
 * What people reported about MCP adapters and proxies, as tests through the relay: one agent with all of these servers, remote clients
 * that see nothing but texts. Ids of reports are plain (A…, D…, 5.x.n), those of our rules stand in brackets.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, callTool, send, type CallResult } from "../support/agent-requests.ts";
import { personAt, type Person } from "../support/person.ts";
import { commandLine, startPimcp, type Home, type Pimcp } from "../support/pimcp.ts";
import { agentPlugin, BIG_TEXT, cachedPackage, homeOf, KNOWN_BEFORE, SHAPES } from "../support/reported-home.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { said } from "../support/small-upstream.ts";
import { FarmServer, refusal, type FarmOptions } from "../support/upstream-farm.ts";
import { fixtureEntry, mcpJson, type ServerEntry } from "../support/upstream-files.ts";
import { readJournal } from "../support/upstream-fixture.ts";
import { waitUntil } from "../support/wait-until.ts";

const farms: FarmServer[] = [];
let home: Home;
let agent: Pimcp;
let person: Person;
let toolsAtFirst: readonly Offered[];
let slowConnect: Promise<CallResult>;
let servers: Awaited<ReturnType<typeof startServers>>;

const textOf = ({ content }: CallResult): string => content.map((block) => block.text ?? `[${block.mimeType}]`).join("\n");
const mcp = async (args: Record<string, unknown>): Promise<CallResult> => callTool(agent, "mcp", args);
const say = async (args: Record<string, unknown>): Promise<string> => textOf(await mcp(args));
const call = (tool: string, args: Record<string, unknown> = {}): Promise<string> => say({ tool, args });

interface Offered {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
}
const offered = async (): Promise<readonly Offered[]> =>
  (await ask(agent, { id: "list", method: "tools/list", params: {} })).result?.["tools"] as readonly Offered[];
const toolNames = async (): Promise<string[]> => (await offered()).map(({ name }) => name);

async function farm(tools: FarmServer["tools"], options: FarmOptions = {}): Promise<FarmServer> {
  const server = await FarmServer.start(tools, options);
  farms.push(server);
  return server;
}

async function answering(answer: () => Response): Promise<FarmServer> {
  const server = await farm({});
  server.refuse = answer;
  return server;
}

const counting = (): FarmServer["tools"] => {
  let count = 0;
  return { count: { description: "Counts its calls.", run: () => said(`call ${(count += 1)}`) } };
};

async function startServers() {
  const named = (name: string) => farm({ get: { description: `Gets from ${name}.`, run: () => said(`from ${name}`) } });
  return {
    shapes: await farm(SHAPES),
    twins: [await named("my-server"), await named("my_server"), await named("my server")] as const,
    firecrawl: await farm({ firecrawl_scrape: { description: "Scrapes a page.", run: () => said("scraped") } }),
    stale: { code404: await farm(counting()), code32000: await farm(counting()), words: await farm(counting()), other: await farm(counting()) },
    replaced: await farm({ before: { description: "Of the old version." } }),
    changing: await farm({ first: { description: "Is there from the start." } }),
    slow: await farm({ patience: {} }),
    outage: await farm({ echo: SHAPES["echo"]! }),
    empty: await farm(counting()),
    down: await farm({ hello: {} }),
    busy: await farm({ work: { description: "Works for somebody." } }),
    moved: await farm({ secret: { run: () => said("here") } }),
    elsewhere: await farm({ secret: { run: () => said("there") } }),
    renewing: await farm({ hello: {} }),
    postOnly: await farm({ hello: {} }),
    asking: await farm({
      confirm: {
        run: async (_args, _context, server) => {
          const answer = await server.elicitInput({ message: "Really go on?", requestedSchema: { type: "object", properties: {} } });
          return said(`the person said ${answer.action}`);
        },
      },
      think: {
        run: async (_args, _context, server) => {
          const asked = { messages: [{ role: "user" as const, content: { type: "text" as const, text: "hm?" } }], maxTokens: 5 };
          return said(JSON.stringify(await server.createMessage(asked)));
        },
      },
    }),
    modern: await farm({ found_later: { description: "Finds what was kept of it." } }, { era: "modern" }),
    unavailable: await answering(() => new Response("busy", { status: 503 })),
    accepting: await answering(() => new Response(null, { status: 202 })),
    locked: await answering(() => new Response("who are you?", { status: 401, headers: { "www-authenticate": "Bearer" } })),
    page: await answering(() => new Response("<!doctype html><title>Welcome</title>", { headers: { "content-type": "text/html" } })),
  };
}

/** Tells of the session it does not know in these words, once. */
function refuseOnce(server: FarmServer, answer: () => Response): void {
  server.refuse = ({ method }) => {
    if (method !== "tools/call") return null;
    server.refuse = () => null;
    return answer();
  };
}

const at = ({ url }: FarmServer, more: Record<string, unknown> = {}): ServerEntry => ({ url, ...more });

function entries(root: string): Record<string, ServerEntry> {
  const { shapes, twins, stale } = servers;
  const good = fixtureEntry("good", ["--journal", join(root, "../journal")]);
  const wrapped = `"${[good.command, ...(good.args ?? [])].join('" "')}"; exit $?`;
  const direct = ["items", "either", "pong"];
  return {
    good: { command: "sh", args: ["-c", wrapped], lifecycle: "eager" },
    shapes: at(shapes, { directTools: direct, approveTools: ["guarded"] }),
    filtered: at(shapes, { includeTools: ["echo", "hidden*"], excludeTools: ["hidden*"] }),
    hasty: at(shapes, { requestTimeoutMs: 1500, includeTools: ["sleep"] }),
    patient: at(shapes, { requestTimeoutMs: 20_000, includeTools: ["sleep"] }),
    "my-server": at(twins[0]),
    my_server: at(twins[1]),
    "my server": at(twins[2]),
    firecrawl: at(servers.firecrawl),
    stale404: at(stale.code404),
    stale32000: at(stale.code32000),
    stalewords: at(stale.words),
    other400: at(stale.other),
    replaced: at(servers.replaced),
    changing: at(servers.changing, { directTools: true }),
    slow: at(servers.slow),
    outage: at(servers.outage),
    empty: at(servers.empty, { requestTimeoutMs: 2000 }),
    moved: at(servers.moved, { headers: { Authorization: "Bearer global-secret" } }),
    partial: at(servers.moved, { headers: { "x-kept": "yes" } }),
    renewing: at(servers.renewing, { auth: "bearer", bearerToken: `!cat ${join(root, "../token-of-now")}` }),
    post_only: at(servers.postOnly),
    asking: at(servers.asking),
    modern: at(servers.modern, { protocolVersion: "auto", directTools: true }),
    unavailable: at(servers.unavailable),
    accepting: at(servers.accepting),
    locked: at(servers.locked),
    page: at(servers.page),
    down: at(servers.down, { lifecycle: "eager" }),
    busy: at(servers.busy),
    unset: { url: "http://127.0.0.1:${REPORTED_NOT_SET}/mcp" },
    filled: { url: "${REPORTED_URL}", headers: { "x-filled": "${REPORTED_HEADER}" }, auth: "bearer", bearerToken: "${REPORTED_TOKEN}" },
    dying: fixtureEntry("dying", ["--at", "start", "--says", "reading the settings\nno database at /nowhere"]),
    nowhere: fixtureEntry("good", [], { cwd: join(root, "gone") }),
    versioned: { command: "npx", args: ["-y", "reported-pkg@1.2.3"] },
    huge: fixtureEntry("huge-line"),
    off: at(shapes, { disabled: true }),
    neither: { args: ["no command and no url"] },
  };
}

const ENV = (): NodeJS.ProcessEnv => ({ REPORTED_URL: servers.moved.url, REPORTED_HEADER: "filled in", REPORTED_TOKEN: "t0ken" });

beforeAll(async () => {
  servers = await startServers();
  await servers.down.stop();
  servers.slow.refuse = async ({ method }) => (method === "tools/list" ? sleep(8000, null) : null);
  home = homeOf({
    ".pi/agent/mcp-cache.json": KNOWN_BEFORE,
    ...cachedPackage("old", "1.2.3"),
    ...cachedPackage("recent", "2.0.0"),
    ...agentPlugin("plugins/acme"),
    ".cursor/mcp.json": mcpJson({ of_cursor: { command: "false" } }),
  });
  const own = mcpJson(entries(home.root), { agentPluginPaths: [join(home.dir, "plugins/acme")] });
  mkdirSync(join(home.dir, ".config/mcp"), { recursive: true });
  writeFileSync(join(home.dir, ".config/mcp/mcp.json"), `// what this person uses\n${own.replace(/\}\s*$/, ",}")}`);
  mkdirSync(join(home.root, ".pi"));
  writeFileSync(join(home.root, ".pi/mcp.json"), "\n// nothing yet\n");
  writeFileSync(join(home.root, ".mcp.json"), mcpJson({ moved: at(servers.elsewhere), partial: { directTools: true } }));
  agent = await startPimcp({ home, env: ENV() });
  person = personAt(() => agent.pageUrl());
  for (const { id } of (await person.shows()).approvals) await person.post("/api/approve", { id, decision: "once" });
  toolsAtFirst = await offered();
  slowConnect = callTool(agent, "mcp", { connect: "slow" });
});
afterAll(async () => {
  await slowConnect?.catch(() => undefined);
  await agent?.[Symbol.asyncDispose]();
  await home?.remove();
  await Promise.all(farms.map((each) => each.stop()));
});

describe("while servers are starting and failing", () => {
  test("5.2.20 [CL61] a search that finds nothing says which server is still connecting", async () => {
    await waitUntil("it is connecting", async () => (await say({})).includes('"slow": connecting'), 5000);
    expect(await say({ search: "patience" })).toMatch(/No tool was found.*\nStill connecting, search again in a moment: .*"slow"/);
  });

  test("A04 5.3.40 [UT2] [UT3] a server that cannot start is named, with its last words, or with the directory that is missing", async () => {
    expect(await say({ connect: "dying" })).toMatch(/"dying".*exit code 7.*no database at \/nowhere/);
    expect(await say({ connect: "nowhere" })).toMatch(/"nowhere".*working directory.*does not exist: .*gone/);
  });

  test("5.3.37 [UP23] [CL60] one that failed is not tried again for the next call, which says when it will be", async () => {
    servers.busy.refuse = () => new Response("busy", { status: 503 });
    expect(await call("busy_work")).toMatch(/"busy" is temporarily unavailable.*503/);
    const asked = servers.busy.requests.length;
    expect(await call("busy_work")).toMatch(/"busy" failed \d+ s ago.*503.*tried again in \d+ s; mcp\(\{connect: "busy"\}\) tries now/);
    expect(servers.busy.requests.length).toBe(asked);
    servers.busy.refuse = () => null;
    expect(await say({ connect: "busy" })).toContain("busy_work");
  });

  test("5.3.31 one that was down at the start says why, and is there once it is up", async () => {
    expect(await say({})).toMatch(/"down": failed \d+ s ago: Nobody listens at/);
    await servers.down.start();
    expect(await say({ connect: "down" })).toContain("down_hello");
    expect(await call("down_hello")).toBe("hello");
  });

  test("D15 A14 [UT40] [UT41] [UT42] an address that answers something else is told for what it is", async () => {
    expect(await say({ connect: "accepting" })).toMatch(/"accepting".*202/);
    expect(await say({ connect: "locked" })).toMatch(/"locked" asks for a login.*401/);
    expect(await say({ connect: "page" })).toMatch(/"page".*HTML \(200\).*does not speak MCP/);
    expect(await say({ connect: "unavailable" })).toMatch(/"unavailable" is temporarily unavailable.*503/);
    expect(await say({})).toMatch(/"locked": needs a login: .*401/);
    expect(await say({ search: "anything" })).toContain('wants a login: "locked".');
  });

  test("D14 [UP24] one that is busy for a while keeps its tools, and is used again when it is not", async () => {
    servers.busy.refuse = () => new Response("busy", { status: 503 });
    expect(await call("busy_work")).toContain("503");
    const asked = servers.busy.requests.length;
    expect(await say({ search: "works for somebody" })).toContain("busy_work");
    expect(servers.busy.requests.length).toBe(asked);
    servers.busy.refuse = () => null;
    expect(await call("busy_work")).toBe("work");
  });
});

describe("configuration", () => {
  test("5.4.44 [UC5] [UC20] comments, trailing commas and a file with nothing in it are fine; what is wrong is said once", async () => {
    const told = agent.run.stderr().trim().split("\n");
    expect(told).toEqual([expect.stringMatching(/\(neither\): expected exactly one of "command", "url" and "socket"/)]);
    expect(await say({})).toMatch(/"neither": cannot be used: expected exactly one/);
  });

  test("5.4.42 [UC11] a project that sends a server elsewhere does not send the secrets along", async () => {
    expect(await call("moved_secret")).toBe("there");
    expect(servers.elsewhere.requests.filter(({ headers }) => headers.has("authorization"))).toEqual([]);
  });

  test("5.4.43 [UC10] a project that sets one field leaves the others as they are", async () => {
    expect(await say({ connect: "partial" })).toContain("partial_secret");
    expect(textOf(await callTool(agent, "partial_secret", {}))).toBe("here");
    expect(servers.moved.requests.some(({ headers }) => headers.get("x-kept") === "yes")).toBe(true);
  });

  test("5.4.46 [UT20] [UT22] variables are filled in; one that is missing in an address is named before any request", async () => {
    expect(await call("filled_secret")).toBe("here");
    const sent = servers.moved.requests.filter(({ headers }) => headers.get("x-filled") === "filled in");
    expect(new Set(sent.map(({ headers }) => headers.get("authorization")))).toEqual(new Set(["Bearer t0ken"]));
    expect(await say({ connect: "unset" })).toMatch(/"unset" cannot be used as it is configured.*REPORTED_NOT_SET/);
  });

  test("5.4.47 [UC18] servers of other programs are not used unless that is asked for", async () => {
    expect(await say({})).not.toContain("of_cursor");
  });

  test("5.4.50 [UC53] [UT12] values of an Agent Plugin are literal", async () => {
    expect(JSON.parse(await call("acme__s_environment", { name: "LITERAL" }))).toMatchObject({ value: "!echo no ${HOME}" });
  });

  test("D10 5.3.41 [UT51] npx runs the version that was asked for, not a newer one that is cached", async () => {
    expect(JSON.parse(await call("versioned_environment", { name: "RUNS" }))).toMatchObject({ value: "1.2.3" });
  });
});

describe("arguments", () => {
  const quotedArgs = { text: 'a "b" \\ ☃' };

  test("D05 5.1.1 [CL51] fields of mcp inside args are an error that says where they belong, never the status", async () => {
    for (const args of [{ search: "x" }, '{"search":"x"}', '"{\\"search\\":\\"x\\"}"']) {
      const answer = await mcp({ args });
      expect([textOf(answer), answer.isError]).toEqual([expect.stringContaining('"search" must stand at the top level'), true]);
    }
  });

  test("D06 5.1.2 [CL1] an object, its JSON, and that JSON quoted again reach the upstream as the same", async () => {
    const from = servers.shapes.calls.length;
    for (const args of [quotedArgs, JSON.stringify(quotedArgs), JSON.stringify(JSON.stringify(quotedArgs))]) {
      expect(await say({ tool: "shapes_echo", args })).toBe(quotedArgs.text);
    }
    expect(servers.shapes.calls.slice(from).map(({ args }) => args)).toEqual([quotedArgs, quotedArgs, quotedArgs]);
  });

  test("D06 5.1.2 5.6.66 [CL3] [CL34] the person is shown what is sent; what they allow covers these arguments and no others", async () => {
    const waiting = call("shapes_guarded", quotedArgs).then((text) => ({ text }));
    const [card] = await cards();
    expect(JSON.parse(card?.text ?? "")).toEqual(quotedArgs);
    await person.post("/api/approve", { id: card?.id, decision: "sitting" });
    expect(await waiting).toEqual({ text: quotedArgs.text });
    expect(await say({ tool: "shapes_guarded", args: JSON.stringify(quotedArgs) })).toBe(quotedArgs.text);
    const other = mcp({ tool: "shapes_guarded", args: { text: "something else" } });
    const [next] = await cards();
    await person.post("/api/approve", { id: next?.id, decision: "deny", reason: "not that" });
    const denied = await other;
    expect([textOf(denied), denied.isError]).toEqual([
      expect.stringMatching(/"shapes_guarded" was not approved\. It did not run\..*not that/s),
      true,
    ]);
  });

  test("5.1.3 [CL4] text where a list is wanted is read as one; text that may be text stays", async () => {
    await using client = await SDK_CLIENTS["SDK v2, modern"](agent);
    expect((await client.call("shapes_items", { items: "[1,2]" })).content).toEqual([{ type: "text", text: '{"items":[1,2]}' }]);
    expect((await client.call("shapes_either", { items: "[1,2]" })).content).toEqual([{ type: "text", text: '{"items":"[1,2]"}' }]);
    expect(await call("shapes_items", { items: "[1,2]" })).toBe('{"items":[1,2]}');
  });

  test("A61 [CL1] an argument of a mebibyte arrives whole", async () => {
    expect(await call("shapes_length", { text: "x".repeat(1_048_576) })).toBe("1048576");
  });

  const cards = async () => {
    await waitUntil("a card is there", async () => (await person.shows()).approvals.length > 0, 10_000);
    return (await person.shows()).approvals;
  };
});

describe("results", () => {
  test("5.1.4 [CL11] a result of structured content alone is shown", async () => {
    expect(JSON.parse(await call("shapes_only_structured"))).toEqual({ a: 1 });
  });

  test("5.1.5 [CL11] [CL86] content and what structured content adds to it are both seen, through mcp and directly", async () => {
    const direct = textOf(await callTool(agent, "shapes_pong", {}));
    for (const text of [await call("shapes_pong"), direct]) expect(text).toMatch(/^ok\n.*"m": "pong"/s);
  });

  test("D13 [CL13] what an upstream calls an error is one", async () => {
    const failed = await mcp({ tool: "shapes_fails" });
    expect([textOf(failed), failed.isError]).toEqual(["Error: the disk is full", true]);
  });

  test("5.1.7 [CL20] [CL25] a result of megabytes is its beginning and a file with the whole, which read opens", async () => {
    const text = await call("shapes_big");
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(51_200);
    expect(text.split("\n").length).toBeLessThanOrEqual(2000);
    const path = /(\/\S+\.txt)/.exec(text)?.[1] ?? "";
    expect(readFileSync(path, "utf8")).toBe(BIG_TEXT);
    expect(textOf(await callTool(agent, "read", { path, offset: 50_000, limit: 2 }))).toContain("line 49999 of a text");
  });

  test("5.1.8 5.1.9 [MS5] a script works with every row of a result, and nothing is warned of", async () => {
    const code = `const { data } = await tools.call("shapes_rows", {}); return JSON.parse(data.content[0].text).filter(({ id }) => id === 7).map(({ id }) => id);`;
    const ran = await callTool(agent, "mcpScript", { code });
    expect([JSON.parse(textOf(ran)), ran.isError]).toEqual([[7], false]);
    expect(agent.run.stderr()).not.toMatch(/warning/i);
  });

  test("5.1.11 [CL14] output schemas of draft 7 and of 2020-12 are both kept to, and a result that breaks one is told", async () => {
    for (const tool of ["draft7", "draft2020"]) expect(JSON.parse(await call(`shapes_${tool}`))).toEqual({ sum: 3 });
    const wrong = await mcp({ tool: "shapes_wrong" });
    expect([textOf(wrong), wrong.isError]).toEqual([expect.stringMatching(/does not fit its own output schema: "sum" must be number/), true]);
  });

  test("5.1.13 [CL17] a call takes as long as its server may take, and no longer", async () => {
    expect(await call("hasty_sleep", { ms: 10_000 })).toMatch(/within 1500 ms.*"requestTimeoutMs".*may still be working/);
    expect(await call("patient_sleep", { ms: 1700 })).toBe("slept");
  });

  test("A38 five pictures of megabytes arrive, and the next call works", async () => {
    const { content } = await mcp({ tool: "shapes_pictures" });
    expect(content.map(({ type, data }) => [type, data?.length])).toEqual(Array.from({ length: 5 }, () => ["image", 2_800_000]));
    expect(await call("shapes_echo", { text: "still here" })).toBe("still here");
  });

  test("A44 [UT6] one line of 13 MB, and one that is too long, leave the server usable", async () => {
    expect(await call("huge_big", { bytes: 13_000_000 })).toMatch(/\(13000000 bytes\)/);
    const tooLong = await mcp({ tool: "huge_big", args: { bytes: 17_000_000 } });
    expect([textOf(tooLong), tooLong.isError]).toEqual([
      expect.stringMatching(/"huge" ended during the request: .*a line of more than 16777216 bytes/),
      true,
    ]);
    expect(await call("huge_echo", { text: "again" })).toBe("again");
  });
});

describe("names and search", () => {
  test("D11 5.3.35 [UP54] a server that takes eight seconds to list is not marked as failed", async () => {
    expect(textOf(await slowConnect)).toContain("slow_patience");
    expect(await call("slow_patience")).toBe("patience");
  });

  test("5.2.15 [CT5] a tool that bears its server's name has it once, and is callable by that", async () => {
    expect(await call("firecrawl_scrape")).toBe("scraped");
    expect(await say({ server: "firecrawl" })).toMatch(/^firecrawl_scrape - /m);
    expect(await say({ search: "scrape a page" })).not.toContain("firecrawl_firecrawl");
  });

  test("D16 D17 5.2.16 5.2.17 [CT4] [CT12] [CL71] servers whose names look alike have tools of their own; a name of several calls none", async () => {
    expect(await call("my-server_get")).toBe("from my-server");
    expect(await call("my_server_get")).toBe("from my_server");
    expect(await call("my_20_server_get")).toBe("from my server");
    const from = servers.twins.map(({ calls }) => calls.length);
    expect(await say({ tool: "get" })).toMatch(/"get" could be .*my-server_get.*my_server_get.*Nothing was called/);
    expect(servers.twins.map(({ calls }) => calls.length)).toEqual(from);
    expect(await say({ tool: "get", server: "my-server" })).toBe("from my-server");
    await servers.twins[1].stop();
    expect(await call("my-server_get")).toBe("from my-server");
    expect((await mcp({ tool: "my_server_get" })).isError).toBe(true);
    expect(await say({ tool: "get", server: "my server" })).toBe("from my server");
  });

  test("5.2.19 [SE4] words of scripts without spaces are found", async () => {
    expect(await say({ search: "截图" })).toContain("shapes_shot");
  });

  test("5.2.22 [CL64] what a filter leaves out is in no list, search or description, and cannot be called", async () => {
    expect(await say({ connect: "filtered" })).toMatch(/: 1 tool\nfiltered_echo/);
    for (const args of [{ server: "filtered" }, { search: "hidden", server: "filtered" }, { describe: "filtered_hidden_one" }]) {
      expect(await say(args)).not.toMatch(/^filtered_hidden_one/m);
    }
    expect(await call("filtered_hidden_one")).toContain('No tool "filtered_hidden_one" was found');
  });

  test("5.6.73 [SE13] [SE14] patterns are matched, also one that would run for ever", async () => {
    expect(await say({ search: "^shapes_e(cho|ither)$", regex: true })).toMatch(/^2 tools:/);
    expect(await say({ search: "^(a+)+$(a|a)*b", regex: true })).toContain("No tool was found");
    expect(await say({ search: "shapes_(", regex: true })).toMatch(/not a regular expression RE2 can match \(.*`shapes_\(`\)/);
  });

  test("5.1.10 [CL42] schemas of offered tools are made of words of JSON Schema", async () => {
    for (const { name, inputSchema, outputSchema } of await offered()) {
      expect([name, ...strangeWords(inputSchema), ...strangeWords(outputSchema ?? {})]).toEqual([name]);
    }
  });
});

const WORDS = new Set(
  `$schema $id $ref $defs $comment definitions title description default deprecated readOnly writeOnly examples type enum const multipleOf maximum
   exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format maxItems minItems uniqueItems maxProperties minProperties required
   properties patternProperties additionalProperties propertyNames items prefixItems contains allOf anyOf oneOf not if then else`.split(/\s+/),
);

function strangeWords(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return [];
  return Object.entries(schema).flatMap(([word, value]) => {
    if (!WORDS.has(word)) return [word];
    if (/^(properties|patternProperties|\$defs|definitions)$/.test(word)) return Object.values(value as object).flatMap(strangeWords);
    if (Array.isArray(value)) return value.flatMap(strangeWords);
    return /^(default|const|examples|enum)$/.test(word) ? [] : strangeWords(value);
  });
}

describe("connections", () => {
  test("A11 A29 D18 5.3.30 [UP20] an eager server is one process, and stays usable over many calls; killed, it is started anew", async () => {
    const journal = join(home.dir, "journal");
    const starts = (): number[] => readJournal(journal).flatMap(({ event, pid }) => (event === "start" ? [pid] : []));
    for (let round = 0; round < 4; round++) {
      const texts = ["a", "b", "c", "d", "e"].map((each) => `${each}${round}`);
      expect(await Promise.all(texts.map((text) => call("good_echo", { text })))).toEqual(texts);
    }
    expect(starts()).toHaveLength(1);
    expect(commandLine(starts()[0]!)).toContain("upstreams/good.ts");
    process.kill(starts()[0]!, "SIGKILL");
    await waitUntil("the status tells", async () => !/"good": connected/.test(await say({})), 5000);
    expect(await call("good_echo", { text: "back" })).toBe("back");
    expect(starts()).toHaveLength(2);
  });

  test("D08 5.3.33 A16 A26 [UP25] a forgotten session, however the server words it, is made anew once and the call runs once", async () => {
    const { code404, code32000, words } = servers.stale;
    const each = [code404, code32000, words] as const;
    for (const name of ["stale404", "stale32000", "stalewords"]) expect(await call(`${name}_count`)).toBe("call 1");
    code404.forgetSessions();
    expect(await call("stale404_count")).toBe("call 2");
    expect(each.map((server) => server.asked("initialize"))).toEqual([2, 1, 1]);
    refuseOnce(code32000, () => refusal(400, -32000, "Bad Request: Server not initialized"));
    expect(await call("stale32000_count")).toBe("call 2");
    refuseOnce(words, () => refusal(400, -32000, "Bad Request: No valid session ID provided"));
    expect(await call("stalewords_count")).toBe("call 2");
    expect(each.map((server) => server.asked("initialize"))).toEqual([2, 2, 2]);
  });

  test("5.3.33 [UP25] a request refused for another reason is not made again", async () => {
    const { other } = servers.stale;
    expect(await call("other400_count")).toBe("call 1");
    refuseOnce(other, () => refusal(400, -32602, "Bad Request: the header is too long"));
    expect(await call("other400_count")).toContain("the header is too long");
    expect([other.asked("initialize"), other.calls.length]).toEqual([1, 1]);
  });

  test("A09 an empty answer is never told as a success", async () => {
    const answers = [
      () => new Response(null, { status: 202 }),
      () => new Response("", { headers: { "content-type": "application/json" } }),
      () => new Response("", { headers: { "content-type": "text/event-stream" } }),
      () => Response.json({}),
    ];
    for (const answer of answers) {
      refuseOnce(servers.empty, answer);
      expect(await mcp({ tool: "empty_count" })).toMatchObject({ isError: true });
    }
    expect(await call("empty_count")).toBe("call 1");
  });

  test("A01 calls while a server is away fail soon, and the first one after it came back works", async () => {
    expect(await call("outage_echo", { text: "before" })).toBe("before");
    await servers.outage.stop();
    expect(await mcp({ tool: "outage_echo", args: { text: "away" } })).toMatchObject({ isError: true });
    expect(await call("outage_echo", { text: "away" })).toMatch(/"outage" could not be reached, so it did not run .*ECONNREFUSED/);
    expect(await say({})).toContain('"outage": connected, 1 tool: Its last request got no answer.');
    await servers.outage.start();
    expect(await call("outage_echo", { text: "after" })).toBe("after");
    expect(await say({})).toMatch(/"outage": connected, 1 tool$/m);
  });

  test("D07 5.3.34 [CL70] [UP78] a server that was replaced offers its new tools and no old ones, without a restart or a word from it", async () => {
    expect(await call("replaced_before")).toBe("before");
    await servers.replaced.stop();
    await sleep(1000);
    servers.replaced.tools = { after: { description: "Of the new version." } };
    await servers.replaced.start();
    expect(await call("replaced_after")).toBe("after");
    expect(await say({ server: "replaced" })).not.toContain("replaced_before");
    servers.replaced.tools = { later: { description: "Of a newer version still." } };
    expect((await mcp({ tool: "replaced_after" })).isError).toBe(true);
    await waitUntil("it was listed anew", async () => /: 1 tool\nreplaced_later/.test(await say({ server: "replaced" })), 5000);
    expect(await call("replaced_later")).toBe("later");
  });

  test("5.2.24 [CL65] [CL87] connecting lists anew; a change that the server tells of reaches the direct tools", async () => {
    expect(await say({ connect: "changing" })).toContain("changing_first");
    await waitUntil("the direct tool is there", async () => (await toolNames()).includes("changing_first"), 5000);
    servers.changing.tools["second"] = { description: "Came unsaid." };
    expect(await say({ connect: "changing" })).toContain("changing_second");
    servers.changing.tools = { third: { description: "Came with a word." } };
    await waitUntil("it listens", () => servers.changing.requests.filter(({ http }) => http === "GET").length > 1, 5000);
    servers.changing.toolsChanged();
    await waitUntil(
      "the direct tools changed",
      async () => (await toolNames()).filter((name) => name.startsWith("changing_")).join() === "changing_third",
      10_000,
    );
  });

  test("5.2.25 [CL41] nothing of this changed a byte of the tool mcp", async () => {
    const bytes = (tools: readonly Offered[]): string => JSON.stringify(tools.find(({ name }) => name === "mcp"));
    expect(bytes(await offered())).toBe(bytes(toolsAtFirst));
  });

  test("5.5.62 [UT24] a token that a command makes is made anew when the server refuses the old one, and the call runs", async () => {
    const wanted = (token: string): void => {
      servers.renewing.refuse = ({ headers }) => (headers.get("authorization") === `Bearer ${token}` ? null : new Response("no", { status: 401 }));
    };
    writeFileSync(join(home.dir, "token-of-now"), "first\n");
    wanted("first");
    expect(await call("renewing_hello")).toBe("hello");
    writeFileSync(join(home.dir, "token-of-now"), "second\n");
    wanted("second");
    expect(await call("renewing_hello")).toBe("hello");
    expect(servers.renewing.calls).toHaveLength(2);
  });

  test("5.5.64 [UT21] a server that takes POST only stays what it is", async () => {
    servers.postOnly.refuse = ({ http }) => (http === "GET" ? new Response(null, { status: 405 }) : null);
    expect(await call("post_only_hello")).toBe("hello");
    expect(await say({})).toContain('"post_only": connected, 1 tool');
    expect([servers.postOnly.asked("initialize"), servers.postOnly.requests.filter(({ http }) => http === "GET").length]).toEqual([1, 1]);
  });

  test("A12 A55 many calls and many refreshes are one session at the server", async () => {
    const { firecrawl } = servers;
    const before = firecrawl.asked("initialize");
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 8 }, () => call("firecrawl_scrape")));
    expect(firecrawl.asked("initialize")).toBe(before);
    for (let round = 0; round < 8; round++) await say({ connect: "firecrawl" });
    await waitUntil("one session is left", () => firecrawl.sessions === 1, 5000);
  });

  test("A05 a client that is gone before its call is done disturbs nobody", async () => {
    const sleeping = (): number => servers.shapes.calls.filter(({ tool }) => tool === "sleep").length;
    const before = sleeping();
    const leaving = new AbortController();
    const left = callTool(agent, "mcp", { tool: "patient_sleep", args: { ms: 700 } }, { signal: leaving.signal }).catch(() => "left");
    const staying = call("patient_sleep", { ms: 1000 });
    await waitUntil("both are there", () => sleeping() === before + 2, 5000);
    leaving.abort();
    expect([await left, await staying]).toEqual(["left", "slept"]);
    expect(await call("shapes_echo", { text: "next" })).toBe("next");
  });

  test("A05 [CL16] [UP28] a call that its client cancels is cancelled at the server", async () => {
    const cancelled = servers.shapes.asked("notifications/cancelled");
    void callTool(agent, "mcp", { tool: "patient_sleep", args: { ms: 15_000 } }, { id: "to-be-cancelled" }).catch(() => undefined);
    await waitUntil("it runs", () => servers.shapes.calls.at(-1)?.args["ms"] === 15_000, 5000);
    await send(agent, { method: "notifications/cancelled", params: { requestId: "to-be-cancelled" } });
    await waitUntil("the server is told", () => servers.shapes.asked("notifications/cancelled") > cancelled, 5000);
    expect(servers.shapes.asked("notifications/cancelled")).toBe(cancelled + 1);
  });

  test("5.6.70 [UP40] [UP42] a form without fields is one confirmation on the page; sampling is declined with a reason", async () => {
    const confirmed = call("asking_confirm");
    await waitUntil("the form is there", async () => (await person.shows()).forms.length === 1, 10_000);
    const [form] = (await person.shows()).forms;
    expect(form).toMatchObject({ server: "asking", message: "Really go on?", asks: { kind: "form", fields: [] } });
    await person.post("/api/form", { id: form?.id, action: "accept", values: {} });
    expect(await confirmed).toBe("the person said accept");
    expect(await call("asking_think")).toMatch(/sampling/i);
  });
});

describe("over a restart of the agent", () => {
  test("D01 5.3.28 5.3.29 [CT17] [UP70] [CL53] a server that vouches for nothing is offered at once, kept, found while it is down, and listed anew when it is used", async () => {
    expect(await say({ connect: "modern" })).toContain("modern_found_later");
    await waitUntil("its direct tool is there", async () => (await toolNames()).includes("modern_found_later"), 5000);
    expect(await agent.stop()).toBe(0);
    await servers.modern.stop();
    agent = await startPimcp({ home, env: ENV() });
    expect((await personAt(() => agent.pageUrl()).shows()).approvals).toEqual([]);
    expect(await toolNames()).toContain("modern_found_later");
    expect(await say({ search: "finds what was kept" })).toContain("modern_found_later");
    expect(await say({ server: "modern" })).toMatch(/an old list/);
    servers.modern.tools["of_today"] = { description: "Was not there yesterday." };
    await servers.modern.start();
    expect(await call("modern_found_later")).toBe("found_later");
    expect(await say({ server: "modern" })).toContain("modern_of_today");
  });

  test("A07 everything that was started ends with the agent, also what a shell started", async () => {
    expect(home.processes().some((pid) => commandLine(pid).includes("upstreams/good.ts"))).toBe(true);
    expect(await agent.stop()).toBe(0);
  });
});
