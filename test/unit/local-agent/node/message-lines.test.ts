import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessageLines } from "../../../../local-agent/node/message-lines.ts";
import { TextTail } from "../../../../local-agent/node/text-tail.ts";

/** Cuts bytes at the given places, wherever they are in a character or a line. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

function read(chunks: readonly Buffer[], maxBytes?: number) {
  const messages: unknown[] = [];
  let stray = 0;
  const lines = new MessageLines({ message: (message) => messages.push(message), stray: () => (stray += 1) }, maxBytes);
  for (const chunk of chunks) lines.take(chunk);
  return { messages, stray };
}

/** The SDK's parser leaves out a member of that name. */
const name = fc.string().filter((text) => text !== "__proto__");

const message = fc.record({
  jsonrpc: fc.constant("2.0"),
  method: fc.string({ minLength: 1 }),
  params: fc.dictionary(name, fc.string({ unit: "grapheme" })),
});

describe("lines of messages", () => {
  test("[UT6] are the same however they arrive, with anything printed between them passed over", () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat()), fc.constantFrom("\n", "\r\n"), (sent, places, end) => {
        const text = sent.map((one) => `starting up…${end}${JSON.stringify(one)}${end}${end}`).join("");
        const { messages, stray } = read(cutAt(Buffer.from(text), places));
        expect(messages).toEqual(JSON.parse(JSON.stringify(sent)));
        expect(stray).toBe(sent.length);
      }),
    );
  });

  test("[UT6] may be as long as allowed and no byte longer, in one piece or many", () => {
    const line = Buffer.from(JSON.stringify({ jsonrpc: "2.0", method: "a" }));
    const whole = Buffer.concat([line, Buffer.from("\n")]);
    const bytes = [...whole].map((byte) => Buffer.from([byte]));
    for (const chunks of [[whole], bytes]) {
      expect(read(chunks, line.length).messages).toHaveLength(1);
      expect(() => read(chunks, line.length - 1)).toThrow(`a line of more than ${line.length - 1} bytes`);
    }
  });

  test("[UT6] cost about what they hold while they are not whole, also in single bytes", () => {
    const lines = new MessageLines({ message: () => undefined, stray: () => undefined });
    const before = process.memoryUsage().heapUsed;
    for (let byte = 0; byte < 1_000_000; byte++) lines.take(Buffer.from([0x61]));
    // What may be garbage by now included; a million pieces would be twice that.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
  });
});

test("[UT3] the tail of a stream is its end, never longer than allowed, and begins with a whole character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat()), fc.integer({ min: 1, max: 20 }), (text, places, maxBytes) => {
      const tail = new TextTail(maxBytes);
      const bytes = Buffer.from(text);
      for (const chunk of cutAt(bytes, places)) tail.add(chunk);
      const kept = tail.text();
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxBytes);
      expect(text.trimEnd().endsWith(kept) || text.endsWith(kept)).toBe(true);
      expect(kept).not.toContain("\ufffd");
    }),
  );
});
