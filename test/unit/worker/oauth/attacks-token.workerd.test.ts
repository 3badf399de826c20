import { afterEach, describe, expect, test } from "vitest";
import { errorOf, ORIGIN, REDIRECT, STATIC_TOKEN, withIssuer, type Bench, type Tokens } from "./bench.workerd.ts";
import { leavesNoTrace } from "./stored.workerd.ts";

const DAY = 86_400_000;
const GRACE = 60_000;

async function newCode(bench: Bench, clientId: string): Promise<string> {
  return (await bench.decide(await bench.open(clientId))).searchParams.get("code") ?? "";
}

const works = async (bench: Bench, tokens: Tokens) => (await bench.mcp(`Bearer ${tokens.access_token}`)).status === 200;

async function refuses(answer: Promise<Response>, status: number, error: string): Promise<void> {
  const response = await answer;
  expect([response.status, await errorOf(response)]).toEqual([status, error]);
  expect(response.headers.get("cache-control")).toContain("no-store");
}

describe("codes", () => {
  test.for<[string, Record<string, string>, string]>([
    ["no verifier", { code_verifier: "" }, "invalid_request"],
    ["a short verifier", { code_verifier: "a".repeat(42) }, "invalid_grant"],
    ["a long verifier", { code_verifier: "a".repeat(129) }, "invalid_grant"],
    ["a verifier of other characters", { code_verifier: `${"a".repeat(42)}\u00e9` }, "invalid_grant"],
    ["the verifier of another flow", { code_verifier: "the-verifier-of-another-flow-0123456789-0123456789" }, "invalid_grant"],
    ["another redirect address", { redirect_uri: "https://evil.example/" }, "invalid_grant"],
    ["another resource", { resource: "https://evil.example/mcp" }, "invalid_target"],
    ["the start of the code", { code: "half" }, "invalid_grant"],
    ["another flow", { grant_type: "password" }, "unsupported_grant_type"],
    ["no flow", { grant_type: "" }, "invalid_request"],
  ])("[OA50] [OA136] %s gets nothing and uses nothing up", ([_what, changes, error]) =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const code = await newCode(bench, clientId);
      const changed = changes["code"] === "half" ? { code: code.slice(0, -3) } : changes;
      await leavesNoTrace(bench, () => refuses(bench.exchange(clientId, code, changed), 400, error));
      expect((await bench.exchange(clientId, code)).status).toBe(200);
    }),
  );

  test("[OA50] [OA136] another client, public or with its secret, gets nothing for it", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const code = await newCode(bench, clientId);
      const publicOne = await bench.register();
      const registered = await bench.send("/register", { json: { redirect_uris: [REDIRECT] } });
      const { client_id, client_secret } = (await registered.json()) as { client_id: string; client_secret: string };
      await leavesNoTrace(bench, async () => {
        await refuses(bench.exchange(publicOne, code), 400, "invalid_grant");
        await refuses(bench.exchange(client_id, code, { client_secret }), 400, "invalid_grant");
        await refuses(bench.exchange(client_id, code, { client_secret: "wrong" }), 401, "invalid_client");
        await refuses(bench.exchange("nobody", code), 401, "invalid_client");
      });
      expect((await bench.exchange(clientId, code)).status).toBe(200);
    }));

  test("[OA51] of fifty at once exactly one wins, and what it won ends as it was used by others too", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const code = await newCode(bench, clientId);
      const answers = await Promise.all(Array.from({ length: 50 }, () => bench.exchange(clientId, code)));
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      const lost = await Promise.all(answers.filter(({ status }) => status !== 200).map(errorOf));
      expect(new Set(lost)).toEqual(new Set(["invalid_grant"]));
      expect(await works(bench, (await won[0]?.json()) as Tokens)).toBe(false);
      expect(bench.issuer.grants()).toEqual([]);
    }));

  test("[OA102] a registered client with a secret must use PKCE too", () =>
    withIssuer(async (bench) => {
      const registered = await bench.send("/register", { json: { redirect_uris: [REDIRECT] } });
      const { client_id, client_secret } = (await registered.json()) as { client_id: string; client_secret: string };
      await leavesNoTrace(bench, async () => {
        for (const changes of [
          { code_challenge: undefined, code_challenge_method: undefined },
          { code_challenge: undefined },
          { code_challenge_method: undefined },
          { code_challenge_method: "plain" },
          { code_challenge_method: "s256" },
          { code_challenge_method: "S512" },
        ]) {
          const { response } = await bench.open(client_id, changes);
          expect(new URL(response.headers.get("location") ?? "none:").searchParams.get("error")).toBe("invalid_request");
        }
      });
      const code = await newCode(bench, client_id);
      await leavesNoTrace(bench, async () => {
        await refuses(bench.exchange(client_id, code, { client_secret, code_verifier: "" }), 400, "invalid_request");
        await refuses(bench.exchange(client_id, code), 401, "invalid_client");
      });
      expect((await bench.exchange(client_id, code, { client_secret })).status).toBe(200);
    }));
});

describe("refresh tokens", () => {
  test.for<[string, Record<string, string>, number, string]>([
    ["another resource", { resource: "https://evil.example/mcp" }, 400, "invalid_target"],
    ["the resource of another path", { resource: `${ORIGIN}/w/other/mcp` }, 400, "invalid_target"],
    ["another client", { client_id: "other" }, 400, "invalid_grant"],
    ["no client", { client_id: "" }, 401, "invalid_client"],
    ["a client that is not known", { client_id: "nobody" }, 401, "invalid_client"],
    ["a part of the token", { refresh_token: "half" }, 400, "invalid_grant"],
    ["none", { refresh_token: "" }, 400, "invalid_request"],
    ["10 kB", { refresh_token: `owner:a:${"a".repeat(10_240)}` }, 400, "invalid_grant"],
    ["letters of all the world", { refresh_token: "owner:\u00e9\u4e2d\u{1f600}:x" }, 400, "invalid_grant"],
  ])("[OA57] [OA58] [OA136] with %s nothing is renewed and nothing used up", ([_what, changes, status, error]) =>
    withIssuer(async (bench) => {
      const { clientId, ...tokens } = await bench.connect();
      const other = await bench.register();
      const changed: Record<string, string> = { ...changes };
      if (changed["client_id"] === "other") changed["client_id"] = other;
      if (changed["refresh_token"] === "half") changed["refresh_token"] = tokens.refresh_token.slice(0, -2);
      await leavesNoTrace(bench, () => refuses(bench.refresh(clientId, tokens.refresh_token, changed), status, error));
      expect(await works(bench, tokens)).toBe(true);
      expect((await bench.refresh(clientId, tokens.refresh_token)).status).toBe(200);
    }),
  );

  test("[OA58] more scope is never given", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const renewed = (await (await bench.refresh(clientId, refresh_token, { scope: "mcp admin offline_access *" })).json()) as Tokens;
      expect(renewed.scope).toBe("mcp");
      expect((await bench.mcp(`Bearer ${renewed.access_token}`)).principal).toMatchObject({ scope: ["mcp"] });
    }));

  test("[OA61] [OA62] [OA81] [OA136] after its grant was revoked, here or there, or its client deleted, nothing is renewed", () =>
    withIssuer(async (bench) => {
      const { clientId, ...revoked } = await bench.connect();
      await bench.send("/revoke", { form: { client_id: clientId, token: revoked.refresh_token } });
      const taken = await bench.grant(clientId);
      await bench.issuer.revoke("all");
      const alive = await bench.grant(clientId);
      await leavesNoTrace(bench, async () => {
        for (const { refresh_token } of [revoked, taken]) await refuses(bench.refresh(clientId, refresh_token), 400, "invalid_grant");
        expect([await works(bench, revoked), await works(bench, taken)]).toEqual([false, false]);
      });
      bench.storage.sql.exec("DELETE FROM oauth_kv WHERE key = ?", `client:${clientId}`);
      await leavesNoTrace(bench, () => refuses(bench.refresh(clientId, alive.refresh_token), 401, "invalid_client"));
    }));

  test("[OA53] two that are refreshed at once both hold tokens that work, now and after the next time", () =>
    withIssuer(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const answers = await Promise.all([1, 2].map(() => bench.refresh(clientId, refresh_token)));
      const [one, two] = await Promise.all(answers.map(async (answer) => (await answer.json()) as Tokens));
      if (one === undefined || two === undefined) throw new Error("two answers were expected");
      expect([await works(bench, one), await works(bench, two)]).toEqual([true, true]);
      const next = await Promise.all([one, two].map(async (each) => (await (await bench.refresh(clientId, each.refresh_token)).json()) as Tokens));
      for (const tokens of next) expect(await works(bench, tokens)).toBe(true);
      for (const tokens of next) expect((await bench.refresh(clientId, tokens.refresh_token)).status).toBe(200);
    }));
});

describe("a year", () => {
  const real = Date.now;
  afterEach(() => {
    Date.now = real;
  });

  test("[OA17] [OA58] a registered client that refreshes every day, or every 29, is still there after one", () =>
    withIssuer(async (bench) => {
      // The provider's clock is the machine's, so that is the one to move.
      let ahead = 0;
      Date.now = () => real() + ahead;
      const clients = [
        { every: 5, ...(await bench.connect()) },
        { every: 29, ...(await bench.connect()) },
      ];
      for (let day = 1; day <= 365; day += 1) {
        ahead += DAY;
        if (day % 3 === 0) bench.issuer.sweep();
        for (const client of clients) {
          if (day % client.every !== 0) continue;
          const answer = await bench.refresh(client.clientId, client.refresh_token);
          expect([day, answer.status]).toEqual([day, 200]);
          Object.assign(client, (await answer.json()) as Tokens);
        }
      }
      for (const client of clients) expect((await bench.open(client.clientId)).response.status).toBe(200);
      expect(bench.issuer.grants()).toHaveLength(2);
      ahead += 91 * DAY;
      bench.issuer.sweep();
      expect([bench.count("oauth_kv"), bench.count("retired_refresh"), bench.count("grant_uses")]).toEqual([0, 0, 0]);
    }));
});

describe("tokens at /mcp", () => {
  test.for<[string, (tokens: Tokens) => string]>([
    ["nothing", () => "Bearer "],
    ["10 kB", () => `Bearer ${"a".repeat(10_240)}`],
    ["10 kB of ours", ({ access_token }) => `Bearer ${access_token}${"a".repeat(10_240)}`],
    ["letters of all the world", () => "Bearer \u00e9\u00fc"],
    ["a refresh token", ({ refresh_token }) => `Bearer ${refresh_token}`],
    ["a token cut short", ({ access_token }) => `Bearer ${access_token.slice(0, -1)}`],
    ["a token's other spelling", ({ access_token }) => `Bearer ${access_token.toUpperCase()}`],
    ["two tokens", ({ access_token }) => `Bearer ${access_token}, Bearer ${access_token}`],
    ["two tokens in one", ({ access_token }) => `Bearer ${access_token} ${STATIC_TOKEN}`],
    ["its name in quotes", ({ access_token }) => `Bearer "${access_token}"`],
    ["the grant's id alone", ({ access_token }) => `Bearer ${access_token.split(":").slice(0, 2).join(":")}:`],
  ])("[OA9] [OA136] %s is not valid", ([_what, header]) =>
    withIssuer(async (bench) => {
      const tokens = await bench.connect();
      await leavesNoTrace(bench, async () => {
        const { status, challenge } = await bench.mcp(header(tokens));
        expect([status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
      });
      expect(await works(bench, tokens)).toBe(true);
    }),
  );

  test("[OA8] [OA136] a token in the query or in a cookie is none, the scheme's case does not matter", () =>
    withIssuer(async (bench) => {
      const { access_token } = await bench.connect();
      await leavesNoTrace(bench, async () => {
        for (const name of ["access_token", "token", "authorization"]) {
          const request = new Request(`${ORIGIN}/mcp?${name}=${access_token}`, { method: "POST", headers: { cookie: `${name}=${access_token}` } });
          expect((await bench.issuer.authenticate(request, ORIGIN)).ok).toBe(false);
        }
      });
      for (const scheme of ["bearer", "BEARER", "bEaReR"]) expect((await bench.mcp(`${scheme} ${access_token}`)).status).toBe(200);
    }));

  test("[OA9] [OA136] one for another address, and one that expired, is not valid", () =>
    withIssuer(
      async (bench) => {
        const { access_token } = await bench.connect();
        await leavesNoTrace(bench, async () => {
          expect((await bench.mcp(`Bearer ${access_token}`, "https://other.example")).status).toBe(401);
        });
        bench.pass(12 * 60 * GRACE);
        await leavesNoTrace(bench, async () => expect((await bench.mcp(`Bearer ${access_token}`)).status).toBe(401));
      },
      { origins: [ORIGIN, "https://other.example"] },
    ));
});
