import { describe, expect, test } from "vitest";
import type { Deposits } from "../../../../shared/wire/frames.ts";
import { errorOf, HOME, ORIGIN, REDIRECT, withIssuer, type Bench, type Opened, type Tokens } from "./bench.workerd.ts";

const ID = "pimcp-gemini";
const SECRET = "a-secret-of-43-characters-0123456789-abcdef";
const SECRET_SHA256 = "78c4a3a4639fa88e3ec9c4ff338c619cb5f5b1be15140eb1ef7deac59c3a13b1";
const ADDRESS = "https://oauth-redirect.googleusercontent.com/r/user_bound_custom-mcp-1";
const NO_PKCE = { code_challenge: undefined, code_challenge_method: undefined };

const pair = (redirects: string[] | null = null): Partial<Deposits> => ({ client: { id: ID, sha256: SECRET_SHA256, redirects } });
const withPair = (run: (bench: Bench) => Promise<void>, redirects: string[] | null = null) => withIssuer(run, pair(redirects));

const openPlain = (bench: Bench, address = ADDRESS) => bench.open(ID, { redirect_uri: address, ...NO_PKCE });
const inBody = { client_secret: SECRET };
const basic = (secret = SECRET, id = ID) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` });

async function codeOf(bench: Bench, opened: Opened): Promise<string> {
  return (await bench.decide(opened)).searchParams.get("code") ?? "";
}

function exchangePlain(bench: Bench, code: string, changes: Record<string, string> = inBody, headers: Record<string, string> = {}) {
  const byBasic = Object.keys(headers).length > 0;
  return bench.exchange(byBasic ? "" : ID, code, { redirect_uri: ADDRESS, code_verifier: "", ...(byBasic ? {} : changes) }, { headers });
}

async function connected(bench: Bench): Promise<Tokens> {
  return (await (await exchangePlain(bench, await codeOf(bench, await openPlain(bench)))).json()) as Tokens;
}

const cards = (bench: Bench) => bench.issuer.pending();

describe("the client configured by hand", () => {
  test("[OA100] [OA101] [OA102] [OA103] signs in without PKCE, with its secret in the body or by Basic, refreshes and revokes", () =>
    withPair(async (bench) => {
      for (const headers of [{}, basic(), { authorization: basic().authorization.replace("Basic", "basic") }]) {
        const code = await codeOf(bench, await openPlain(bench));
        const answer = await exchangePlain(bench, code, inBody, headers);
        expect(answer.status).toBe(200);
        const tokens = (await answer.json()) as Tokens;
        expect(tokens.scope).toBe("mcp");
        expect(await bench.mcp(`Bearer ${tokens.access_token}`)).toMatchObject({
          status: 200,
          principal: { kind: "grant", name: "App set up by hand" },
        });
        const refreshed = await bench.refresh(ID, tokens.refresh_token, inBody);
        expect(refreshed.status).toBe(200);
        const next = (await refreshed.json()) as Tokens;
        expect((await bench.send("/revoke", { form: { token: next.refresh_token }, headers: basic() })).status).toBe(200);
        expect((await bench.mcp(`Bearer ${next.access_token}`)).status).toBe(401);
      }
    }));

  test.each([
    ["as openssl makes them", "q+/Zk0=", "q+/Zk0="],
    ["with a percent sign", "50%25 off%", "50%25 off%"],
    ["with a colon", "a:b:c", "a:b:c"],
    ["encoded as RFC 6749 says", "q+/Zk0=", "q%2B%2FZk0%3D"],
  ])("[OA101] secrets by Basic, %s, with and without the id in the body", (_how, secret, sent) =>
    withPair(async (bench) => {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
      const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
      bench.deposits = { ...(bench.deposits as Deposits), client: { id: ID, sha256, redirects: null } };
      for (const clientId of ["", ID]) {
        const form = { redirect_uri: ADDRESS, code_verifier: "" };
        const wrong = await bench.exchange(clientId, await codeOf(bench, await openPlain(bench)), form, { headers: basic(`${sent}x`) });
        expect([wrong.status, await errorOf(wrong)]).toEqual([401, "invalid_client"]);
        const right = await bench.exchange(clientId, await codeOf(bench, await openPlain(bench)), form, { headers: basic(sent) });
        expect(right.status).toBe(200);
      }
      const other = await bench.exchange("pimcp-other", "x", {}, { headers: basic(sent) });
      expect([other.status, await errorOf(other)]).toEqual([400, "invalid_request"]);
    }),
  );

  test("[OA101] a wrong or missing secret is invalid_client and uses nothing up", () =>
    withPair(async (bench) => {
      const code = await codeOf(bench, await openPlain(bench));
      const tries: [Record<string, string>, Record<string, string>][] = [
        [{}, {}],
        [{ client_secret: "" }, {}],
        [{ client_secret: `${SECRET}x` }, {}],
        [{ client_secret: SECRET_SHA256 }, {}],
        [{}, basic("wrong")],
        [{}, basic("")],
        [{}, basic(SECRET, "pimcp-other")],
        [{}, { authorization: "Basic %%%" }],
      ];
      for (const [changes, headers] of tries) {
        const answer = await exchangePlain(bench, code, changes, headers);
        expect([changes, headers, answer.status, await errorOf(answer)]).toEqual([changes, headers, 401, "invalid_client"]);
      }
      const tokens = (await (await exchangePlain(bench, code)).json()) as Tokens;
      expect((await bench.refresh(ID, tokens.refresh_token)).status).toBe(401);
      expect((await bench.refresh(ID, tokens.refresh_token, { client_secret: "wrong" })).status).toBe(401);
      expect((await bench.send("/revoke", { form: { client_id: ID, token: tokens.refresh_token } })).status).toBe(401);
      expect((await bench.refresh(ID, tokens.refresh_token, inBody)).status).toBe(200);
    }));

  test("[OA100] another pair or none makes the earlier one unknown, and nothing of it is stored", () =>
    withPair(async (bench) => {
      const tokens = await connected(bench);
      const before = bench.deposits;
      for (const client of [{ id: "pimcp-new", sha256: SECRET_SHA256, redirects: null }, undefined]) {
        bench.deposits = { ...(before as Deposits), ...(client === undefined ? {} : { client }) };
        if (client === undefined) delete (bench.deposits as { client?: unknown }).client;
        const answer = await bench.refresh(ID, tokens.refresh_token, inBody);
        expect([answer.status, await errorOf(answer)]).toEqual([401, "invalid_client"]);
        expect((await openPlain(bench)).response.status).toBe(400);
      }
      expect(bench.storage.sql.exec("SELECT key FROM oauth_kv WHERE key LIKE 'client:%'").toArray()).toEqual([]);
      bench.deposits = before;
      const opened = await openPlain(bench, `${ADDRESS}-late`);
      bench.deposits = { ...(before as Deposits), client: { id: "pimcp-new", sha256: SECRET_SHA256, redirects: null } };
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      expect((await bench.look(opened)).status).toBe(403);
      const ofNew = await bench.open("pimcp-new", { redirect_uri: `${ADDRESS}-late`, ...NO_PKCE });
      await bench.look(ofNew);
      expect(cards(bench)).toMatchObject([{ clientId: "pimcp-new", configured: "new" }]);
      bench.deposits = before;
      expect((await bench.refresh(ID, tokens.refresh_token, inBody)).status).toBe(200);
    }));

  test("[OA102] a challenge that it sends is held to; other clients must send one, with a secret too", () =>
    withPair(async (bench) => {
      const code = await codeOf(bench, await bench.open(ID, { redirect_uri: ADDRESS }));
      expect((await exchangePlain(bench, code)).status).toBe(400);
      expect((await exchangePlain(bench, code, { ...inBody, code_verifier: "verifier-of-another-flow-verifier-of-another-flow" })).status).toBe(400);
      expect((await bench.exchange(ID, code, { redirect_uri: ADDRESS, ...inBody })).status).toBe(200);
      for (const method of ["client_secret_basic", "client_secret_post", "none"]) {
        const clientId = await bench.register({ token_endpoint_auth_method: method });
        const { response } = await bench.open(clientId, NO_PKCE);
        const location = new URL(response.headers.get("location") ?? "");
        expect([response.status, location.searchParams.get("error"), location.searchParams.get("iss")]).toEqual([302, "invalid_request", ORIGIN]);
      }
    }));

  test("[OA103] without PKCE the code needs its own address", () =>
    withPair(async (bench) => {
      const code = await codeOf(bench, await openPlain(bench));
      await codeOf(bench, await openPlain(bench, `${ADDRESS}2`));
      for (const redirect_uri of ["", "https://evil.example/", `${ADDRESS}2`, `${ADDRESS}?`, `${ADDRESS}/`]) {
        expect([redirect_uri, (await exchangePlain(bench, code, { ...inBody, redirect_uri })).status]).toEqual([redirect_uri, 400]);
      }
      expect((await exchangePlain(bench, code)).status).toBe(200);
    }));
});

describe("an address nobody set up in advance", () => {
  test("[OA104] is whole on the page and new on the card, approved after the click, and each for itself", () =>
    withPair(async (bench) => {
      const first = await openPlain(bench);
      expect(first.html).toContain(ADDRESS);
      await bench.look(first);
      expect(cards(bench)).toMatchObject([
        { configured: "new", redirectUri: ADDRESS, clientId: ID, clientName: "App set up by hand", allowedBefore: false },
      ]);
      await codeOf(bench, first);
      const second = await openPlain(bench);
      expect(second.html).not.toContain(ADDRESS);
      await bench.look(second);
      expect(cards(bench)).toMatchObject([{ configured: "approved", allowedBefore: true }]);
      await codeOf(bench, second);
      const other = await openPlain(bench, `${ADDRESS}-other`);
      await bench.look(other);
      expect(cards(bench)).toMatchObject([{ configured: "new" }]);
    }));

  test.each(["http://127.0.0.1:5000/cb", "http://localhost:5000/cb", "http://[::1]:5000/cb"])(
    "[OA104] %s is this machine, whatever its port later",
    (address) =>
      withPair(async (bench) => {
        await codeOf(bench, await openPlain(bench, address));
        const again = await openPlain(bench, address.replace("5000", "61000"));
        await bench.look(again);
        expect(cards(bench)).toMatchObject([{ configured: "approved" }]);
        expect((await bench.decide(again)).port).toBe("61000");
      }),
  );

  test("[OA105] [OA110] gets nothing when it is denied, guessed at, displaced, expired or the request is wrong", () =>
    withPair(async (bench) => {
      const ends: [string, (opened: Opened) => Promise<unknown>, string][] = [
        ["denied", (opened) => bench.issuer.decide({ id: opened.id, allow: false }), "did not allow it"],
        ["guessed", (opened) => bench.issuer.decide({ id: opened.id, allow: true, code: "000" }), "did not allow it"],
        ["displaced", async () => void (await Promise.all([1, 2].map(async () => bench.look(await openPlain(bench))))), "gave way"],
        ["expired", async () => bench.pass(10 * 60_000), "within 10 minutes"],
      ];
      for (const [how, end, sentence] of ends) {
        const opened = await openPlain(bench);
        await bench.look(opened);
        await end(opened);
        const answer = await (how === "guessed" ? bench.look(opened) : bench.poll(opened));
        expect([how, answer.status, answer.headers.get("location")]).toEqual([how, 403, null]);
        const text = await answer.text();
        expect(text).toContain(sentence);
        expect(text).not.toContain("redirect");
      }
      for (const wrong of [
        { response_type: "token" },
        { resource: "https://other.example/mcp" },
        { code_challenge: "short", code_challenge_method: "S256" },
      ]) {
        const { response } = await bench.open(ID, { redirect_uri: ADDRESS, ...NO_PKCE, ...wrong });
        expect([wrong, response.status, response.headers.get("location")]).toEqual([wrong, 400, null]);
      }
      expect(bench.count("approved_redirects")).toBe(0);
    }));

  test.each([
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "javascript:alert(1)",
    "http://evil.example/cb",
    "https://ok@evil.example/",
    "https://ok.example/#x",
    "",
  ])("[OA107] %j is refused here, without a card", (address) =>
    withPair(async (bench) => {
      const { response, html } = await openPlain(bench, address);
      expect([response.status, response.headers.get("location")]).toEqual([400, null]);
      expect(html).not.toContain("data-id");
      expect(bench.count("pending_authorizations")).toBe(0);
    }),
  );

  test("[OA107] a public client with an unknown address gets no card", () =>
    withPair(async (bench) => {
      const clientId = await bench.register();
      expect((await bench.open(clientId, { redirect_uri: ADDRESS })).response.status).toBe(400);
      expect(bench.count("pending_authorizations")).toBe(0);
    }));

  test("[OA108] is forgotten with its grant, and all of them with all grants", () =>
    withPair(async (bench) => {
      await connected(bench);
      await codeOf(bench, await openPlain(bench, `${ADDRESS}-other`));
      expect(bench.count("approved_redirects")).toBe(2);
      const grants = bench.issuer.grants();
      await bench.issuer.revoke([grants.find((grant) => grant.lastUsedAt === null)?.id ?? ""]);
      expect(bench.count("approved_redirects")).toBe(1);
      await bench.issuer.revoke("all");
      expect(bench.count("approved_redirects")).toBe(0);
      const opened = await openPlain(bench);
      await bench.look(opened);
      expect(cards(bench)).toMatchObject([{ configured: "new", allowedBefore: true }]);
    }));

  test("[OA104] is one of the fifty latest, and an older one is new for good", () =>
    withPair(async (bench) => {
      for (let at = 0; at < 51; at += 1) {
        await codeOf(bench, await openPlain(bench, `${ADDRESS}-${at}`));
        bench.pass(60_000);
      }
      expect(bench.count("approved_redirects")).toBe(50);
      const latest = bench.issuer.grants().map(({ id }) => id);
      await bench.issuer.revoke(latest.slice(0, 5));
      for (const [address, configured] of [
        [`${ADDRESS}-0`, "new"],
        [`${ADDRESS}-1`, "approved"],
      ] as const) {
        const opened = await openPlain(bench, address);
        await bench.look(opened);
        expect(cards(bench)).toMatchObject([{ redirectUri: address, configured }]);
        await bench.issuer.decide({ id: opened.id, allow: false });
      }
    }));

  test("[OA108] on loopback is forgotten whatever its port and name", () =>
    withPair(async (bench) => {
      await codeOf(bench, await openPlain(bench, "http://127.0.0.1:5000/cb"));
      await bench.issuer.revoke(bench.issuer.grants().map(({ id }) => id));
      expect(bench.count("approved_redirects")).toBe(0);
      await codeOf(bench, await openPlain(bench, "http://127.0.0.1:5000/cb"));
      await codeOf(bench, await openPlain(bench, "http://127.0.0.1:5000/other"));
      await codeOf(bench, await openPlain(bench, "http://localhost:61000/cb"));
      const [latest] = bench.issuer.grants().filter(({ redirectHost }) => redirectHost === "localhost:61000");
      await bench.issuer.revoke([latest?.id ?? ""]);
      expect(bench.storage.sql.exec("SELECT redirect_uri AS uri FROM approved_redirects").toArray()).toEqual([
        { uri: "http://127.0.0.1:5000/other" },
      ]);
    }));

  test("[OA105] [OA108] a card that is up says so when its address is forgotten, and gets nothing before it is allowed again", () =>
    withPair(async (bench) => {
      await connected(bench);
      const opened = await openPlain(bench);
      const denied = await openPlain(bench);
      await bench.look(opened);
      await bench.look(denied);
      expect(cards(bench)).toMatchObject([{ configured: "approved" }, { configured: "approved" }]);
      const { changes } = bench;
      await bench.issuer.revoke("all");
      expect(bench.changes).toBeGreaterThan(changes);
      expect(cards(bench)).toMatchObject([{ configured: "new" }, { configured: "new" }]);
      await bench.issuer.decide({ id: denied.id, allow: false });
      const refused = await bench.look(denied);
      expect([refused.status, refused.headers.get("location")]).toEqual([403, null]);
      expect(await codeOf(bench, opened)).not.toBe("");
    }));

  test("[OA105] [OA106] nothing goes to an address that a list has excluded in the meantime", () =>
    withPair(async (bench) => {
      const opened = await openPlain(bench);
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      bench.deposits = { ...(bench.deposits as Deposits), ...pair(["https://named.example/"]) };
      const answer = await bench.look(opened);
      expect([answer.status, answer.headers.get("location")]).toEqual([403, null]);
      expect(bench.issuer.grants()).toEqual([]);
    }));
});

describe("addresses named in advance", () => {
  test("[OA106] pass, to the letter or by the port of this machine; others are refused with a page that names them", () =>
    withPair(
      async (bench) => {
        for (const address of [ADDRESS, "http://127.0.0.1:61000/cb", "http://localhost:7/cb"]) {
          const opened = await openPlain(bench, address);
          await bench.look(opened);
          expect(cards(bench)).toMatchObject([{ configured: "named" }]);
          expect((await bench.decide(opened)).href.startsWith(address)).toBe(true);
        }
        const stored = bench.count("pending_authorizations");
        for (const address of [`${ADDRESS}/`, `${ADDRESS}?x=1`, "https://evil.example/<b>", REDIRECT, "http://127.0.0.1:5000/other"]) {
          const { response, html } = await openPlain(bench, address);
          expect([address, response.status, response.headers.get("location")]).toEqual([address, 400, null]);
          expect(html).not.toContain("<b>evil");
        }
        expect([bench.count("pending_authorizations"), bench.count("approved_redirects")]).toEqual([stored, 0]);
      },
      [ADDRESS, "http://127.0.0.1:5000/cb"],
    ));
});

test("[OA109] a client that asks without end is stopped, and no other", () =>
  withPair(async (bench) => {
    const tokens = await connected(bench);
    const ask = (ip: string) =>
      bench.send("/token", { form: { grant_type: "refresh_token", refresh_token: "x", client_id: ID, client_secret: "guess" }, ip });
    let refused = 0;
    while (refused < 700 && (await ask(HOME)).status === 401) refused += 1;
    expect(refused).toBe(600); // With the right secret nothing is counted.
    const stopped = await ask(HOME);
    expect([stopped.status, stopped.headers.get("retry-after"), await errorOf(stopped)]).toEqual([429, "3600", "temporarily_unavailable"]);
    expect((await bench.send("/revoke", { form: { token: "x", client_id: ID, client_secret: "guess" } })).status).toBe(429);
    expect((await ask("198.51.100.9")).status).toBe(401);
    const { clientId, refresh_token } = await bench.connect();
    expect((await bench.refresh(clientId, refresh_token)).status).toBe(200);
    expect((await bench.send("/token", { form: { grant_type: "refresh_token", refresh_token: "x", client_id: "nobody" } })).status).toBe(401);
    bench.pass(60 * 60_000);
    expect((await bench.refresh(ID, tokens.refresh_token, inBody)).status).toBe(200);
  }));

test("[OA110] every end of a sign-in has its own sentence", () =>
  withIssuer(async (bench) => {
    const clientId = await bench.register();
    const said = new Set<string>();
    const ends: ((opened: Opened) => unknown)[] = [
      (opened) => bench.issuer.decide({ id: opened.id, allow: true, code: opened.code }),
      (opened) => bench.issuer.decide({ id: opened.id, allow: false }),
      async () => void (await Promise.all([1, 2].map(() => bench.open(clientId)))),
      () => bench.pass(10 * 60_000),
      async (opened) => {
        await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
        bench.storage.sql.exec("DELETE FROM oauth_kv WHERE key = ?", `client:${clientId}`);
      },
    ];
    for (const end of ends) {
      const opened = await bench.open(clientId);
      await bench.look(opened);
      await end(opened);
      const { redirect, message } = (await (await bench.poll(opened)).json()) as { redirect: string; message: string };
      const { searchParams } = new URL(redirect);
      expect(searchParams.get("error_description") ?? message).toBe(message);
      expect([searchParams.get("iss"), searchParams.get("state")]).toEqual([ORIGIN, "s t&a=te"]);
      said.add(message);
    }
    expect(said.size).toBe(ends.length);
  }));
