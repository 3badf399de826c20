import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import type { Adapter } from "../../../../local-agent/adapter/adapter.ts";
import { createPiTools } from "../../../../local-agent/pi/pi-tools.ts";
import { createSessionAdapter } from "../../../../local-agent/pi/session-adapter.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function scene(makes: (() => Promise<Adapter>)[], onReady = (): void => {}) {
  const clock = new ManualClock();
  const said: string[] = [];
  const session = createSessionAdapter({
    make: () => makes.shift()?.() ?? Promise.reject(new Error("no more")),
    onReady: () => {
      onReady();
      said.push("ready");
      return () => said.push("let go");
    },
    timers: clock,
  });
  const adapter = (name: string): Adapter => ({ close: () => Promise.resolve(void said.push(`closed ${name}`)) }) as Partial<Adapter> as Adapter;
  return { session, said, clock, adapter };
}

test("[PI13] a start that failed is remembered with its cause and tried again by the next use", async () => {
  const makes: (() => Promise<Adapter>)[] = [() => Promise.reject(new Error("x".repeat(2000)))];
  const { session, adapter } = scene(makes);
  await expect(session.get()).rejects.toThrow(/^x{1000}$/);
  expect(session.state()).toEqual({ at: "failed", cause: "x".repeat(1000) });
  const made = adapter("a");
  makes.push(() => Promise.resolve(made));
  expect(await session.get()).toBe(made);
});

test("[PI13] uses share one start, and do not wait longer than half a minute for it", async () => {
  const { promise, resolve } = Promise.withResolvers<Adapter>();
  const { session, clock, adapter } = scene([() => promise]);
  const waiting = [session.get(), session.get()];
  const ends = Promise.allSettled(waiting);
  clock.advance(30_000);
  expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const made = adapter("a");
  resolve(made);
  expect(await session.get()).toBe(made);
});

test("[PI13] a use says whether the start failed or goes on", async () => {
  const registered: ToolDefinition[] = [];
  const pi = { registerTool: (tool: ToolDefinition) => registered.push(tool) } as Partial<ExtensionAPI> as ExtensionAPI;
  const { session, clock } = scene([() => Promise.reject(new Error("no disk")), () => new Promise(() => {})]);
  const tools = createPiTools(pi, () => session.get());
  tools.offerRetry("no disk");
  const use = () => registered[0]?.execute("1", {}, undefined, undefined, {} as never);
  expect(await use()).toMatchObject({ isError: true, details: { error: "init_failed" } });
  const late = use();
  clock.advance(30_000);
  expect(await late).toMatchObject({ isError: true, details: { error: "init_timeout" } });
});

test("[PI12] what was still being made when the session ended is ended as soon as it is, and nobody sees it", async () => {
  const { promise, resolve } = Promise.withResolvers<Adapter>();
  const { session, said, adapter } = scene([() => promise]);
  const waiting = session.get().catch((error: unknown) => String(error));
  const ending = session.end();
  resolve(adapter("a"));
  await ending;
  expect(await waiting).toContain("the Pi session has ended");
  expect(said).toEqual(["closed a"]);
  expect(session.state()).toEqual({ at: "none" });
});

test("[PI12] [PI13] what Pi could not be told of is ended before the next use tries again", async () => {
  const answers = [new Error("This context is stale."), null];
  const makes: (() => Promise<Adapter>)[] = [];
  const { session, said, adapter } = scene(makes, () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
  });
  makes.push(
    () => Promise.resolve(adapter("a")),
    () => Promise.resolve(adapter("b")),
  );
  await expect(session.get()).rejects.toThrow("This context is stale.");
  expect(session.state()).toEqual({ at: "failed", cause: "This context is stale." });
  expect(said).toEqual(["closed a"]);
  await session.get();
  expect(said).toEqual(["closed a", "ready"]);
});

test("[PI12] the end of a session does not wait for a start that hangs", async () => {
  const { promise, resolve } = Promise.withResolvers<Adapter>();
  const { session, said, clock, adapter } = scene([() => promise]);
  const waiting = session.get().catch((error: unknown) => String(error));
  const ending = session.end();
  clock.advance(5_000);
  await ending;
  resolve(adapter("a"));
  await waiting;
  expect(said).toEqual(["closed a"]);
});
