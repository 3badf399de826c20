import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRpcId, readRpcMessage, rpcError, rpcErrorEvent } from "../../../shared/jsonrpc.ts";

describe("a message", () => {
  test.each([0, "", -1, 9_007_199_254_740_991, "a b", "\u2028"])("with the id %j is a request", (id) => {
    const text = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" });
    expect(readRpcMessage(text)).toEqual({ kind: "request", id, method: "tools/list", params: {} });
  });

  test.each([null, 1.5, true, [1], { a: 1 }])("with the id %j is refused without an id", (id) => {
    const read = readRpcMessage(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" }));
    expect(read).toMatchObject({ kind: "invalid", code: -32600, id: null });
  });

  test("without an id is a notification", () => {
    const text = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}';
    expect(readRpcMessage(text)).toEqual({ kind: "notification", method: "notifications/cancelled", params: { requestId: 0 } });
  });

  test("without a method is a response when it carries a result or an error", () => {
    expect(readRpcMessage('{"jsonrpc":"2.0","id":0,"result":{}}')).toEqual({ kind: "response", id: 0 });
    expect(readRpcMessage('{"jsonrpc":"2.0","id":"","error":{}}')).toEqual({ kind: "response", id: "" });
    expect(readRpcMessage('{"jsonrpc":"2.0","id":7}')).toMatchObject({ kind: "invalid", code: -32600, id: 7 });
  });

  test.each(["[]", '[{"jsonrpc":"2.0","id":1,"method":"a"}]'])("that is the batch %s is refused", (text) => {
    expect(readRpcMessage(text)).toMatchObject({ kind: "invalid", code: -32600, id: null });
  });

  test.each(["", "{", "undefined", "{'a':1}", "\u0000"])("that is %j is a parse error", (text) => {
    expect(readRpcMessage(text)).toMatchObject({ kind: "invalid", code: -32700, id: null });
  });

  test.each([
    "null",
    "1",
    '"a"',
    "{}",
    '{"jsonrpc":"1.0","id":1,"method":"a"}',
    '{"jsonrpc":2,"id":1,"method":"a"}',
    '{"jsonrpc":"2.0","id":1,"method":5}',
  ])("that is %s is an invalid request", (text) => {
    expect(readRpcMessage(text)).toMatchObject({ kind: "invalid", code: -32600 });
  });

  test("with parameters that are no object has none", () => {
    expect(readRpcMessage('{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}')).toMatchObject({ kind: "request", params: {} });
  });

  test("whose __proto__ is a member stays a message of its own", () => {
    const read = readRpcMessage('{"jsonrpc":"2.0","id":1,"method":"a","params":{},"__proto__":{"polluted":1}}');
    expect(read).toEqual({ kind: "request", id: 1, method: "a", params: {} });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("of any text gives an answer and no exception", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => {
        expect(["request", "notification", "response", "invalid"]).toContain(readRpcMessage(text).kind);
      }),
    );
  });
});

test("an id is a string or an integer", () => {
  expect([0, -0, "", "1", 1e21].map(isRpcId)).toEqual([true, true, true, true, true]);
  expect([1.5, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}, 1n].map(isRpcId)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("an error carries the id it was given", () => {
  expect(JSON.parse(rpcError(0, -32603, "no", { at: 1 }))).toEqual({
    jsonrpc: "2.0",
    id: 0,
    error: { code: -32603, message: "no", data: { at: 1 } },
  });
  expect(JSON.parse(rpcError(null, -32700, "no"))).toEqual({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no" } });
});

test.each(['data: {"half', 'data: {"whole":1}\n', "event: message\nda", ": comment\n\n", ""])(
  "[WP15] last words are an event of their own after %j",
  (before) => {
    const events = `${before}${rpcErrorEvent("id\nwith\u2028lines", -32603, "may have run")}`.split("\n\n").filter((event) => event !== "");
    const data = (events.at(-1) ?? "").split("\n").filter((line) => line.startsWith("data: "));
    expect(data).toHaveLength(1);
    expect(JSON.parse((data[0] ?? "").slice(6))).toMatchObject({ id: "id\nwith\u2028lines", error: { code: -32603 } });
  },
);
