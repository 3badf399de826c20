import { expect, test } from "vitest";
import { createCounters } from "../../../../worker/oauth/counters.ts";
import { REDIRECT, withIssuer, type Bench } from "./bench.workerd.ts";
import { bytesStored } from "./stored.workerd.ts";

/** As much as two hundred real clients and what limits remember of a thousand sources. */
const SMALL = 512 * 1024;
const HOUR = 60 * 60_000;
const OWNERS = { ip: "198.51.100.77" };

/** One of many, each with an address and a network of its own. */
const machine = (at: number) => ({ ip: `2001:db8:${at.toString(16)}:1::1` });

/** Somebody else registered his client minutes ago, and the owner adds the relay to a new one. */
async function connectsAsEver(bench: Bench, waiting: string): Promise<void> {
  for (const clientId of [waiting, await bench.register({}, OWNERS)]) {
    const target = await bench.decide(await bench.open(clientId, {}, OWNERS));
    const answer = await bench.exchange(clientId, target.searchParams.get("code") ?? "", {}, OWNERS);
    const { access_token } = (await answer.json()) as { access_token: string };
    expect((await bench.mcp(`Bearer ${access_token}`)).status).toBe(200);
  }
}

test(
  "[OA15] [OA16] [OA134] ten thousand registrations from one machine leave the store small and the owner able to connect",
  () =>
    withIssuer(async (bench) => {
      const waiting = await bench.register({}, OWNERS);
      const statuses: number[] = [];
      for (let at = 0; at < 10_000; at += 1) {
        const page = at % 2 === 0 ? {} : { headers: { origin: `https://page-${at}.example` } };
        const json = { client_name: "x".repeat(2_000), redirect_uris: [REDIRECT] };
        statuses.push((await bench.send("/register", { json, ip: "203.0.113.200", ...page })).status);
      }
      expect(statuses.filter((status) => status === 201)).toHaveLength(30 + 120);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10_000 - 150);
      expect(bytesStored(bench)).toBeLessThan(SMALL);
      await connectsAsEver(bench, waiting);
      bench.pass(25 * HOUR);
      bench.issuer.sweep();
      expect([bench.count("unused_clients"), bench.count("counters"), bench.count("oauth_kv WHERE key LIKE 'client:%'")]).toEqual([0, 0, 2]);
    }),
  60_000,
);

test("[OA134] of more machines than anybody has, limits remember the latest, and hold them", () =>
  withIssuer(async (bench) => {
    const clientId = await bench.register();
    const counters = createCounters(bench.storage.sql, () => bench.now());
    const take = (at: number) => counters.take([[`register:${machine(at).ip}`, 2]], HOUR);
    for (let at = 0; at < 5_000; at += 1) {
      if (at % 100 === 0) bench.pass(1);
      take(at);
    }
    expect(bench.count("counters")).toBeLessThanOrEqual(1_250);
    expect(bytesStored(bench)).toBeLessThan(SMALL);
    expect([take(4_999), take(4_999), take(4_000), take(4_000)]).toEqual([true, false, true, false]);
    await connectsAsEver(bench, clientId);
  }));

test("[OA134] what one registration leaves is bounded", () =>
  withIssuer(async (bench) => {
    const register = async (redirect_uris: string[]) => (await bench.send("/register", { json: { redirect_uris } })).status;
    const long = (length: number) => `${REDIRECT}?${"a".repeat(length - REDIRECT.length - 1)}`;
    expect(await register([long(2_000), long(2_000), long(2_000), long(2_000)])).toBe(201);
    expect(await register([long(2_000), long(2_000), long(2_000), long(1_980), long(100)])).toBe(400);
  }));

test("[OA39] [OA134] sign-ins from many machines leave few rows, and the owner's own goes on", () =>
  withIssuer(async (bench) => {
    const clientId = await bench.register();
    const own = await bench.open(clientId);
    const first = await bench.open(clientId, {}, machine(0));
    for (let at = 1; at < 200; at += 1) await bench.open(clientId, { state: "s".repeat(4_000) }, machine(at));
    expect(bench.count("pending_authorizations")).toBeLessThanOrEqual(8 + 64);
    expect(bytesStored(bench)).toBeLessThan(SMALL);
    expect((await bench.poll(first)).status).toBe(404);
    expect((await bench.decide(own)).searchParams.has("code")).toBe(true);
  }));
