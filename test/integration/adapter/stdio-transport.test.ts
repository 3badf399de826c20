import { spawn } from "node:child_process";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProcessGroups } from "../../../local-agent/node/process-groups.ts";
import { StdioTransport } from "../../../local-agent/node/stdio-transport.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { isAlive } from "../../support/alive.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { fixtureCommand } from "../../support/upstream-fixture.ts";
import { waitUntil } from "../../support/wait-until.ts";

const groups = createProcessGroups(systemTimers);

function open(program: { command: string; args: string[]; cwd?: string }) {
  const transport = new StdioTransport({ cwd: null, env: { PATH: process.env["PATH"] ?? "" }, ...program }, { groups, timers: systemTimers });
  const client = new Client({ name: "test", version: "1" });
  const errors: string[] = [];
  client.onerror = (error) => errors.push(error.message);
  let closed = 0;
  client.onclose = () => (closed += 1);
  onTestFinished(() => transport.close());
  return { transport, client, errors, closes: () => closed, connect: () => client.connect(transport) };
}

describe("a child process", () => {
  test("[UT1] speaks MCP over its input and output, in its working directory", async () => {
    const cwd = tempDir();
    const { client, connect } = open({ ...fixtureCommand("good"), cwd });
    await connect();
    const { content } = await client.callTool({ name: "environment", arguments: { name: "PATH" } });
    expect(JSON.parse((content as { text: string }[])[0]!.text)).toMatchObject({ cwd, value: process.env["PATH"] });
  });

  test("[UT2] a working directory that is missing, or none, is named as such", async () => {
    const missing = join(tempDir(), "gone");
    await expect(open({ ...fixtureCommand("good"), cwd: missing }).connect()).rejects.toThrow(`does not exist: ${missing}`);
    await expect(open({ ...fixtureCommand("good"), cwd: import.meta.filename }).connect()).rejects.toThrow("is not a directory");
  });

  test("[UT2] a command that is missing is named, with what to do", async () => {
    await expect(open({ command: "no-such-command-here", args: [] }).connect()).rejects.toThrow(/"no-such-command-here" was not found; install it/);
  });

  test("[UT3] one that dies says its exit code and its last lines", async () => {
    const { transport, client, errors, closes, connect } = open(fixtureCommand("dying"));
    await connect();
    await expect(client.callTool({ name: "echo", arguments: { text: "a" } })).rejects.toThrow("Connection closed");
    expect(errors).toEqual([
      "The server's process ended with exit code 7. It wrote last: reading the settings | no database at /nowhere | giving up",
    ]);
    expect(transport.stderrTail()).toBe("reading the settings\nno database at /nowhere\ngiving up");
    expect(closes()).toBe(1);
  });

  test("[UT3] one that is killed says by which signal, also during the handshake", async () => {
    const { errors, connect } = open(fixtureCommand("dying", "--at", "initialize", "--signal"));
    await expect(connect()).rejects.toThrow("Connection closed");
    expect(errors[0]).toMatch(/ended by SIGKILL/);
  });

  test("[UT4] ends with all it started, although it ignores the end of its input and SIGTERM", async () => {
    const { transport, connect } = open(fixtureCommand("hanging", "--stubborn", "--grandchild"));
    await connect();
    const { grandchild } = JSON.parse(transport.stderrTail()) as { grandchild: number };
    const pid = transport.pid!;
    expect([pid, grandchild].map(isAlive)).toEqual([true, true]);
    await Promise.all([transport.close(), transport.close()]);
    await waitUntil("both are gone", () => !isAlive(pid) && !isAlive(grandchild));
  });

  test("[UT4] what a child that died left behind is ended", async () => {
    const script = `require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); process.stderr.write(String(process.pid), () => {})"], { stdio: ["ignore", "ignore", "inherit"] }); setTimeout(() => process.exit(1), 300)`;
    const { transport, connect } = open({ command: process.execPath, args: ["-e", script] });
    await expect(connect()).rejects.toThrow("Connection closed");
    const pid = Number(transport.stderrTail());
    expect(pid).toBeGreaterThan(0);
    await waitUntil("it is gone", () => !isAlive(pid));
  });

  test("[UT5] the child of an agent that was killed ends too", async () => {
    const source = (path: string) => JSON.stringify(join(import.meta.dirname, "../../../local-agent/node", path));
    const program = JSON.stringify({ ...fixtureCommand("good"), env: {}, cwd: null });
    const owner = spawn(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `const { StdioTransport } = await import(${source("stdio-transport.ts")}); const { createProcessGroups } = await import(${source("process-groups.ts")});
         const { systemTimers: timers } = await import(${source("system-time.ts")});
         const transport = new StdioTransport(${program}, { groups: createProcessGroups(timers), timers }); await transport.start(); process.stdout.write(String(transport.pid));`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const pid = await new Promise<number>((resolve) => owner.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString()))));
    expect(isAlive(pid)).toBe(true);
    owner.kill("SIGKILL");
    await waitUntil("the child is gone", () => !isAlive(pid));
  });

  test("[UT6] a flood on both outputs leaves its answers as they are, and a tail of at most 8 KiB", async () => {
    const { transport, client, errors, connect } = open(fixtureCommand("flooding"));
    await connect();
    const { content } = await client.callTool({ name: "echo", arguments: { text: "through" } });
    expect(content).toEqual([{ type: "text", text: "through" }]);
    await waitUntil("the flood has come", () => transport.stderrTail().endsWith("the last words"));
    expect(transport.stderrTail().length).toBeLessThanOrEqual(8192);
    expect(errors.length).toBeLessThanOrEqual(3);
    expect(errors[0]).toMatch(/no JSON-RPC message; it was passed over/);
  });

  test("[UT6] a line of more than 16 MiB ends this connection with a sentence; one below comes through", async () => {
    const { client, errors, closes, connect } = open(fixtureCommand("huge-line"));
    await connect();
    const { content } = await client.callTool({ name: "big", arguments: { bytes: 2_000_000 } });
    expect((content as { text: string }[])[0]!.text).toHaveLength(2_000_000);
    await expect(client.callTool({ name: "big", arguments: { bytes: 17 * 1024 * 1024 } })).rejects.toThrow("Connection closed");
    expect(errors).toEqual([`The server wrote a line of more than ${16 * 1024 * 1024} bytes, so the connection was ended.`]);
    expect(closes()).toBe(1);
  });

  test("[UT7] a server that does not read keeps nobody waiting but those who write to it", async () => {
    const { transport } = open({ command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] });
    await transport.start();
    const sent = transport.send({ jsonrpc: "2.0", method: "notifications/none", params: { text: "x".repeat(1_000_000) } });
    const settled = sent.then(
      () => "sent",
      () => "refused",
    );
    await transport.close();
    expect(await settled).toBe("refused");
    await expect(transport.send({ jsonrpc: "2.0", method: "notifications/none" })).rejects.toThrow("Not connected");
  });
});
