import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundedResponse, type StreamEnd } from "../../../../local-agent/node/bounded-response.ts";

function streamed(chunks: readonly string[], type: string, status = 200): Response {
  const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const chunk of bytes) controller.enqueue(chunk);
      controller.close();
    },
  });
  return new Response(body, { status, headers: { "content-type": type, "content-length": "7" } });
}

const events = (chunks: readonly string[]) => streamed(chunks, "text/event-stream");

describe("an answer", () => {
  test("[UT27] comes through byte for byte as long as each event is short enough, however long the stream", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, ""))),
        fc.constantFrom("\n", "\r", "\r\n"),
        fc.integer({ min: 1, max: 9 }),
        async (lines, end, size) => {
          const text = lines.map((line) => `data: ${line}${end}${end}`).join("");
          const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
          const response = boundedResponse(events(chunks), () => {}, 200);
          expect(await response.text()).toBe(text);
          expect(response.headers.has("content-length")).toBe(false);
        },
      ),
    );
  });

  test.each(["\n", "\r", "\r\n"])("[UT27] fails with the event that is too long (line end %j)", async (end) => {
    const ends: StreamEnd[] = [];
    const response = boundedResponse(events([`data: a${end}${end}data: `, "x".repeat(100), `${end}${end}`]), (one) => ends.push(one), 50);
    await expect(response.text()).rejects.toThrow("longer than 50 bytes");
    expect(ends).toMatchObject([{ error: { message: expect.stringContaining("longer than 50 bytes") as string }, isResumable: false }]);
  });

  test("[UT27] fails so although its events are numbered: asked for again it would be as long", async () => {
    const ends: StreamEnd[] = [];
    await expect(boundedResponse(events(["id: 1\ndata: a\n\ndata: ", "x".repeat(100)]), (one) => ends.push(one), 50).text()).rejects.toThrow(
      "longer than",
    );
    expect(ends).toMatchObject([{ isResumable: false }]);
  });

  test("[UT27] of another kind is bounded as a whole, a refusal is cut", async () => {
    await expect(boundedResponse(streamed(["x".repeat(30), "x".repeat(30)], "application/json"), undefined, 50).text()).rejects.toThrow(
      "longer than 50",
    );
    expect(await boundedResponse(streamed(["x".repeat(200_000)], "text/html", 500)).text()).toHaveLength(64 * 1024);
  });

  test.each([
    ["id: 1\ndata: a\n\n", true],
    ["data: a\nid: 7\n\n", true],
    ["data: id: 1\n\n", false],
    ["idle: 1\ndata: a\n\n", false],
    ["data: a\r\nid:\r\n\r\n", true],
  ])("[UT31] %j can be resumed: %s", async (text, isResumable) => {
    const ends: StreamEnd[] = [];
    for (const chunks of [[text], text.split("")]) await boundedResponse(events(chunks), (one) => ends.push(one)).text();
    expect(ends).toEqual([
      { error: null, isResumable },
      { error: null, isResumable },
    ]);
  });

  test("[UT31] that its reader did not want to the end is no broken one", async () => {
    const ends: StreamEnd[] = [];
    const response = boundedResponse(events(["data: a\n\n"]), (one) => ends.push(one));
    await response.body?.cancel();
    expect(ends).toEqual([]);
  });
});
