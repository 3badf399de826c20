/** The program by itself: what real clients do with it when there is no relay, and how it is called. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, inject, test } from "vitest";
import { commandLine, newHome, startPimcp, type Home } from "../support/pimcp.ts";
import { connectV2, SDK_CLIENTS } from "../support/sdk-clients.ts";
import { waitUntil } from "../support/wait-until.ts";

describe("--stdio", () => {
  function transport(home: Home): StdioClientTransport {
    const env = Object.fromEntries(Object.entries(home.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
    return new StdioClientTransport({ command: process.execPath, args: [inject("program"), "--stdio", "--root", home.root], env, stderr: "pipe" });
  }

  test.for(["modern", "auto", "legacy"] as const)(
    "[EE24] [MC30] [MC31] the official SDK, %s, starts it, works, and leaves nothing when it goes",
    async (era) => {
      await using home = newHome({ "a.txt": "by stdio\n" });
      const client = await connectV2(transport(home), era);
      expect(await client.listTools()).toContain("bash");
      expect((await client.call("read", { path: "a.txt" })).content).toEqual([{ type: "text", text: "by stdio\n" }]);
      const left = client.call("bash", { command: "setsid sleep 701 & sleep 702" }).catch(() => undefined);
      await waitUntil("the command runs", () => home.processes().some((pid) => commandLine(pid) === "sleep 701"));
      await client.close();
      await left;
      await home.expectNothingLeft(5000);
    },
  );

  test("[EE24] [MC32] a cancelled call ends its command", async () => {
    await using home = newHome();
    await using client = await connectV2(transport(home), "legacy");
    const cancelling = new AbortController();
    const calling = client.call("bash", { command: "setsid sleep 703 & sleep 704" }, { signal: cancelling.signal }).catch(() => "cancelled");
    await waitUntil("the command runs", () => home.processes().some((pid) => commandLine(pid) === "sleep 703"));
    cancelling.abort();
    expect(await calling).toBe("cancelled");
    await waitUntil("it has ended", () => !home.processes().some((pid) => commandLine(pid).startsWith("sleep 70")), 3000);
    expect((await client.call("bash", { command: "echo next" })).content).toEqual([{ type: "text", text: "next\n" }]);
  });
});

describe("--http", () => {
  test("[EE24] [MC40] the SDK clients work with the token alone, and nobody without it", async () => {
    await using agent = await startPimcp({ args: ["--http"], quiet: ["--port", "0", "--json"] });
    for (const connect of Object.values(SDK_CLIENTS)) {
      await using client = await connect(agent);
      expect((await client.call("bash", { command: "echo by http" })).content).toEqual([{ type: "text", text: "by http\n" }]);
    }
    await expect(SDK_CLIENTS["SDK v1"]({ url: agent.url, token: "another" })).rejects.toThrow();
  });
});

test("[EE24] called by a link, as npm link makes it, it is the same program", async () => {
  await using home = newHome();
  const link = join(home.dir, "pimcp");
  symlinkSync(join(import.meta.dirname, "../../bin/pimcp.mjs"), link);
  const { status, stdout, stderr } = spawnSync(link, ["--version"], {
    cwd: home.root,
    env: home.env,
    encoding: "utf8",
    timeout: 40_000,
  });
  expect([status, stdout.trim()]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
  expect(stderr).not.toContain("    at ");
});
