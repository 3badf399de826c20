import { describe, expect, test } from "vitest";
import { Bench, ORIGIN, REDIRECT, withIssuer, type Tokens } from "./bench.workerd.ts";

const HOUR = 60 * 60_000;
const status = async (bench: Bench, { access_token }: Tokens) => (await bench.mcp(`Bearer ${access_token}`)).status;
const ids = (bench: Bench) => bench.issuer.grants().map((grant) => grant.id);
const idOf = ({ access_token }: Tokens) => access_token.split(":")[1] ?? "";

describe("the list of what was granted", () => {
  test("[OA80] says of each who has it, where it went, its scope, and when it began, was used and ends", () =>
    withIssuer(async (bench) => {
      expect(bench.issuer.grants()).toEqual([]);
      const { clientId, ...tokens } = await bench.connect({ client_name: "<b>Claude</b>" });
      const [grant] = bench.issuer.grants();
      expect(grant).toMatchObject({
        id: idOf(tokens),
        clientId,
        clientName: "<b>Claude</b>",
        redirectHost: "claude.ai",
        scope: ["mcp"],
        lastUsedAt: null,
      });
      expect(Math.abs((grant?.createdAt ?? 0) - bench.now())).toBeLessThan(10_000);
      expect(Math.abs((grant?.expiresAt ?? 0) - bench.now() - 30 * 24 * HOUR)).toBeLessThan(10_000);
      expect(bench.grantChanges).toBe(1);
    }));

  test("[HU14] knows of each whether it lives", () =>
    withIssuer(async (bench) => {
      const [first, second] = [await bench.connect(), await bench.connect()];
      expect([first, second].map((tokens) => bench.issuer.isGranted(idOf(tokens)))).toEqual([true, true]);
      await bench.issuer.revoke([idOf(first)]);
      expect([first, second].map((tokens) => bench.issuer.isGranted(idOf(tokens)))).toEqual([false, true]);
      bench.pass(31 * 24 * HOUR);
      expect(["", "%", idOf(second)].map((id) => bench.issuer.isGranted(id))).toEqual([false, false, false]);
    }));

  test("[OA80] holds those of every origin, newest first, and none that has expired", () => {
    const other = "https://mcp.example.com";
    return withIssuer(
      async (bench) => {
        const first = await bench.connect();
        const opened = await bench.open(first.clientId, {}, { origin: other });
        const code = (await bench.decide(opened)).searchParams.get("code") ?? "";
        await bench.exchange(first.clientId, code, {}, { origin: other });
        expect(ids(bench)).toHaveLength(2);
        expect(ids(bench)).toContain(idOf(first));
        bench.pass(31 * 24 * HOUR);
        expect(bench.issuer.grants()).toEqual([]);
      },
      { origins: [ORIGIN, other] },
    );
  });

  test("[OA80] [OA81] without tables is empty, and taking back writes nothing", () =>
    withIssuer(
      async (bench) => {
        expect(bench.issuer.grants()).toEqual([]);
        expect(await bench.issuer.revoke("all")).toEqual({ revoked: 0 });
        expect(bench.storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'oauth_kv'").toArray()).toEqual([]);
      },
      {},
      "none",
    ));

  test("[OA83] a use is written at most once an hour, and goes with its grant", () =>
    withIssuer(async (bench) => {
      const tokens = await bench.connect();
      const lastUse = () => bench.issuer.grants()[0]?.lastUsedAt;
      await status(bench, tokens);
      const first = lastUse() ?? 0;
      expect(Math.abs(first - bench.now())).toBeLessThan(10_000);
      bench.pass(HOUR / 2);
      const written = () => bench.storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
      const before = written();
      for (let call = 0; call < 20; call++) await status(bench, tokens);
      expect([lastUse(), written()]).toEqual([first, before]);
      bench.pass(HOUR);
      await status(bench, tokens);
      expect(lastUse()).toBeGreaterThan(first + HOUR);
      await bench.mcp(`Bearer owner:${idOf(tokens)}:forged`);
      expect(bench.count("grant_uses")).toBe(1);
      bench.pass(31 * 24 * HOUR);
      bench.issuer.sweep();
      expect(bench.count("grant_uses")).toBe(0);
    }));
});

describe("taking back", () => {
  test("[OA81] ends the named grant with all its tokens from the next request on, and no other one", () =>
    withIssuer(async (bench) => {
      const one = await bench.connect();
      const other = await bench.grant(one.clientId);
      const stranger = await bench.connect();
      const answered = await bench.refresh(one.clientId, one.refresh_token);
      const renewed = (await answered.json()) as Tokens;
      expect(await status(bench, renewed)).toBe(200);
      expect(await bench.issuer.revoke([idOf(one), "unknown", "%", "", `${idOf(other)}x`])).toEqual({ revoked: 1 });
      expect([await status(bench, one), await status(bench, renewed)]).toEqual([401, 401]);
      // The remembered answer as well: the same question within its minute.
      expect((await bench.refresh(one.clientId, one.refresh_token)).status).toBe(400);
      expect((await bench.refresh(one.clientId, renewed.refresh_token)).status).toBe(400);
      expect([await status(bench, other), await status(bench, stranger)]).toEqual([200, 200]);
      expect((await bench.refresh(stranger.clientId, stranger.refresh_token)).status).toBe(200);
      expect(ids(bench).toSorted()).toEqual([idOf(other), idOf(stranger)].toSorted());
      expect(bench.storage.sql.exec("SELECT key FROM oauth_kv WHERE key LIKE ?", `%${idOf(one)}%`).toArray()).toEqual([]);
      for (const table of ["refresh_answers", "retired_refresh", "grant_uses"]) {
        expect(bench.storage.sql.exec(`SELECT 1 FROM ${table} WHERE grant_id = ?`, idOf(one)).toArray()).toEqual([]);
      }
      expect(await bench.issuer.revoke([idOf(one)])).toEqual({ revoked: 0 });
    }));

  test("[OA81] of all ends all, also what was allowed and not collected yet; the client may ask again", () =>
    withIssuer(async (bench) => {
      const one = await bench.connect();
      const other = await bench.connect();
      const opened = await bench.open(one.clientId);
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      expect(await bench.issuer.revoke("all")).toEqual({ revoked: 2 });
      expect([await status(bench, one), await status(bench, other), bench.issuer.grants()]).toEqual([401, 401, []]);
      expect((await bench.collect(opened)).searchParams.get("error")).toBe("access_denied");
      expect(await status(bench, await bench.grant(one.clientId))).toBe(200);
    }));

  test("[OA81] a code that was not exchanged yet is worth nothing afterwards", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const code = (await bench.decide(await bench.open(clientId))).searchParams.get("code") ?? "";
      expect(await bench.issuer.revoke("all")).toEqual({ revoked: 1 });
      expect((await bench.exchange(clientId, code)).status).toBe(400);
    }));

  test("[OA82] a refresh that is under way does not bring it back, however far it has come", () =>
    withIssuer(async ({ storage, deposits }) => {
      let revokedAt = 0;
      for (let read = 1; read <= 5; read++) {
        let left = Number.POSITIVE_INFINITY;
        let revoking: Promise<unknown> | undefined;
        const bench = benchThatTells(storage, deposits, () => {
          left -= 1;
          if (left === 0) revoking = bench.issuer.revoke("all");
        });
        const { clientId, ...tokens } = await bench.connect();
        left = read;
        const answer = await bench.refresh(clientId, tokens.refresh_token);
        left = Number.POSITIVE_INFINITY;
        if (revoking === undefined) break;
        revokedAt = read;
        await revoking;
        const renewed = answer.ok ? ((await answer.json()) as Tokens) : tokens;
        expect([read, await status(bench, renewed), ids(bench)]).toEqual([read, 401, []]);
        expect((await bench.refresh(clientId, renewed.refresh_token)).status).toBe(400);
      }
      expect(revokedAt).toBeGreaterThan(0);
    }));
});

/** On storage that tells when a grant's record was read. */
function benchThatTells(storage: DurableObjectStorage, deposits: Bench["deposits"], onGrantRead: () => void): Bench {
  const exec = (query: string, ...bindings: unknown[]) => {
    const rows = storage.sql.exec(query, ...bindings);
    if (query.startsWith("SELECT value FROM oauth_kv") && String(bindings[0]).startsWith("grant:")) onGrantRead();
    return rows;
  };
  const transactionSync = <T>(run: () => T): T => storage.transactionSync(run);
  return new Bench({ sql: { exec }, transactionSync } as unknown as DurableObjectStorage, deposits as NonNullable<Bench["deposits"]>);
}

test("[OA11] [OA81] a token that was seen before is looked up again at every call", () =>
  withIssuer(async (bench) => {
    const one = await bench.connect();
    const other = await bench.connect();
    const status = async (token: string) => (await bench.mcp(`Bearer ${token}`)).status;
    for (const token of [one.access_token, other.access_token, one.access_token, other.access_token]) expect(await status(token)).toBe(200);
    expect(await bench.mcp(`Bearer ${one.access_token}`)).toEqual(await bench.mcp(`Bearer ${one.access_token}`));
    const [grant] = bench.issuer.grants();
    await bench.issuer.revoke([grant?.id ?? ""]);
    expect([await status(one.access_token), await status(other.access_token)].toSorted((a, b) => a - b)).toEqual([200, 401]);
    const left = (await status(one.access_token)) === 200 ? one : other;
    expect((await bench.mcp(`Bearer ${left.access_token}`, "https://other.example")).status).toBe(401);
    bench.pass(12 * 60 * 60_000 + 1000);
    expect(await status(left.access_token)).toBe(401);
  }));

test("[OA81] taking all back takes what is being collected at that moment", () =>
  withIssuer(async (bench) => {
    const original = globalThis.fetch;
    const document = "https://slow.example/client.json";
    const served = () => Response.json({ client_id: document, client_name: "Slow", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" });
    try {
      globalThis.fetch = async () => served();
      const opened = await bench.open(document);
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      bench.pass(61_000); // The kept copy is gone.
      const asked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      globalThis.fetch = async () => {
        asked.resolve();
        await held.promise;
        return served();
      };
      const collecting = bench.collect(opened);
      await asked.promise;
      await bench.issuer.revoke("all");
      held.resolve();
      expect((await collecting).searchParams.get("error")).toBe("access_denied");
      expect([bench.issuer.grants(), bench.storage.sql.exec("SELECT key FROM oauth_kv WHERE key LIKE 'grant:%'").toArray()]).toEqual([[], []]);
    } finally {
      globalThis.fetch = original;
    }
  }));
