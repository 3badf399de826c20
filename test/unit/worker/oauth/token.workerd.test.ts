import { describe, expect, test } from "vitest";
import { errorOf, ORIGIN, REDIRECT, withIssuer, type Bench, type Tokens } from "./bench.workerd.ts";

const GRACE = 60_000;

async function newCode(bench: Bench, clientId: string): Promise<string> {
  return (await bench.decide(await bench.open(clientId))).searchParams.get("code") ?? "";
}

async function refreshed(bench: Bench, clientId: string, token: string): Promise<Tokens> {
  const response = await bench.refresh(clientId, token);
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

const works = async (bench: Bench, tokens: Tokens) => (await bench.mcp(`Bearer ${tokens.access_token}`)).status === 200;

describe("codes", () => {
  test("[OA50] verifier, client and address must fit, and a refused try uses nothing up", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const other = await bench.register();
      const code = await newCode(bench, clientId);
      const tries: [string, Record<string, string>][] = [
        [clientId, { code_verifier: "" }],
        [clientId, { code_verifier: "a".repeat(42) }],
        [clientId, { code_verifier: "a".repeat(129) }],
        [clientId, { code_verifier: "verifier-of-another-flow-verifier-of-another-flow" }],
        [clientId, { redirect_uri: "https://evil.example/" }],
        [clientId, { redirect_uri: `${REDIRECT}?` }],
        [other, {}],
      ];
      for (const [client, changes] of tries) expect([changes, (await bench.exchange(client, code, changes)).status]).toEqual([changes, 400]);
      expect((await bench.exchange(clientId, code)).status).toBe(200);
    }));

  test("[OA51] a code used twice ends its grant; in parallel one wins", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const code = await newCode(bench, clientId);
      const tokens = (await (await bench.exchange(clientId, code)).json()) as Tokens;
      expect(await works(bench, tokens)).toBe(true);
      const replayed = await bench.exchange(clientId, code);
      expect([replayed.status, await errorOf(replayed)]).toEqual([400, "invalid_grant"]);
      expect(await works(bench, tokens)).toBe(false);
      expect((await bench.refresh(clientId, tokens.refresh_token)).status).toBe(400);
      const raced = await newCode(bench, clientId);
      const statuses = (await Promise.all(Array.from({ length: 5 }, () => bench.exchange(clientId, raced)))).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    }));

  test("[OA52] a right id with a wrong secret changes nothing", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const code = await newCode(bench, clientId);
      const forged = `${code.slice(0, code.lastIndexOf(":"))}:${"A".repeat(32)}`;
      expect((await bench.exchange(clientId, forged)).status).toBe(400);
      const tokens = (await (await bench.exchange(clientId, code)).json()) as Tokens;
      bench.pass(2 * GRACE);
      for (const form of [
        { grant_type: "refresh_token", refresh_token: forged },
        { grant_type: "authorization_code", code: forged },
      ]) {
        expect((await bench.send("/token", { form: { client_id: clientId, ...form } })).status).toBe(400);
      }
      expect((await bench.send("/revoke", { form: { client_id: clientId, token: forged } })).status).toBe(200);
      expect(await works(bench, tokens)).toBe(true);
      expect((await bench.refresh(clientId, tokens.refresh_token)).status).toBe(200);
    }));
});

describe("refreshing", () => {
  test("[OA53] the same question has the same answer, in parallel too", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const [one, two, three] = await Promise.all([1, 2, 3].map(() => refreshed(bench, clientId, refresh_token)));
      expect([two, three]).toEqual([one, one]);
      bench.pass(GRACE - 1000);
      const late = await refreshed(bench, clientId, refresh_token);
      expect(late).toEqual(one);
      expect(await works(bench, late)).toBe(true);
      const next = await refreshed(bench, clientId, late.refresh_token);
      expect(next.refresh_token).not.toBe(late.refresh_token);
      expect(await works(bench, next)).toBe(true);
    }));

  test("[OA54] a remembered answer is for the same authentication only, and encrypted", () =>
    withIssuer(async (bench) => {
      const registered = await bench.send("/register", { json: { redirect_uris: [REDIRECT], token_endpoint_auth_method: "client_secret_post" } });
      const { client_id, client_secret } = (await registered.json()) as { client_id: string; client_secret: string };
      const target = await bench.decide(await bench.open(client_id));
      const first = (await (await bench.exchange(client_id, target.searchParams.get("code") ?? "", { client_secret })).json()) as Tokens;
      const answer = (await (await bench.refresh(client_id, first.refresh_token, { client_secret })).json()) as Tokens;
      expect((await bench.refresh(client_id, first.refresh_token)).status).toBe(401);
      expect((await bench.refresh(client_id, first.refresh_token, { client_secret: "wrong" })).status).toBe(401);
      expect(await (await bench.refresh(client_id, first.refresh_token, { client_secret })).json()).toEqual(answer);
      const rows = bench.storage.sql.exec<{ sealed: ArrayBuffer }>("SELECT sealed FROM refresh_answers").toArray();
      expect(rows).toHaveLength(1);
      expect(new TextDecoder().decode(rows[0]?.sealed)).not.toContain(answer.access_token);
      await bench.send("/revoke", { form: { client_id, client_secret, token: answer.refresh_token } });
      expect(await errorOf(await bench.refresh(client_id, first.refresh_token, { client_secret }))).toBe("invalid_grant");
    }));

  test("[OA55] a lost answer can be asked for after the grace", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const lost = await refreshed(bench, clientId, refresh_token);
      bench.pass(GRACE);
      const again = await refreshed(bench, clientId, refresh_token);
      expect(again.refresh_token).not.toBe(lost.refresh_token);
      expect(await works(bench, again)).toBe(true);
      await refreshed(bench, clientId, again.refresh_token);
    }));

  test("[OA56] a token whose successor was used ends the family after the grace, not within it", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const second = await refreshed(bench, clientId, refresh_token);
      const third = await refreshed(bench, clientId, second.refresh_token);
      bench.pass(GRACE);
      expect(await works(bench, third)).toBe(true);
      expect(await errorOf(await bench.refresh(clientId, refresh_token))).toBe("invalid_grant");
      expect(await works(bench, third)).toBe(false);
      expect(await errorOf(await bench.refresh(clientId, third.refresh_token))).toBe("invalid_grant");
      expect(bench.count("retired_refresh")).toBe(0);
    }));

  test("[OA56] a successor that was overtaken ends the family", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const honest = await refreshed(bench, clientId, refresh_token);
      bench.pass(GRACE);
      const thief = await refreshed(bench, clientId, refresh_token);
      bench.pass(GRACE);
      expect(await works(bench, thief)).toBe(true);
      expect((await bench.refresh(clientId, honest.refresh_token)).status).toBe(400);
      expect(await works(bench, thief)).toBe(false);
    }));

  test("[OA57] another client can neither refresh nor end", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const other = await bench.register();
      expect(await errorOf(await bench.refresh(other, refresh_token))).toBe("invalid_grant");
      bench.pass(GRACE);
      expect(await errorOf(await bench.refresh(other, refresh_token))).toBe("invalid_grant");
      expect(await works(bench, await refreshed(bench, clientId, refresh_token))).toBe(true);
    }));

  test("[OA58] scope stays, lifetimes are renewed, a foreign resource uses nothing up", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      expect(await errorOf(await bench.refresh(clientId, refresh_token, { resource: "https://evil.example/mcp" }))).toBe("invalid_target");
      const response = await bench.refresh(clientId, refresh_token, { scope: "admin mcp", resource: `${ORIGIN}/` });
      const renewed = (await response.json()) as Tokens;
      expect(renewed).toMatchObject({ scope: "mcp", expires_in: 43_200 });
      expect(await errorOf(await bench.refresh(clientId, refresh_token, { resource: "https://evil.example/mcp" }))).toBe("invalid_target");
      const { expires_at } = bench.storage.sql.exec<{ expires_at: number }>("SELECT expires_at FROM oauth_kv WHERE key LIKE 'grant:%'").one();
      expect(Math.abs(expires_at - Date.now() / 1000 - 30 * 86_400)).toBeLessThan(10);
      bench.pass(30 * 86_400_000);
      expect(await errorOf(await bench.refresh(clientId, renewed.refresh_token))).toBe("invalid_grant");
    }));

  test("[OA58] in the last minute of a grant refreshing ends cleanly", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const soon = Math.floor(Date.now() / 1000) + 30;
      bench.storage.sql.exec("UPDATE oauth_kv SET value = json_set(value, '$.expiresAt', ?) WHERE key LIKE 'grant:%'", soon);
      const response = await bench.refresh(clientId, refresh_token);
      expect([response.status, await errorOf(response)]).toEqual([400, "invalid_grant"]);
    }));

  test("[OA59] a second device leaves the first alone", () =>
    withIssuer(async (bench) => {
      const { clientId, ...first } = await bench.connect();
      const second = await bench.grant(clientId);
      expect([await works(bench, first), await works(bench, second)]).toEqual([true, true]);
      expect((await bench.refresh(clientId, first.refresh_token)).status).toBe(200);
    }));
});

describe("/token and /revoke as endpoints", () => {
  test("[OA60] odd bodies are 400", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const type = "application/x-www-form-urlencoded";
      for (const path of ["/token", "/revoke"]) {
        for (const [contentType, body] of [
          ["application/json, application/x-www-form-urlencoded", "grant_type=refresh_token"],
          ["application/json", "{}"],
          ["multipart/form-data; boundary=x", "--x--"],
          [type, ""],
          [type, `client_id=${clientId}&grant_type=refresh_token&token=x&refresh_token=${"a".repeat(1_000_000)}`],
          [type, `client_id=${clientId}&grant_type=refresh_token&token=x&refresh_token=a&client_id=b`],
        ]) {
          const response = await bench.send(path, { body: body ?? "", headers: { "content-type": contentType ?? "" } });
          expect([path, contentType, response.status, await errorOf(response)]).toEqual([path, contentType, 400, "invalid_request"]);
        }
      }
      for (const authorization of ["Basic %%%", "basic eA==", "Basic"]) {
        const response = await bench.send("/token", { form: { grant_type: "refresh_token", refresh_token: "x" }, headers: { authorization } });
        expect([response.status, response.headers.get("www-authenticate"), await errorOf(response)]).toEqual([
          401,
          'Basic realm="OAuth"',
          "invalid_client",
        ]);
      }
      expect(await errorOf(await bench.send("/token", { form: { grant_type: "password", client_id: clientId } }))).toBe("unsupported_grant_type");
    }));

  test("[OA60] a secret may come by Basic or in the body if no method was named", () =>
    withIssuer(async (bench) => {
      const registered = await bench.send("/register", { json: { redirect_uris: [REDIRECT] } });
      const { client_id, client_secret } = (await registered.json()) as { client_id: string; client_secret: string };
      const post = await bench.exchange(client_id, await newCode(bench, client_id), { client_secret });
      expect(post.status).toBe(200);
      const basic = await bench.exchange(
        client_id,
        await newCode(bench, client_id),
        { client_id: "" },
        { headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` } },
      );
      expect(basic.status).toBe(200);
    }));

  test("[OA61] revoking ends what it names and nothing of others", () =>
    withIssuer(async (bench) => {
      const { clientId, ...tokens } = await bench.connect();
      const other = await bench.register();
      const revoke = async (client: string, token: string) => (await bench.send("/revoke", { form: { client_id: client, token } })).status;
      for (const token of [tokens.access_token, tokens.refresh_token]) expect(await revoke(other, token)).toBe(200);
      expect(await revoke(clientId, "unknown")).toBe(200);
      expect(await works(bench, tokens)).toBe(true);
      expect((await bench.send("/token", { form: { client_id: clientId, token: tokens.access_token } })).status).toBe(400);
      expect(await works(bench, tokens)).toBe(true);
      const issued = await bench.send("/revoke", {
        form: { client_id: clientId, token: "x", grant_type: "refresh_token", refresh_token: tokens.refresh_token },
      });
      expect(await issued.text()).toBe("");
      expect(await revoke(clientId, tokens.access_token)).toBe(200);
      expect(await works(bench, tokens)).toBe(false);
      const renewed = await refreshed(bench, clientId, tokens.refresh_token);
      expect(await revoke(clientId, renewed.refresh_token)).toBe(200);
      expect(await works(bench, renewed)).toBe(false);
      expect(await errorOf(await bench.refresh(clientId, renewed.refresh_token))).toBe("invalid_grant");
    }));

  test("[OA62] a client that is gone is invalid_client", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      bench.storage.sql.exec("DELETE FROM oauth_kv WHERE key = ?", `client:${clientId}`);
      const response = await bench.refresh(clientId, refresh_token);
      expect([response.status, await errorOf(response)]).toEqual([401, "invalid_client"]);
    }));

  test("[OA70] the sweep deletes what is over and says when to come again", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      await refreshed(bench, clientId, refresh_token);
      await bench.look(await bench.open(clientId));
      const changes = bench.changes;
      const due = bench.issuer.sweep() ?? 0;
      expect(due - bench.now()).toBeGreaterThan(50_000);
      expect(due - bench.now()).toBeLessThanOrEqual(GRACE);
      bench.pass(12 * 60_000);
      bench.issuer.sweep();
      expect([bench.count("refresh_answers"), bench.count("pending_authorizations"), bench.changes]).toEqual([0, 0, changes + 1]);
      bench.pass(91 * 86_400_000);
      expect(bench.issuer.sweep()).toBeUndefined();
      for (const table of ["oauth_kv", "retired_refresh", "counters", "unused_clients"]) expect([table, bench.count(table)]).toEqual([table, 0]);
    }));
});
