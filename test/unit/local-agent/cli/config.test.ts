import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfigArguments } from "../../../../local-agent/cli/config-arguments.ts";
import { runConfigCommand } from "../../../../local-agent/cli/config-command.ts";
import { tempDir } from "../../../support/temp-dir.ts";

describe("[UC70] the words of pimcp config", () => {
  test.each([
    [[], { kind: "show", json: false, root: null, configFile: null }],
    [["--json", "--root", "a", "--mcp-config=b"], { kind: "show", json: true, root: "a", configFile: "b" }],
    [["--help"], { kind: "help" }],
  ])("%j", (argv, order) => {
    expect(readConfigArguments(argv)).toEqual({ ok: true, value: order });
  });

  test.each([
    [["here"], "takes no words"],
    [["--root"], "--root must be a path"],
    [["--rot", "x"], "Did you mean --root"],
  ])("%j is one sentence", (argv, sentence) => {
    const read = readConfigArguments(argv);
    expect(read.ok ? "" : read.error).toContain(sentence);
  });
});

async function shown(argv: readonly string[], files: Readonly<Record<string, unknown>>): Promise<{ readonly text: string; readonly home: string }> {
  const home = tempDir("config-command");
  mkdirSync(join(home, "work"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), JSON.stringify(content));
  }
  let text = "";
  const order = readConfigArguments(argv);
  if (!order.ok) throw new Error(order.error);
  await runConfigCommand(order.value, { cwd: join(home, "work"), home, env: {}, platform: "linux", show: (more) => (text += more) });
  return { text, home };
}

const FILES = {
  ".agents/mcp.json": {
    mcpServers: { docs: { url: "https://docs.example/mcp", headers: { Authorization: "Bearer s3cret" } }, off: { command: "a", disabled: true } },
  },
  "work/.mcp.json": {
    mcpServers: { docs: { directTools: true }, bad: { command: "a", url: "b" } },
    settings: { approveTools: false, idleTimeout: "x" },
  },
};

test("[UC70] [UC71] says for each server and setting which file set what, what is wrong, and what waits for an Allow", async () => {
  const { text } = await shown([], FILES);
  expect(text).toBe(`docs  (from the project: runs for a remote client once you allow it)
  url          https://docs.example/mcp  — ~/.agents/mcp.json
  headers      Authorization (set)  — ~/.agents/mcp.json
  directTools  true  — ~/work/.mcp.json

off  (disabled)
  command   a  — ~/.agents/mcp.json
  disabled  true  — ~/.agents/mcp.json

bad  (invalid; expected exactly one of "command", "url" and "socket", got "command" and "url".)
  command  (set)  — ~/work/.mcp.json
  url      (set)  — ~/work/.mcp.json

Settings  (the project's are used once you allow them)
  approveTools  false  — ~/work/.mcp.json

Files, the later ones go before the earlier
  ~/.config/mcp/mcp.json  not there
  ~/.agents/mcp.json  2 servers
  ~/.agents/mcp/mcp.json  not there
  ~/.pi/agent/mcp.json  not there
  ~/work/.mcp.json  2 servers
  ~/work/.pi/mcp.json  not there

Warnings
  ~/work/.mcp.json, bad: expected exactly one of "command", "url" and "socket", got "command" and "url".
  ~/work/.mcp.json: the setting "idleTimeout" must be a number of minutes, 0 or more, got a string; it is ignored
`);
});

test("[UC72] as JSON it is one object on one line, with everything", async () => {
  const { text, home } = await shown(["--json", "--root", "."], FILES);
  expect(text.split("\n")).toHaveLength(2);
  const parsed = JSON.parse(text) as { readonly root: string; readonly servers: readonly { readonly name: string }[] };
  expect(parsed.root).toBe(join(home, "work"));
  expect(parsed.servers).toMatchObject([
    { name: "docs", state: "enabled", needsTrust: true, problem: null },
    { name: "off", state: "disabled", needsTrust: false },
    { name: "bad", state: "invalid" },
  ]);
  expect(text).not.toContain("s3cret");
});

test("[UC72] nothing in it drives the terminal", async () => {
  const hostile = "a\u001b[2J\u202eb\n";
  const { text } = await shown([], { "work/.mcp.json": { mcpServers: { [hostile]: { command: hostile, [hostile]: "x" } } } });
  for (const driving of ["\u001b", "\u202e"]) expect(text).not.toContain(driving);
  expect(text).toContain("⏎");
});

test("[UC70] a named file is looked at in the place of Pi's own", async () => {
  const { text } = await shown(["--mcp-config", "mine.json"], {
    "work/mine.json": { mcpServers: { mine: { command: "m" } } },
    ".pi/agent/mcp.json": { mcpServers: { pi: { command: "p" } } },
  });
  expect(text).toContain("mine\n  command  m  — ~/work/mine.json");
  expect(text).not.toContain("agent/mcp.json");
});

test("[UC18] [UC70] hosts that were found are listed with what they have", async () => {
  const { text } = await shown([], {
    ".cursor/mcp.json": { mcpServers: { docs: { command: "c" }, more: { command: "c" } } },
    ".pi/agent/mcp.json": { mcpServers: { docs: { command: "d" } }, settings: { hostConfigDiscovery: "prompt" } },
  });
  expect(text).toContain("  ~/.cursor/mcp.json  found: docs (configured already), more\n");
  expect(text).not.toContain("more\n  command");
});

test("[UC70] nothing configured says so, and a directory that is not there is a sentence", async () => {
  expect((await shown([], {})).text).toMatch(/^No MCP server is configured\.\n/);
  await expect(shown(["--root", "nowhere"], {})).rejects.toThrow(/There is no directory .*nowhere: name the project's with --root\./);
});
