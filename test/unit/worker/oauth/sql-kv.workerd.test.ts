import { expect, test } from "vitest";
import { createSqlKv, sweepSqlKv } from "../../../../worker/oauth/sql-kv.ts";
import { withIssuer } from "./bench.workerd.ts";

test("[OA71] the store answers the five calls", () =>
  withIssuer(async (bench) => {
    const kv = createSqlKv(bench.storage.sql, bench);
    await kv.put("a:1", '{"x":1}', { metadata: { m: 1 } });
    await kv.put("a:2", "text", { expirationTtl: 60 });
    await kv.put("a:3", "x", { expiration: Math.floor(bench.now() / 1000) + 120 });
    await kv.put("b:1", "y");
    expect([await kv.get("a:1"), await kv.get("a:1", "json"), await kv.get("a:1", { type: "json" }), await kv.get("none")]).toEqual([
      '{"x":1}',
      { x: 1 },
      { x: 1 },
      null,
    ]);
    const first = await kv.list({ prefix: "a:", limit: 2 });
    expect([first.keys.map(({ name }) => name), first.list_complete, first.cursor, first.keys[0]?.metadata]).toEqual([
      ["a:1", "a:2"],
      false,
      "a:2",
      { m: 1 },
    ]);
    const second = await kv.list({ prefix: "a:", limit: 2, cursor: first.cursor ?? "" });
    expect([second.keys.map(({ name }) => name), second.list_complete]).toEqual([["a:3"], true]);
    bench.pass(61_000);
    expect([await kv.get("a:2"), (await kv.list({ prefix: "a:" })).keys.length, bench.count("oauth_kv")]).toEqual([null, 2, 4]);
    sweepSqlKv(bench.storage.sql, bench.now());
    expect(bench.count("oauth_kv")).toBe(3);
    await kv.delete("a:1");
    expect(await kv.get("a:1")).toBeNull();
  }));
