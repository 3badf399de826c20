import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BodyReader } from "../../../../worker/workspace/request-body.ts";
import { errorOf, REDIRECT, withIssuer } from "./bench.workerd.ts";

const PATHS = ["/register", "/token", "/revoke"];
const form = { "content-type": "application/x-www-form-urlencoded" };

/** A body of which only the beginning ever comes. */
const stalled = (bytes: number) =>
  new ReadableStream<Uint8Array>({ start: (controller) => (bytes > 0 ? controller.enqueue(new Uint8Array(bytes).fill(97)) : undefined) });
const request = (body: ReadableStream<Uint8Array> | string) => new Request("https://relay.example/token", { method: "POST", body });

describe("bodies of strangers", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("[OA63] a body that does not come within ten seconds is given up", () =>
    withIssuer(async (bench) => {
      const answers = PATHS.map((path) => bench.send(path, { method: "POST", body: stalled(100), headers: form }));
      await vi.advanceTimersByTimeAsync(9_900);
      expect(await Promise.race([...answers, Promise.resolve("waiting")])).toBe("waiting");
      await vi.advanceTimersByTimeAsync(200);
      for (const answer of answers) {
        const response = await answer;
        expect([response.status, await errorOf(response), response.headers.get("access-control-allow-origin")]).toEqual([
          408,
          "invalid_request",
          "*",
        ]);
      }
      expect(vi.getTimerCount()).toBe(0);
    }));

  test("[OA64] open bodies give way to one that is sent at once, oldest first", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const open = Array.from({ length: 600 }, (_, at) =>
        bench.send(PATHS[at % 3] ?? "", { method: "POST", body: stalled(at % 2), headers: form, ip: `198.51.${at % 250}.1` }),
      );
      for (const answer of open.slice(0, 60)) {
        const response = await answer;
        if (response.status === 429) continue;
        expect([response.status, response.headers.get("retry-after"), await errorOf(response)]).toEqual([503, "5", "temporarily_unavailable"]);
      }
      expect(await errorOf(await bench.refresh(clientId, "unknown"))).toBe("invalid_grant");
      expect((await bench.send("/register", { json: { redirect_uris: [REDIRECT] } })).status).toBe(201);
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await Promise.all(open)).some(({ status }) => status === 408)).toBe(true);
    }));
});

test("[OA64] what came of a body counts, and no longer when it is over", async () => {
  const bodies = new BodyReader({ maxBytes: 16_384, totalBytes: 32_768, withinMs: 500, from: "strangers" });
  const [first, second] = [bodies.read(request(stalled(16_000))), bodies.read(request(stalled(12_000)))];
  await scheduler.wait(100);
  expect(await bodies.read(request("a"))).toMatchObject({ ok: true });
  const third = bodies.read(request(stalled(10_000)));
  expect(await first).toEqual({ ok: false, error: "too_much_held" });
  for (const slow of [second, third]) expect(await slow).toEqual({ ok: false, error: "too_slow" });
  const both = await Promise.all([bodies.read(request("b".repeat(16_384))), bodies.read(request("c".repeat(16_384)))]);
  expect(both.map((read) => read.ok && read.value.byteLength)).toEqual([16_384, 16_384]);
  expect(await bodies.read(request("d".repeat(16_385)))).toEqual({ ok: false, error: "too_large" });
});
