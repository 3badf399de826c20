/** A pool whose servers are shared over a real socket, and sessions with pools of their own that attach to it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/client";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { onTestFinished } from "vitest";
import type { ServerDefinition } from "../../local-agent/adapter/config/server-definition.ts";
import type { AdapterPorts, TransportFactory } from "../../local-agent/adapter/ports.ts";
import { createAttachedAsks } from "../../local-agent/daemon/attached-asks.ts";
import { shareUpstreams } from "../../local-agent/daemon/shared-upstreams.ts";
import { attachedSampler, deskForms } from "../../local-agent/daemon/upstream-answers.ts";
import { sharedTransports } from "../../local-agent/node/shared-transports.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import type { Log, Timers } from "../../shared/ports.ts";
import { ok } from "../../shared/result.ts";
import { buildGoodServer } from "../fixtures/upstreams/good-server.ts";
import { poolUnderTest, useOptions, type PoolGiven, type PoolUnderTest } from "./pool-under-test.ts";
import { serverDefinition } from "./server-definitions.ts";
import { stdioServer } from "./server-transports.ts";
import { tempDir } from "./temp-dir.ts";
import { fixtureCommand, readJournal } from "./upstream-fixture.ts";
import { transportsUnderTest } from "./upstream-transports.ts";

const time = { ...systemClock, ...systemTimers };

/** A fixture as a stdio server, and the processes of it that were started. */
export function journalledServer(fixture: string, fields: Partial<ServerDefinition> = {}, flags: readonly string[] = []) {
  const file = join(tempDir(), "journal");
  const { command, args } = fixtureCommand(fixture, "--journal", file, ...flags);
  const definition = serverDefinition(fixture, { transport: stdioServer(command, args), entry: { command, args }, ...fields });
  const pids = (event: "start" | "end") => readJournal(file).flatMap((entry) => (entry.event === event ? [entry.pid] : []));
  return { definition, starts: () => pids("start"), living: () => pids("start").filter((pid) => !pids("end").includes(pid)) };
}

/** `good` inside the test's process: for what does not depend on how a server is started. Counts how often it was. */
export function goodServer(fields: Partial<ServerDefinition> = {}) {
  const definition = serverDefinition("good", { transport: stdioServer("good", []), entry: { command: "good" }, ...fields });
  const living = new Set<object>();
  const calls: string[] = [];
  let starts = 0;
  const transports: TransportFactory = {
    async open() {
      const [near, far] = InMemoryTransport.createLinkedPair();
      const context = {
        name: "good",
        called: (tool: string) => void calls.push(tool),
        toolsChanged: (server: Server) => void server.sendToolListChanged(),
        resourceUpdated: (server: Server, uri: string) => void server.sendResourceUpdated({ uri }),
      };
      const handle = serveStdio(({ era }) => buildGoodServer({ ...context, modern: era === "modern" }), { transport: far });
      starts++;
      living.add(handle);
      const close = async (): Promise<void> => {
        living.delete(handle);
        await handle.close();
      };
      return ok({ transport: near, wire: "stdio", stderrTail: () => "", close });
    },
    explain: () => Promise.resolve(null),
    renewCredentials: () => Promise.resolve(false),
  };
  return { definition, transports, calls, starts: () => starts, living: () => living.size };
}

interface Session extends PoolUnderTest {
  /** Why servers run in it all the same. */
  readonly notices: string[];
}

export interface SharingUnderTest {
  /** The agent's own. */
  readonly agent: PoolUnderTest;
  readonly stateDir: string;
  readonly place: { readonly env: AdapterPorts["env"]; readonly home: string; readonly cwd: string };
  readonly sockets: () => string[];
  /** How many clients have left. */
  readonly detached: () => number;
  /** Another process's pool, as far as it can tell. `connected`: attached to this server. */
  readonly session: (given?: Partial<PoolGiven> & { readonly directory?: string; readonly connected?: string }) => Promise<Session>;
  /** Ends the sharing, and with `agent` its pool. */
  readonly close: () => Promise<void>;
}

export async function sharingUnderTest(
  servers: readonly ServerDefinition[],
  given: Partial<PoolGiven> & { readonly stateDir?: string; readonly timers?: Timers } = {},
): Promise<SharingUnderTest> {
  const stateDir = given.stateDir ?? tempDir("state");
  const directory = tempDir("project");
  const { PATH } = process.env;
  const place = { env: { PATH }, home: tempDir("home") };
  const asks = createAttachedAsks();
  const agent = await poolUnderTest({
    servers,
    time,
    transports: transportsUnderTest({ ...place, cwd: directory }).factory,
    ports: { forms: deskForms(false, () => undefined, asks), sampler: attachedSampler(asks) },
    ...given,
  });
  let detached = 0;
  const log: Log = { event: (_level, event) => void (detached += event === "shared.detached" ? 1 : 0) };
  const shared = await shareUpstreams({
    pool: agent.pool,
    stateDir,
    cwd: directory,
    ...place,
    timers: given.timers ?? systemTimers,
    log,
    asks,
  });
  onTestFinished(() => shared.close());
  return {
    agent,
    stateDir,
    place: { ...place, cwd: directory },
    detached: () => detached,
    sockets: () => readdirSync(join(stateDir, "shared")),
    close: () => shared.close(),
    async session({ directory: cwd = directory, connected, ...of } = {}) {
      const notices: string[] = [];
      const transports = sharedTransports(transportsUnderTest({ ...place, cwd }).factory, {
        stateDir,
        cwd,
        ...place,
        timers: systemTimers,
        asks: () => ({ form: true, url: false, sampling: true }),
        onUnshared: (notice) => notices.push(notice),
      });
      const session = { notices, ...(await poolUnderTest({ servers, time, transports, ...of })) };
      if (connected !== undefined) await session.pool.connect(connected, useOptions());
      return session;
    },
  };
}
