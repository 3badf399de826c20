/** The extension in the real Pi, with a model that does what it is told, in every mode Pi has. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRpc, type PiPlace, piPlace, type RpcPi, runPi, toolEnds } from "../support/pi-program.ts";
import { openTerminal } from "../support/pi-terminal.ts";
import { readJournal } from "../support/upstream-fixture.ts";
import { waitUntil } from "../support/wait-until.ts";

let place: PiPlace;
beforeAll(() => {
  place = piPlace({
    mcpServers: {
      good: { fixture: "good", directTools: ["echo"], approveTools: ["add"] },
      searched: { fixture: "good", flags: ["--name", "searched"], directTools: "search", includeTools: ["sleep"] },
      asking: { fixture: "asking", protocolVersion: "auto" },
    },
  });
});
afterAll(() => place.home.remove());

describe("JSON mode", () => {
  test("[PI1] [PI12] the model lists, searches and calls through one tool, and what nobody can approve is not run", async () => {
    const prompt = [
      'mcp {"connect":"good"}',
      "mcp {}",
      'mcp {"search":"add two numbers"}',
      'mcp {"tool":"good_echo","args":{"text":"hello"}}',
      'mcp {"tool":"good_add","args":{"a":1,"b":2}}',
      'mcpScript {"code":"return (await tools.good_echo({text: \\"from a script\\"})).data.content[0].text"}',
    ].join("\n");
    const { events } = await runPi(place, { mode: "json", prompt });
    const [connected, listed, found, called, refused, scripted] = toolEnds(events);
    expect(connected?.text).toContain("good_echo");
    expect(listed?.text).toContain('"good"');
    expect(found?.text).toContain("good_add");
    expect(called).toMatchObject({ text: "hello", isError: false });
    expect(refused).toMatchObject({ isError: true, details: { error: "approval_required" } });
    expect(scripted).toMatchObject({ text: "from a script", isError: false });
    expect(readJournal(place.journal("good")).flatMap(({ tool }) => tool ?? [])).toEqual(["echo", "echo"]);
    await place.home.expectNothingLeft();
  });

  test("[PI56] [PI63] a direct tool and a prompt command are there from the start, out of what is kept of the last run", async () => {
    const { events } = await runPi(place, { mode: "json", prompt: ['good_echo {"text":"directly"}', "/mcp__good__greet Ada tone=warm"] });
    expect(toolEnds(events)).toMatchObject([{ tool: "good_echo", text: "directly", isError: false }]);
    expect(JSON.stringify(events)).toContain("Heard: Greet Ada (warm).");
  });
});

describe("print mode", () => {
  test("[PI1] [PI21] [PI56] the model lists, searches, calls, and uses a direct tool that is kept of the last run; what nobody can approve is not run", async () => {
    const prompt = [
      "Tell of each:",
      'good_echo {"text":"directly"}',
      "mcp {}",
      'mcp {"search":"add two numbers"}',
      'mcp {"tool":"good_echo","args":{"text":"through mcp"}}',
      'mcp {"tool":"good_add","args":{"a":1,"b":2}}',
    ].join("\n");
    const { stdout } = await runPi(place, { mode: "print", prompt });
    const [direct, listed, found, called, refused] = stdout.split(/^Done: /m).slice(1);
    expect([direct, called]).toEqual(["directly\n", "through mcp\n"]);
    expect(listed).toContain('"good": connected');
    expect(found).toContain("good_add");
    expect(refused).toMatch(/"good_add".*approv/s);
  });

  test("[PI63] a prompt command is said to the model, whose answer is printed", async () => {
    const { stdout } = await runPi(place, { mode: "print", prompt: "/mcp__good__greet Ada tone=warm" });
    expect(stdout).toBe("Heard: Greet Ada (warm).\n");
  });

  test("[PI6] [PI61] /mcp answers with text and ends, and knows the file that was named for this run", async () => {
    const file = join(place.home.dir, "for-once.json");
    writeFileSync(file, JSON.stringify({ mcpServers: { once: { command: "once", disabled: true } } }));
    const { stdout } = await runPi(place, { mode: "print", prompt: "/mcp", args: ["--mcp-config", file] });
    expect(stdout).toContain(`once: disabled, 0 tools (${file})`);
    expect(stdout).toContain(`good: not connected, 12 tools (${join(place.home.root, ".mcp.json")})`);
  });
});

describe("RPC mode", () => {
  let pi: RpcPi;
  beforeAll(() => {
    pi = openRpc(place);
  });
  afterAll(() => pi[Symbol.asyncDispose]());

  const noted = (words: string, from = 0): Promise<unknown> =>
    pi.next(words, (event) => event["method"] === "notify" && String(event["message"]).includes(words), from);

  async function newSession(): Promise<void> {
    const from = pi.events.length;
    pi.send({ type: "new_session" });
    await pi.next("the new session", (event) => event["command"] === "new_session", from);
  }

  async function call(line: string, ...answers: readonly (string | null)[]) {
    const going = pi.prompt(line);
    for (const value of answers) await pi.answer("Allow add of the MCP server good?", value);
    return toolEnds(await going).at(-1);
  }

  test("[PI21] a call that needs it is run once the person allowed it, and not when they deny or dismiss", async () => {
    const line = 'mcp {"tool":"good_add","args":{"a":1,"b":2}}';
    expect(await call(line, "Deny")).toMatchObject({ isError: true, details: { error: "approval_denied" } });
    expect(await call(line, null)).toMatchObject({ isError: true, details: { error: "approval_denied" } });
    expect(await call(line, "Allow once")).toMatchObject({ text: '{"sum":3}', isError: false });
    expect(await call(line, "Allow this exact call for the session")).toMatchObject({ isError: false });
    expect(await call(line)).toMatchObject({ isError: false });
    const other = line.replace('"a":1', '"a":5');
    expect(await call(other, "Allow every tool of good for the session")).toMatchObject({ text: '{"sum":7}' });
    expect(await call(line.replace('"a":1', '"a":6'))).toMatchObject({ text: '{"sum":8}' });
  });

  test("[PI1] [PI56] the model lists, searches, calls, and uses a direct tool", async () => {
    const prompt = [
      "mcp {}",
      'mcp {"search":"add two numbers"}',
      'mcp {"tool":"good_echo","args":{"text":"hello"}}',
      'good_echo {"text":"directly"}',
    ];
    const [listed, found, called, direct] = toolEnds(await pi.prompt(prompt.join("\n")));
    expect(listed?.text).toContain('"good": connected');
    expect(found?.text).toContain("good_add");
    expect(called).toMatchObject({ tool: "mcp", text: "hello", isError: false });
    expect(direct).toMatchObject({ tool: "good_echo", text: "directly", isError: false });
  });

  test("[PI52] a tool of a server that is searched is shown to the model once a search found it", async () => {
    const before = toolEnds(await pi.prompt('searched_sleep {"ms":1}')).at(-1);
    expect(before).toMatchObject({ isError: true });
    const [found, called] = toolEnds(await pi.prompt('mcp {"search":"answers after a while"}\nsearched_sleep {"ms":1}'));
    expect(found?.details["activated"]).toEqual(["searched_sleep"]);
    expect(called).toMatchObject({ text: "slept", isError: false });
  });

  test("[PI76] /mcp direct shows the model other tools at once, and keeps it", async () => {
    const from = pi.events.length;
    const big = 'good_big {"bytes":10}';
    expect(toolEnds(await pi.prompt(big)).at(-1)).toMatchObject({ isError: true });
    pi.send({ type: "prompt", message: "/mcp direct good big" });
    await noted("good: 1 of 12 tools are direct: good_big. Kept in", from);
    expect(toolEnds(await pi.prompt(big)).at(-1)).toMatchObject({ isError: false });
    const file = join(place.home.root, ".pi/mcp.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ mcpServers: { good: { directTools: ["big"] } } });
    pi.send({ type: "prompt", message: "/mcp direct good echo" });
    await noted("direct: good_echo. Kept in", from);
    expect(toolEnds(await pi.prompt('good_echo {"text":"again direct"}')).at(-1)).toMatchObject({ text: "again direct", isError: false });
    rmSync(join(place.home.root, ".pi"), { recursive: true });
  });

  test("[PI63] a prompt of a server is a command whose text goes to the model", async () => {
    const events = await pi.prompt("/mcp__good__greet Ada tone=warm");
    expect(JSON.stringify(events)).toContain("Heard: Greet Ada (warm).");
    const from = pi.events.length;
    pi.send({ type: "prompt", message: "/mcp__good__greet" });
    await noted("who", from);
  });

  test("[PI63] one that is given while the model works follows what it is working at", async () => {
    const from = pi.events.length;
    pi.send({ type: "prompt", message: 'searched_sleep {"ms":500}' });
    await pi.next("it works", ({ type }) => type === "tool_execution_start", from);
    pi.send({ type: "prompt", message: "/mcp__good__greet Eve tone=cool" });
    await pi.next("the answer", (event) => event["type"] === "message_end" && JSON.stringify(event).includes("Heard: Greet Eve (cool)."), from);
    expect(JSON.stringify(pi.events.slice(from))).toMatch(/Done: slept.*Heard: Greet Eve/s);
  });

  test("[PI30] a server's form is asked field by field, and sent when the person says so", async () => {
    const going = pi.prompt('mcp {"tool":"asking_ask"}');
    await pi.answer("What is your name?", "Answer");
    await pi.answer("name", "Ada");
    await pi.answer("Ada", "Send");
    expect(toolEnds(await going).at(-1)).toMatchObject({ text: "name: Ada", isError: false });
    const refused = pi.prompt('mcp {"tool":"asking_ask"}');
    await pi.answer("What is your name?", "Refuse to answer");
    expect(toolEnds(await refused).at(-1)?.text).toContain("decline");
  });

  test("[PI40] a server's question to a model is asked with the person's leave before and after", async () => {
    const going = pi.prompt('mcp {"tool":"asking_sample","args":{"prompt":"Say hello"}}');
    await pi.answer("wants to ask one", "Allow");
    await pi.answer("Hand this answer", "Allow");
    expect(toolEnds(await going).at(-1)?.text).toContain("Heard: Say hello");
  });

  test("[PI12] a new session has processes of its own, and none is left of the one before", async () => {
    await newSession();
    await waitUntil("only Pi is left", () => place.home.processes().length === 1);
    expect(toolEnds(await pi.prompt('mcp {"tool":"good_echo","args":{"text":"again"}}')).at(-1)).toMatchObject({ text: "again" });
    expect(place.home.processes()).toHaveLength(2);
  });

  test("[PI61] [PI62] /mcp status answers with a note, /mcp disable writes the project's own file", async () => {
    const from = pi.events.length;
    pi.send({ type: "prompt", message: "/mcp status" });
    await noted("good: connected", from);
    pi.send({ type: "prompt", message: "/mcp disable asking" });
    await noted("asking is disabled in", from);
    const file = join(place.home.root, ".pi/mcp.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ mcpServers: { asking: { disabled: true } } });
    pi.send({ type: "prompt", message: "/mcp enable asking" });
    await noted("asking is enabled in", from);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ mcpServers: {} });
  });

  test("[PI2] [PI12] a server of a folder that Pi does not trust is not run, and nothing is left at the end", async () => {
    // The file that /mcp disable made has Pi ask about the folder, and there is nobody here to ask.
    await newSession();
    expect(toolEnds(await pi.prompt('mcp {"tool":"good_echo","args":{"text":"x"}}')).at(-1)).toMatchObject({
      details: { error: "server_untrusted" },
    });
    await pi.end();
    await place.home.expectNothingLeft();
    rmSync(join(place.home.root, ".pi"), { recursive: true });
  });
});

describe("in a terminal", () => {
  test("[PI1] [PI21] [PI50] [PI56] [PI60] [PI63] everything is done by typing, a long result takes a few lines, and /mcp is a panel", async () => {
    await using terminal = openTerminal(place);
    await terminal.shows("MCP: 3 servers enabled");
    terminal.type('good_echo {"text":"directly"}');
    await terminal.shows("Done: directly");
    terminal.type("/mcp__good__greet Ada tone=warm");
    await terminal.shows("Heard: Greet Ada (warm).");
    terminal.type("mcp {}");
    await terminal.shows('"good": connected, 12 tools');
    terminal.type('mcp {"search":"add two numbers"}');
    await terminal.shows("Done: 1 tool");
    terminal.type('mcp {"tool":"good_echo","args":{"text":"through mcp"}}');
    await terminal.shows("Done: through mcp");
    terminal.type('mcp {"tool":"good_add","args":{"a":3,"b":4}}');
    await terminal.shows("Allow add of the MCP server good?");
    terminal.press("Enter");
    await terminal.shows("was not approved");
    terminal.type('mcp {"tool":"good_big","args":{"bytes":5000}}');
    await terminal.shows("ctrl+o to expand");
    terminal.type('mcp {"tool":"good_add","args":{"a":1,"b":2}}');
    await terminal.shows("Allow add of the MCP server good?");
    terminal.press("Down", "Enter");
    await terminal.shows('Done: {"sum":3}');
    terminal.type("/mcp");
    await terminal.shows("MCP servers: 3, 1 connected.");
    terminal.press("Enter");
    await terminal.shows("→ Reconnect");
    terminal.press("Enter");
    await terminal.shows("good: connected, 12 tools");
    await terminal.shows("→ good: connected");
    terminal.press("Escape");
    // What follows an Escape at once is part of another key.
    await waitUntil("the panel is gone", () => !terminal.screen().includes("→"));
    terminal.type("the panel is closed");
    await terminal.shows("Heard: the panel is closed");
    expect(terminal.screen()).not.toContain("→");
  });
});
