import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { readSecret } from "../../../../local-agent/cli/secret-input.ts";
import { readUpstreamTokenArguments } from "../../../../local-agent/cli/upstream-token-arguments.ts";
import { runUpstreamTokenCommand } from "../../../../local-agent/cli/upstream-token-command.ts";
import { StartFailure } from "../../../../local-agent/daemon/start-failure.ts";
import { keyringTokens } from "../../../../local-agent/node/keyring-tokens.ts";
import { memoryKeyring } from "../../../support/memory-keyring.ts";
import { tempDir } from "../../../support/temp-dir.ts";

describe("[UT63] the words of pimcp upstream-token", () => {
  test.each([
    [["set", "docs"], { kind: "set", server: "docs", json: false, root: null, configFile: null }],
    [["status", "docs", "--json", "--root", "a", "--mcp-config=b"], { kind: "status", server: "docs", json: true, root: "a", configFile: "b" }],
    [["remove", "docs"], { kind: "remove", server: "docs", json: false, root: null, configFile: null }],
    [["--help"], { kind: "help" }],
  ])("%j", (argv, order) => {
    expect(readUpstreamTokenArguments(argv)).toEqual({ ok: true, value: order });
  });

  test.each([
    [[], "needs to know what to do: set, status or remove"],
    [["sett", "docs"], "Did you mean pimcp upstream-token set"],
    [["set"], "needs the server's name"],
    [["set", "docs", "t0ken"], "a token is read from standard input"],
    [["set", "docs", "--token", "t0ken"], "Unknown flag --token"],
  ])("%j is one sentence", (argv, sentence) => {
    const read = readUpstreamTokenArguments(argv);
    expect(read.ok ? "" : read.error).toContain(sentence);
    expect(read.ok ? "" : read.error).not.toContain("t0ken");
  });
});

const SERVERS = {
  docs: { url: "https://docs.example/${PLACE}?key=k", bearerTokenStore: true },
  plain: { url: "https://plain.example/mcp" },
  local: { command: "server" },
};

function world() {
  const home = tempDir("upstream-token");
  mkdirSync(join(home, "work"));
  mkdirSync(join(home, ".config/mcp"), { recursive: true });
  writeFileSync(join(home, ".config/mcp/mcp.json"), JSON.stringify({ mcpServers: SERVERS }));
  const keyring = memoryKeyring();
  return {
    keyring,
    project: join(home, "work/.mcp.json"),
    run: async (argv: readonly string[], { input = "", isToolShell = false, place = "mcp" } = {}) => {
      const order = readUpstreamTokenArguments(argv);
      if (!order.ok) throw new Error(order.error);
      let text = "";
      try {
        const code = await runUpstreamTokenCommand(order.value, {
          cwd: join(home, "work"),
          home,
          env: { PLACE: place },
          platform: "linux",
          show: (more) => (text += more),
          terminal: { input: Readable.from([Buffer.from(input)]), write: () => {} },
          isToolShell,
          store: keyringTokens(keyring.open),
        });
        return { code, text };
      } catch (error) {
        if (!(error instanceof StartFailure)) throw error;
        return { code: error.exitCode, text: error.message };
      }
    },
  };
}

describe("[UT64] pimcp upstream-token", () => {
  test("keeps what is piped in, says for which address, and removes it", async () => {
    const { run } = world();
    expect(await run(["status", "docs"])).toEqual({ code: 0, text: "No token is kept for docs.\n" });
    expect(await run(["set", "docs"], { input: " t0ken\n" })).toEqual({
      code: 0,
      text: "A token is kept for docs, for https://docs.example/mcp only.\n",
    });
    expect(JSON.parse((await run(["status", "docs", "--json"])).text)).toEqual({
      server: "docs",
      address: "https://docs.example/mcp",
      token: "kept",
    });
    expect((await run(["status", "docs"], { place: "other" })).text).toContain("but for another address than https://docs.example/other");
    expect(await run(["remove", "docs"])).toEqual({ code: 0, text: "The token of docs is removed.\n" });
    expect(await run(["remove", "docs"])).toEqual({ code: 0, text: "No token was kept for docs.\n" });
  });

  test("says when the address stands in a file of the project, which a client may have written", async () => {
    const { run, project } = world();
    writeFileSync(project, JSON.stringify({ mcpServers: { docs: { url: "https://evil.example/mcp", bearerTokenStore: true } } }));
    const { code, text } = await run(["set", "docs"], { input: "t0ken" });
    expect(code).toBe(0);
    expect(text).toContain("for https://evil.example/mcp only. Its address stands in");
    expect(text).toContain(project);
    expect(JSON.parse((await run(["set", "docs", "--json"], { input: "t0ken" })).text)).toMatchObject({ projectFile: project });
  });

  test("ends with 1 when the store cannot do it, and with 2 when there is nothing to do", async () => {
    const { run, keyring } = world();
    for (const input of ["", "  \n", "two\nlines"]) expect((await run(["set", "docs"], { input })).code).toBe(2);
    expect(await run(["set", "gone"], { input: "t" })).toMatchObject({
      code: 2,
      text: expect.stringContaining("No MCP server gone is configured") as string,
    });
    expect(await run(["set", "local"], { input: "t" })).toMatchObject({ code: 2, text: expect.stringContaining("is no HTTP server") as string });
    expect(await run(["set", "plain"], { input: "t" })).toMatchObject({
      code: 2,
      text: expect.stringContaining('"bearerTokenStore": true') as string,
    });
    keyring.fault = "it is locked";
    for (const argv of [
      ["set", "docs"],
      ["status", "docs"],
      ["remove", "docs"],
    ])
      expect(await run(argv, { input: "t" })).toMatchObject({ code: 1, text: expect.stringContaining("it is locked") as string });
    expect(keyring.entries.size).toBe(0);
  });

  test("is the person's alone: a tool's shell may only ask for the status", async () => {
    const { run, keyring } = world();
    expect((await run(["set", "docs"], { input: "t", isToolShell: true })).text).toContain("is the person's alone");
    expect((await run(["remove", "docs"], { isToolShell: true })).code).toBe(2);
    expect((await run(["status", "docs"], { isToolShell: true })).code).toBe(0);
    expect(keyring.entries.size).toBe(0);
  });
});

describe("[UT65] a token that is typed", () => {
  function typing() {
    const modes: boolean[] = [];
    let written = "";
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) });
    const secret = readSecret("Token: ", { input, write: (text) => (written += text) });
    return { input, secret, modes, written: () => written };
  }

  test("is not echoed, can be corrected, and leaves the terminal as it was", async () => {
    const { input, secret, modes, written } = typing();
    input.write("abx");
    input.write("\u007f");
    input.write("c\r");
    expect(await secret).toBe("abc");
    expect(written()).toBe("Token: \n");
    expect(modes).toEqual([true, false]);
  });

  test("can be given up", async () => {
    const { input, secret, modes } = typing();
    input.write("ab\u0003");
    await expect(secret).rejects.toThrow("nothing was kept");
    expect(modes).toEqual([true, false]);
  });
});
