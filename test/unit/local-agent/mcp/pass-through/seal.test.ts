import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSeal, digestOf } from "../../../../../local-agent/mcp/pass-through/seal.ts";

const key = new Uint8Array(32).fill(7);
const at = { now: () => 1000 };

describe("a sealed text", () => {
  const seal = createSeal(key, at);

  test("opens for what it was made for, and for nothing else", () => {
    const text = seal.seal("round", ["grant:1", "files"], { a: 1 }, 500);
    expect(seal.open("round", ["grant:1", "files"], text)).toEqual({ a: 1 });
    expect(seal.open("session", ["grant:1", "files"], text)).toBeNull();
    expect(seal.open("round", ["grant:2", "files"], text)).toBeNull();
    expect(seal.open("round", ["grant:1files"], text)).toBeNull();
    expect(createSeal(new Uint8Array(32).fill(8), at).open("round", ["grant:1", "files"], text)).toBeNull();
  });

  test("opens until its time is over", () => {
    const text = seal.seal("round", [], {}, 500);
    expect(createSeal(key, { now: () => 1499 }).open("round", [], text)).toEqual({});
    expect(createSeal(key, { now: () => 1500 }).open("round", [], text)).toBeNull();
  });

  test("does not open when one character of it is another", () => {
    const text = seal.seal("round", ["x"], { state: "secret" }, 500);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom("A", "B", "x", "0", "9", "-", "_", "."), (index, character) => {
        fc.pre(text[index] !== character);
        const changed = text.slice(0, index) + character + text.slice(index + 1);
        const opened = seal.open("round", ["x"], changed);
        // The last character of base64 may have bits that mean nothing: such a text says the same.
        expect(opened === null || JSON.stringify(opened) === '{"state":"secret"}').toBe(true);
      }),
    );
  });

  test("says nothing to whoever keeps it", () => {
    const text = seal.seal("round", ["x"], { state: "secret" }, 500);
    expect(Buffer.from(text, "base64url").toString("latin1")).not.toContain("secret");
    expect(seal.seal("round", ["x"], { state: "secret" }, 500)).not.toBe(text);
  });

  test("is never longer than what opens", () => {
    const large = { state: "x".repeat(190_000) };
    expect(seal.open("round", ["x"], seal.seal("round", ["x"], large, 500))).toEqual(large);
    expect(() => seal.seal("round", ["x"], { state: "x".repeat(200_000) }, 500)).toThrow(RangeError);
  });

  test("never throws for what a stranger sends", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(seal.open("round", [], text)).toBeNull();
      }),
    );
  });

  test("needs a key that protects", () => {
    expect(() => createSeal(new Uint8Array(31), at)).toThrow(/32 bytes/);
  });

  test("of a digest: equal requests have one, others another", () => {
    expect(digestOf("tools/call", { b: 1, a: { d: 2, c: 3 } })).toBe(digestOf("tools/call", { a: { c: 3, d: 2 }, b: 1 }));
    expect(digestOf("tools/call", { a: 1 })).not.toBe(digestOf("prompts/get", { a: 1 }));
  });
});
