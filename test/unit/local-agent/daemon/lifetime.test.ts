import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLifetime, watchProcess, type EndReason } from "../../../../local-agent/daemon/lifetime.ts";
import { silentLog } from "../../../../local-agent/node/log-sinks.ts";

const asked: EndReason = { exitCode: 0, why: "test", message: null };

test("[ST20] everything is closed once, latest first, and the first reason stands", async () => {
  const lifetime = createLifetime(silentLog);
  const order: string[] = [];
  lifetime.onEnd("first", () => void order.push("first"));
  lifetime.onEnd("second", async () => {
    await sleep(5);
    order.push("second");
  });
  lifetime.end(asked);
  lifetime.end({ exitCode: 1, why: "later", message: "too late" });
  expect(await lifetime.ended).toEqual({ ...asked, errors: [] });
  expect(order).toEqual(["second", "first"]);
  expect(lifetime.signal.aborted).toBe(true);
});

test("[ST20] a failing clean-up does not keep the others from running", async () => {
  const lifetime = createLifetime(silentLog);
  const order: string[] = [];
  lifetime.onEnd("good", () => void order.push("good"));
  lifetime.onEnd("bad", () => {
    throw new Error("stuck");
  });
  lifetime.end(asked);
  const ended = await lifetime.ended;
  expect([order, ended.errors]).toEqual([["good"], [new Error("stuck")]]);
});

test("[ST21] closing has a deadline", async () => {
  const lifetime = createLifetime(silentLog, 30);
  lifetime.onEnd("never", () => new Promise(() => {}));
  lifetime.end(asked);
  expect(String((await lifetime.ended).errors[0])).toContain("longer than 30 ms");
});

test("what is registered after the end began is closed at once", async () => {
  const lifetime = createLifetime(silentLog);
  lifetime.end(asked);
  let closed = false;
  lifetime.onEnd("late", () => void (closed = true));
  expect(closed).toBe(true);
});

function watched() {
  const host = new EventEmitter();
  const lifetime = createLifetime(silentLog);
  let hard = 0;
  watchProcess(lifetime, { endHard: () => void hard++, log: silentLog, host: host as unknown as NodeJS.Process });
  return { host, lifetime, hardEnds: () => hard };
}

test.for(["SIGINT", "SIGTERM", "SIGHUP", "disconnect"])("[ST22] %s ends the agent with exit code 0", async (event) => {
  const { host, lifetime } = watched();
  host.emit(event, event);
  expect(await lifetime.ended).toMatchObject({ exitCode: 0, message: null });
});

test("[ST23] the echo of one keystroke is not a second one; a later signal ends hard", async () => {
  const { host, hardEnds } = watched();
  host.emit("SIGINT", "SIGINT");
  host.emit("SIGINT", "SIGINT");
  expect(hardEnds()).toBe(0);
  await sleep(900);
  host.emit("SIGINT", "SIGINT");
  expect(hardEnds()).toBe(1);
});

test("[ST24] an uncaught error ends the agent with exit code 1 and a sentence, not a stack", async () => {
  const { host, lifetime } = watched();
  host.emit("uncaughtException", new Error("boom"));
  expect(await lifetime.ended).toMatchObject({ exitCode: 1, message: "pimcp ended because of an internal error: boom" });
});

test("a rejection that nobody waits for is logged and ends nothing", () => {
  const { host, lifetime } = watched();
  host.emit("unhandledRejection", new Error("aborted"));
  expect(lifetime.signal.aborted).toBe(false);
});

test("a reader of our output that goes away does not end the agent", () => {
  const { host, lifetime } = watched();
  host.emit("uncaughtException", Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" }));
  expect(lifetime.signal.aborted).toBe(false);
});
