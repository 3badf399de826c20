import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isAlive } from "../../support/alive.ts";
import { stdioServer } from "../../support/server-transports.ts";
import { serverDefinition } from "../../support/server-definitions.ts";
import { fixtureCommand } from "../../support/upstream-fixture.ts";
import { waitUntil } from "../../support/wait-until.ts";

const NODE = join(import.meta.dirname, "../../../local-agent/node");

/** Runs a module in a process of its own; what it loaded of packages, by name, at the end. */
async function loaded(script: string): Promise<{ packages: string[]; output: string }> {
  const source = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ resolve(name, context, next) { if (!/^(node:|[./]|file:)/.test(name) && !context.parentURL?.includes("/node_modules/")) seen.add(name); return next(name, context); } });
    const { createUpstreamTransports } = await import(${JSON.stringify(join(NODE, "upstream-transports.ts"))});
    const { systemClock: clock, systemTimers: timers } = await import(${JSON.stringify(join(NODE, "system-time.ts"))});
    const log = { event() {} };
    const factory = createUpstreamTransports({ env: process.env, home: "/", cwd: process.cwd(), clock, timers, log, newId: () => "1" });
    ${script}
    process.stdout.write(JSON.stringify([...seen].sort()));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source]);
  const at = stdout.lastIndexOf("[");
  return { packages: JSON.parse(stdout.slice(at)) as string[], output: stdout.slice(0, at) };
}

test("[UT70] nothing is loaded before the first upstream, and then what its kind needs", async () => {
  expect((await loaded("")).packages).toEqual([]);
  const { command, args } = fixtureCommand("good");
  const definition = serverDefinition("s", { transport: stdioServer(command, args) });
  const { packages } = await loaded(
    `const opened = await factory.open(${JSON.stringify(definition)}, { signal: new AbortController().signal, wire: "streamable-http" });
     await opened.value.transport.start(); await opened.value.close();`,
  );
  expect(packages).toEqual(["@modelcontextprotocol/client", "cross-spawn"]);
});

test("[UT5] an agent that exits without closing anything leaves no child behind", async () => {
  const { command, args } = fixtureCommand("hanging", "--at", "start", "--stubborn");
  const definition = serverDefinition("s", { transport: stdioServer(command, args) });
  const { output } = await loaded(
    `const opened = await factory.open(${JSON.stringify(definition)}, { signal: new AbortController().signal, wire: "streamable-http" });
     await opened.value.transport.start(); process.stdout.write(String(opened.value.transport.pid)); setTimeout(() => process.exit(), 100);`,
  );
  expect(Number(output)).toBeGreaterThan(0);
  await waitUntil("the child is gone", () => !isAlive(Number(output)));
});
