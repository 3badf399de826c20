/** A pool over scripted upstreams, with time, trust, forms and kept catalogs in a test's hand. */
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { ServerDefinition, UpstreamConfig } from "../../local-agent/adapter/config/server-definition.ts";
import type { AdapterPorts, Caller, StoredCatalog, TransportFactory, UpstreamQuestion } from "../../local-agent/adapter/ports.ts";
import { createUpstreamPool } from "../../local-agent/adapter/upstream/pool.ts";
import type { PoolEvent, UpstreamPool, UseOptions } from "../../local-agent/adapter/upstream/upstream-pool.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { ManualClock } from "./manual-clock.ts";
import { type ScriptedForms, scriptedForms } from "./scripted-forms.ts";
import { scriptedSampler } from "./scripted-sampler.ts";
import { scriptedTrust, type TrustScript } from "./scripted-trust.ts";
import { ScriptedUpstreams } from "./scripted-upstreams.ts";

export interface PoolUnderTest {
  readonly pool: UpstreamPool;
  readonly clock: ManualClock;
  readonly upstreams: ScriptedUpstreams;
  readonly events: PoolEvent[];
  readonly kept: Map<string, StoredCatalog>;
  readonly trust: TrustScript;
  readonly questions: UpstreamQuestion[];
  readonly answerForm: ScriptedForms["answer"];
}

export interface PoolGiven {
  readonly servers: readonly ServerDefinition[];
  readonly kept?: ReadonlyMap<string, StoredCatalog>;
  readonly settings?: { readonly sampling?: boolean; readonly elicitation?: boolean };
  readonly transports?: TransportFactory;
  /** Absent: the test moves time. */
  readonly time?: Clock & Timers;
  readonly others?: UpstreamConfig["servers"];
  /** In place of those that a test answers. */
  readonly ports?: Partial<Pick<AdapterPorts, "forms" | "sampler" | "trust">>;
}

export async function poolUnderTest(given: PoolGiven): Promise<PoolUnderTest> {
  const clock = new ManualClock();
  const time = given.time ?? clock;
  const upstreams = new ScriptedUpstreams();
  const events: PoolEvent[] = [];
  const kept = new Map(given.kept);
  const { script, trust } = scriptedTrust();
  const forms = scriptedForms();
  const enabled = given.servers.map((definition) => [definition.name, { state: "enabled", name: definition.name, definition }] as const);
  const config = {
    servers: new Map([...enabled, ...(given.others ?? [])]),
    settings: { sampling: given.settings?.sampling ?? null, elicitation: given.settings?.elicitation ?? null },
    projectSettingsText: null,
    warnings: [],
    sources: [],
  } as unknown as UpstreamConfig;
  const pool = await createUpstreamPool({
    config,
    hash: (definition) => `hash of ${definition.name}`,
    ports: {
      clock: time,
      timers: time,
      log: silentLog,
      transports: given.transports ?? upstreams,
      sha256: (text) => createHash("sha256").update(text).digest("hex"),
      metadata: { read: async () => kept, write: async (server, entry) => void kept.set(server, entry) },
      trust,
      forms,
      sampler: scriptedSampler("sampled"),
      ...given.ports,
    },
  });
  pool.subscribe((event) => events.push(event));
  onTestFinished(() => pool.close());
  return { pool, clock, upstreams, events, kept, trust: script, questions: forms.questions, answerForm: forms.answer };
}

export const REMOTE: Caller = { kind: "remote", principalId: "grant:1", client: "test", probe: () => undefined };

export function useOptions(given: Partial<UseOptions> = {}): UseOptions {
  return { signal: new AbortController().signal, caller: REMOTE, ...given };
}

/** One call of the tool `echo`. */
export function echo(pool: UpstreamPool, server: string, options: UseOptions = useOptions()) {
  return callOf(pool, server, { name: "echo", arguments: { text: "hello" } }, options);
}

export function callOf(
  pool: UpstreamPool,
  server: string,
  call: { readonly name: string; readonly arguments: Record<string, unknown> },
  options: UseOptions = useOptions(),
) {
  return pool.use(server, options, (upstream) => upstream.callTool(call, upstream.requestOptions()));
}

/** Until everything that needs no time has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

/** Moves time on in steps, so that what one step starts is there when the next one begins. */
export async function advance(clock: ManualClock, ms: number, stepMs = 1000): Promise<void> {
  await settled();
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(stepMs, left));
    await settled();
  }
}

/** What a promise rejects with; listened to at once, so that it may reject at any time. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "no failure",
    (error: unknown) => error,
  );
}
