import { expect, test } from "vitest";
import { LIMITS } from "../../../shared/wire/limits.ts";
import { BodyReader } from "../../../worker/workspace/request-body.ts";

const request = (body: ReadableStream<Uint8Array> | string) => new Request("https://relay.example/mcp", { method: "POST", body });
const pieces = (count: number, bytes: number) => {
  let left = count;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      left -= 1;
      if (left < 0) controller.close();
      else controller.enqueue(new Uint8Array(bytes));
    },
  });
};

test("[ED11] a body that does not come in time is given up, and its bytes no longer count", async () => {
  const bodies = new BodyReader({ withinMs: 100 });
  const stalled = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(1000)) });
  expect(await bodies.read(request(stalled))).toEqual({ ok: false, error: "too_slow" });
  expect(await bodies.read(request("{}"))).toMatchObject({ ok: true });
});

test("[ED7] a body is whole up to the limit and refused beyond it", async () => {
  const bodies = new BodyReader();
  const whole = await bodies.read(request(pieces(4, LIMITS.requestBytes / 4)));
  expect(whole.ok && whole.value.byteLength).toBe(LIMITS.requestBytes);
  expect(await bodies.read(request(pieces(5, LIMITS.requestBytes / 4)))).toEqual({ ok: false, error: "too_large" });
});

test("[WP4] bodies that are being read count against what is held in all", async () => {
  const bodies = new BodyReader({ withinMs: 2000 });
  const size = LIMITS.requestBytes - 1;
  const stalled = () =>
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let sent = 0; sent < size; sent += 1024 * 1024) controller.enqueue(new Uint8Array(Math.min(1024 * 1024, size - sent)));
      },
    });
  const reading = Array.from({ length: LIMITS.heldBytes / LIMITS.requestBytes }, () => bodies.read(request(stalled())));
  await scheduler.wait(500);
  expect(await bodies.read(request(pieces(1, 1024 * 1024)))).toEqual({ ok: false, error: "too_much_held" });
  for (const each of await Promise.all(reading)) expect(each).toEqual({ ok: false, error: "too_slow" });
  expect(await bodies.read(request(pieces(1, 1024 * 1024)))).toMatchObject({ ok: true });
});
