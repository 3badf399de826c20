import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeAgentFrame, decodeData, decodeRelayFrame, encodeControl, encodeData, split } from "../../../../shared/wire/codec.ts";
import { LIMITS } from "../../../../shared/wire/limits.ts";
import { aHello, aRequest } from "../../../support/wire-frames.ts";

const reasonOf = (result: ReturnType<typeof decodeAgentFrame | typeof decodeRelayFrame | typeof decodeData>) =>
  result.ok ? "accepted" : result.error.reason;

describe("a control frame", () => {
  test("[WP3] comes back as it was sent", () => {
    expect(decodeAgentFrame(encodeControl(aHello))).toEqual({ ok: true, value: aHello });
    expect(decodeRelayFrame(encodeControl(aRequest))).toEqual({ ok: true, value: aRequest });
  });

  test("[WP3] may carry lone surrogates, line separators and NUL in its strings", () => {
    const message = "\ud800 \udfff \u2028 \u2029 \u0000";
    const bye = { t: "bye", why: "leaving", message, comeBack: false } as const;
    expect(decodeAgentFrame(encodeControl(bye))).toEqual({ ok: true, value: bye });
  });

  test.each([
    ["nothing", ""],
    ["half a frame", '{"t":"got","x":'],
    ["two frames", '{"t":"got","x":1}{"t":"got","x":2}'],
    ["a byte order mark before it", '\ufeff{"t":"got","x":1}'],
    ["NaN", '{"t":"got","x":NaN}'],
  ])("[WP5] is not %s", (_what, text) => {
    expect(reasonOf(decodeAgentFrame(text))).toBe("not_json");
  });

  test.each([
    ["a string", '"got"'],
    ["null", "null"],
    ["an array", '[{"t":"got","x":1}]'],
    ["without a type", '{"x":1}'],
    ["typed by a number", '{"t":1,"x":1}'],
    ["a member that is missing", '{"t":"got"}'],
  ])("[WP5] is not %s", (_what, text) => {
    expect(reasonOf(decodeAgentFrame(text))).toBe("invalid");
  });

  test.each(["0", "-1", "1.5", "4294967296", "1e400", '"1"', "null", "[1]", "true"])("[WP5] has no exchange number %s", (x) => {
    expect(reasonOf(decodeAgentFrame(`{"t":"got","x":${x}}`))).toBe("invalid");
  });

  test.each(["1", "4294967295", "1e3", "1.0"])("has the exchange number %s", (x) => {
    expect(decodeAgentFrame(`{"t":"got","x":${x}}`)).toEqual({ ok: true, value: { t: "got", x: Number(x) } });
  });

  test("[WP5] of an unknown type is told apart from an invalid one, and its type is cut short", () => {
    const decoded = decodeRelayFrame(JSON.stringify({ t: "z".repeat(10_000) }));
    expect(decoded).toEqual({ ok: false, error: { reason: "unknown_type", detail: "z".repeat(40) } });
  });

  test("[WP5] of the other direction is unknown", () => {
    expect(reasonOf(decodeAgentFrame(encodeControl(aRequest)))).toBe("unknown_type");
    expect(reasonOf(decodeRelayFrame(encodeControl(aHello)))).toBe("unknown_type");
    expect(reasonOf(decodeAgentFrame('{"t":"constructor"}'))).toBe("unknown_type");
  });

  test("[WP5] loses the members that nobody declared, nested ones too", () => {
    const text = JSON.stringify({ ...aRequest, later: 1, principal: { ...aRequest.principal, later: 1 } });
    expect(decodeRelayFrame(text)).toEqual({ ok: true, value: aRequest });
  });

  test("[WP5] cannot reach a prototype", () => {
    const decoded = decodeAgentFrame('{"t":"got","x":1,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(decoded).toEqual({ ok: true, value: { t: "got", x: 1 } });
    const call = decodeAgentFrame('{"t":"call","id":"1","method":"m","params":{"__proto__":{"polluted":1},"kept":1}}');
    if (!call.ok || call.value.t !== "call") throw new Error("the call was not accepted");
    expect([Object.getPrototypeOf(call.value.params), call.value.params["polluted"], call.value.params["kept"]]).toEqual([
      Object.prototype,
      undefined,
      1,
    ]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("[WP5] nested a hundred thousand deep is refused or accepted, never thrown at", () => {
    const deep = (inside: string) => `{"t":"call","id":"1","method":"m","params":{"a":${"[".repeat(100_000)}${inside}${"]".repeat(100_000)}}}`;
    expect(["accepted", "not_json"]).toContain(reasonOf(decodeAgentFrame(deep("1"))));
    expect(reasonOf(decodeAgentFrame(deep("1").replace('"call"', '"got"')))).not.toBe("accepted");
  });

  test("[WP5] above its limit is refused before it is parsed", () => {
    const bye = (message: string) => `{"t":"bye","why":"leaving","comeBack":true,"message":"","pad":"${message}"}`;
    const room = LIMITS.controlBytes - bye("").length;
    expect(reasonOf(decodeAgentFrame(bye("a".repeat(room))))).toBe("accepted");
    expect(reasonOf(decodeAgentFrame(bye("a".repeat(room + 1))))).toBe("too_big");
    expect(reasonOf(decodeAgentFrame("[".repeat(LIMITS.controlBytes + 1)))).toBe("too_big");
  });

  test("[WP4] announces no body above 4 MiB", () => {
    expect(reasonOf(decodeRelayFrame(encodeControl({ ...aRequest, bytes: LIMITS.requestBytes })))).toBe("accepted");
    expect(reasonOf(decodeRelayFrame(encodeControl({ ...aRequest, bytes: LIMITS.requestBytes + 1 })))).toBe("invalid");
    expect(reasonOf(decodeRelayFrame(encodeControl({ ...aRequest, bytes: -1 })))).toBe("invalid");
  });

  test("[WP5] is described without its values", () => {
    const decoded = decodeRelayFrame(encodeControl({ ...aRequest, path: "secret".repeat(10_000) }));
    expect(decoded.ok ? "" : decoded.error.detail).toBe("path: max_length");
    const swapped = decodeRelayFrame(JSON.stringify({ ...aRequest, bytes: "secret" }));
    expect(swapped.ok ? "" : swapped.error.detail).not.toContain("secret");
  });

  test("[WP5] of any text gives an answer and no exception", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.json(),
          fc
            .record({ t: fc.constantFrom("hello", "head", "end", "call", "reply", "bye", "got"), x: fc.anything() })
            .map((value) => JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? 0 : item))),
        ),
        (text) => {
          expect(typeof decodeAgentFrame(text).ok).toBe("boolean");
          expect(typeof decodeRelayFrame(text).ok).toBe("boolean");
        },
      ),
    );
  });
});

describe("a data frame", () => {
  test("[WP3] is two big-endian numbers and its payload", () => {
    expect([...encodeData(0x0102_0304, 0xfffe_fdfc, new Uint8Array([7, 8]))]).toEqual([1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc, 7, 8]);
  });

  test("[WP3] comes back as it was sent, from a view into a larger buffer too", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 0xffff_ffff }),
        fc.nat(0xffff_ffff),
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.nat(9),
        (x, seq, bytes, offset) => {
          const frame = encodeData(x, seq, bytes);
          const larger = new Uint8Array(frame.byteLength + 20);
          larger.set(frame, offset);
          const decoded = decodeData(larger.subarray(offset, offset + frame.byteLength));
          expect(decoded).toEqual({ ok: true, value: { x, seq, bytes } });
          expect(decodeData(frame.buffer)).toEqual(decoded);
        },
      ),
    );
  });

  test.each([0, 1, 7, 8])("[WP5] of %d bytes is too short", (bytes) => {
    expect(reasonOf(decodeData(new Uint8Array(bytes).fill(1)))).toBe("too_short");
  });

  test("[WP5] of exchange 0 is not valid", () => {
    expect(reasonOf(decodeData(encodeData(0, 1, new Uint8Array(1))))).toBe("invalid");
  });

  test("[WP6] carries at most 256 KiB", () => {
    expect(reasonOf(decodeData(encodeData(1, 1, new Uint8Array(LIMITS.chunkBytes))))).toBe("accepted");
    expect(reasonOf(decodeData(encodeData(1, 1, new Uint8Array(LIMITS.chunkBytes + 1))))).toBe("too_big");
    expect(reasonOf(decodeData(new ArrayBuffer(32 * 1024 * 1024 + 1)))).toBe("too_big");
  });
});

describe("splitting", () => {
  test.each([
    [0, []],
    [1, [1]],
    [262_144, [262_144]],
    [262_145, [262_144, 1]],
    [1_048_576, [262_144, 262_144, 262_144, 262_144]],
  ])("[WP6] cuts %d bytes into %j", (bytes, pieces) => {
    expect([...split(new Uint8Array(bytes))].map((piece) => piece.byteLength)).toEqual(pieces);
  });

  test("[WP6] keeps every byte in its place", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (bytes, size) => {
        expect([...split(bytes, size)].flatMap((piece) => [...piece])).toEqual([...bytes]);
      }),
    );
  });
});
