import * as fc from "fast-check";
import { expect, test } from "vitest";
import { advance, echo, poolUnderTest, settled, useOptions } from "../../../support/pool-under-test.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { httpError, NEVER, RpcError } from "../../../support/scripted-upstreams.ts";

const step = fc.constantFrom(
  "echo",
  "echo and leave",
  "connect",
  "replace",
  "disconnect",
  "refresh",
  "die",
  "die at once",
  "hang",
  "refuse",
  "forget",
  "heal",
  "tell",
  "second",
  "minute",
  "ten minutes",
);
const server = fc.record({
  lifecycle: fc.constantFrom("lazy", "eager", "keep-alive", "lazy-keep-alive"),
  protocolVersion: fc.constantFrom("legacy", "auto"),
  modern: fc.boolean(),
} as const);

test("[UP20] whatever happens in whatever order, one connection serves, every use ends, and a server that works again is used again", async () => {
  const run = async (
    given: { lifecycle: "lazy" | "eager" | "keep-alive" | "lazy-keep-alive"; protocolVersion: "legacy" | "auto"; modern: boolean },
    steps: string[],
  ) => {
    const { modern, ...fields } = given;
    const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo", fields)] });
    const script = upstreams.script("demo");
    script.modern = modern && given.protocolVersion === "auto";
    script.sessionId = script.modern ? undefined : "s";
    const uses: Promise<unknown>[] = [];
    const use = (options = useOptions()) => void uses.push(echo(pool, "demo", options).catch(() => undefined));
    const failing = (answer: () => unknown) => void (script.methods["tools/call"] = script.methods["tools/list"] = answer);
    const happens: Record<string, () => unknown> = {
      echo: () => use(),
      "echo and leave": () => {
        const leaving = new AbortController();
        use(useOptions({ signal: leaving.signal }));
        queueMicrotask(() => leaving.abort());
      },
      connect: () => void uses.push(pool.connect("demo", useOptions({ ignoreBackoff: true }))),
      replace: () => void uses.push(pool.connect("demo", { ...useOptions({ ignoreBackoff: true }), replace: true })),
      disconnect: () => void uses.push(pool.disconnect("demo")),
      refresh: () => void uses.push(pool.refreshKeptAlive(new AbortController().signal)),
      die: () => upstreams.of("demo").at(-1)?.die(),
      "die at once": () => void (script.failure = { kind: "failed", message: "exit 1" }),
      hang: () => failing(() => NEVER),
      refuse: () => failing(() => new RpcError(-32603, "no")),
      forget: () =>
        failing(() => {
          throw httpError(404);
        }),
      heal: () => {
        script.failure = null;
        script.methods = {};
      },
      tell: () => upstreams.of("demo").forEach((peer) => peer.notify("notifications/tools/list_changed")),
      second: () => advance(clock, 1000),
      minute: () => advance(clock, 60_000, 15_000),
      "ten minutes": () => advance(clock, 600_000, 60_000),
    };
    pool.start();
    for (const each of steps) {
      await happens[each]?.();
      await settled();
    }
    happens["heal"]?.();
    await advance(clock, 400_000, 20_000);
    await Promise.all(uses);
    const works = await echo(pool, "demo", useOptions({ ignoreBackoff: true })).catch((error: unknown) => error);
    await settled();
    const living = upstreams.living("demo");
    await pool.close();
    await settled();
    return { works, living, left: upstreams.living("demo") };
  };
  await fc.assert(
    fc.asyncProperty(server, fc.array(step, { maxLength: 14 }), async (given, steps) => {
      expect(await run(given, steps)).toMatchObject({ works: { ok: true }, living: 1, left: 0 });
    }),
    { numRuns: 60 },
  );
});
