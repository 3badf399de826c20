import { describe, expect, test } from "vitest";
import type { AgentEffect } from "../../../../shared/wire/agent-exchanges.ts";
import { packAnswer, packRequest, unpackAnswer, unpackRequest } from "../../../../shared/wire/inline.ts";
import { LIMITS } from "../../../../shared/wire/limits.ts";
import { createUtf8 } from "../../../../shared/wire/utf8.ts";
import type { RelayEffect } from "../../../../shared/wire/relay-exchanges.ts";

const utf8 = createUtf8({ TextDecoder, TextEncoder });
const bytes = (text: string) => new TextEncoder().encode(text);
const request = (body: Uint8Array): RelayEffect[] => [
  {
    do: "request",
    frame: {
      t: "request",
      x: 1,
      method: "POST",
      path: "/mcp",
      headers: [],
      principal: { id: "a", kind: "token", name: "", scope: [] },
      bytes: body.byteLength,
    },
  },
  { do: "request-data", x: 1, seq: 0, bytes: body },
];
const answer = (body: Uint8Array, whole = true): AgentEffect[] => [
  { do: "send-head", x: 1, head: { status: 200, headers: [], last: null } },
  ...(body.byteLength > 0 ? [{ do: "send-data", x: 1, seq: 1, bytes: body } as const] : []),
  { do: "send-end", x: 1, seq: body.byteLength > 0 ? 2 : 1, whole },
];

describe("a small body inside its first frame", () => {
  test("[WP24] comes out byte for byte, byte order mark and all", () => {
    for (const text of ["{}", "\ufeff{}", "\u0000\u2028\ud83d\ude00", "x".repeat(LIMITS.inlineBytes)]) {
      const packed = packRequest(request(bytes(text)), utf8);
      expect(packed && unpackRequest(packed, utf8)).toEqual(bytes(text));
      const head = packAnswer(answer(bytes(text)), utf8);
      expect(head && unpackAnswer(head, utf8)).toEqual({ data: bytes(text), endSeq: 2 });
    }
    const empty = packAnswer(answer(bytes("")), utf8);
    expect(empty && unpackAnswer(empty, utf8)).toEqual({ data: undefined, endSeq: 1 });
  });

  test("[WP24] stays outside when it is large or not UTF-8", () => {
    for (const body of [bytes("x".repeat(LIMITS.inlineBytes + 1)), Uint8Array.of(0xff), Uint8Array.of(0xed, 0xa0, 0x80)]) {
      expect(packRequest(request(body), utf8)).toBeUndefined();
      expect(packAnswer(answer(body), utf8)).toBeUndefined();
    }
  });

  test("[WP24] stays outside when there is more to it than one frame says", () => {
    expect(packAnswer(answer(bytes("a"), false), utf8)).toBeUndefined();
    expect(packAnswer([...answer(bytes("a")), { do: "resume", x: 1 }], utf8)).toBeUndefined();
    expect(packAnswer(answer(bytes("a")).slice(1), utf8)).toBeUndefined();
    expect(packAnswer(answer(bytes("a")).slice(0, 2), utf8)).toBeUndefined();
    expect(packRequest(request(bytes("ab")).slice(0, 1), utf8)).toBeUndefined();
    expect(packRequest([...request(bytes("a")), ...request(bytes("a"))], utf8)).toBeUndefined();
  });
});
