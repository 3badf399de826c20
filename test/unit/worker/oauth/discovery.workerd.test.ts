import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { createTables, hasTables } from "../../../../worker/workspace/tables.ts";
import { errorOf, ORIGIN, RESOURCE, STATIC_TOKEN, withIssuer } from "./bench.workerd.ts";

const SERVER_PATHS = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server/mcp",
  "/.well-known/openid-configuration/mcp",
  "/mcp/.well-known/openid-configuration",
];
const RESOURCE_PATHS = ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"];

describe("documents", () => {
  test.for(RESOURCE_PATHS)("[OA1] %s names the resource", (path) =>
    withIssuer(async (bench) => {
      expect(await (await bench.send(path)).json()).toEqual({
        resource: RESOURCE,
        authorization_servers: [ORIGIN],
        scopes_supported: ["mcp"],
        bearer_methods_supported: ["header"],
        resource_name: "pi-relay",
      });
    }),
  );

  test.for(SERVER_PATHS)("[OA2] %s is the server's document", (path) =>
    withIssuer(async (bench) => {
      const document = (await (await bench.send(path)).json()) as Record<string, unknown>;
      expect(document).toMatchObject({
        issuer: ORIGIN,
        authorization_endpoint: `${ORIGIN}/authorize`,
        token_endpoint: `${ORIGIN}/token`,
        registration_endpoint: `${ORIGIN}/register`,
        revocation_endpoint: `${ORIGIN}/revoke`,
        code_challenge_methods_supported: ["S256"],
        response_types_supported: ["code"],
        scopes_supported: ["mcp", "offline_access"],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      });
      for (const endpoint of ["token", "revocation"]) {
        expect(document[`${endpoint}_endpoint_auth_methods_supported`]).toEqual(["client_secret_basic", "client_secret_post", "none"]);
      }
      expect(Object.keys(document).filter((name) => name.includes("signing_alg"))).toEqual([]);
      expect(document["grant_types_supported"]).toEqual(["authorization_code", "refresh_token"]);
    }),
  );

  test("[OA2] each origin is an issuer of its own", () =>
    withIssuer(async (bench) => {
      for (const origin of ["http://127.0.0.1:8777", "http://localhost:8777"]) {
        const document = (await (await bench.send(SERVER_PATHS[0] ?? "", { origin })).json()) as { issuer: string };
        expect(document.issuer).toBe(origin);
      }
    }));

  test("[OA3] headers change no document", () =>
    withIssuer(async (bench) => {
      const headers = { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http", forwarded: "host=evil.example" };
      for (const path of [...SERVER_PATHS, ...RESOURCE_PATHS]) {
        expect(await (await bench.send(path, { headers })).text()).toBe(await (await bench.send(path)).text());
      }
      const elsewhere = await bench.issuer.fetch(new Request(`https://evil.example${SERVER_PATHS[0]}`), ORIGIN);
      expect(await elsewhere?.json()).toMatchObject({ issuer: ORIGIN });
    }));

  test("[OA4] any web origin may read the documents and endpoints, without credentials", () =>
    withIssuer(async (bench) => {
      for (const path of [...SERVER_PATHS, ...RESOURCE_PATHS, "/register", "/token", "/revoke"]) {
        const headers = { origin: "https://app.example", "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
        const preflight = await bench.send(path, { method: "OPTIONS", headers });
        expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
        expect(preflight.headers.get("access-control-allow-headers")).toContain("Authorization");
        const answer = await bench.send(path, { headers });
        expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
      }
    }));

  test("[OA4] the pages are for no other web origin", () =>
    withIssuer(async (bench) => {
      for (const path of ["/authorize", "/authorize/wait?id=x"]) {
        const answer = await bench.send(path, { headers: { origin: "https://app.example" } });
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      }
    }));

  test("[OA5] HEAD has no body and other methods are named", () =>
    withIssuer(async (bench) => {
      for (const path of [...SERVER_PATHS, ...RESOURCE_PATHS]) {
        const head = await bench.send(path, { method: "HEAD" });
        expect([head.status, await head.text(), head.headers.get("content-type")]).toEqual([200, "", "application/json"]);
        const post = await bench.send(path, { method: "POST" });
        expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
      }
      for (const [path, allow] of [
        ["/register", "POST, OPTIONS"],
        ["/token", "POST, OPTIONS"],
        ["/revoke", "POST, OPTIONS"],
      ] as const) {
        const get = await bench.send(path);
        expect([get.status, get.headers.get("allow"), await errorOf(get)]).toEqual([405, allow, "invalid_request"]);
      }
      for (const path of ["/authorize", "/authorize/wait"]) expect((await bench.send(path, { method: "POST", form: {} })).status).toBe(405);
    }));

  test("[OA6] with OAuth off the paths are nobody's and static tokens go on", () =>
    withIssuer(
      async (bench) => {
        for (const path of [...SERVER_PATHS, ...RESOURCE_PATHS, "/register", "/authorize", "/authorize/wait", "/token", "/revoke"]) {
          expect(await bench.issuer.fetch(new Request(`${ORIGIN}${path}`), ORIGIN)).toBeUndefined();
        }
        expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).status).toBe(200);
        expect((await bench.mcp()).challenge).not.toContain("resource_metadata");
        expect((await bench.mcp("Bearer owner:aaaaaaaaaaaaaaaa:b")).status).toBe(401);
      },
      { oauth: false },
    ));

  test("[OA2] other paths are not the issuer's", () =>
    withIssuer(async (bench) => {
      for (const path of ["/token/", "/oauth/token", "/constructor", "/.well-known/oauth-protected-resource/other", "/authorize/"]) {
        expect(await bench.issuer.fetch(new Request(`${ORIGIN}${path}`), ORIGIN)).toBeUndefined();
      }
    }));

  test("[OA7] without tables nothing is written", () =>
    withIssuer(
      async (bench) => {
        expect(hasTables(bench.storage)).toBe(false);
        expect(bench.issuer.pending()).toEqual([]);
        expect(await bench.issuer.decide({ id: "x", allow: true })).toEqual({ outcome: "gone" });
        expect(bench.issuer.sweep()).toBeUndefined();
        expect(hasTables(bench.storage)).toBe(false);
        expect(bench.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray()).toEqual([]);
      },
      {},
      "none",
    ));

  test("[OA7] making the tables twice keeps what is in them", async () => {
    const stub = env.WORKSPACE.get(env.WORKSPACE.newUniqueId());
    await runInDurableObject(stub, (_object: unknown, state: DurableObjectState) => {
      createTables(state.storage).putSetting("seen", { a: 1 });
      expect(createTables(state.storage).setting("seen")).toEqual({ a: 1 });
      state.storage.sql.exec("UPDATE schema_version SET version = 99");
      expect(() => createTables(state.storage)).toThrow(/version 99/);
    });
  });
});

describe("who calls /mcp", () => {
  test("[OA8] without a bearer token the challenge tells where to start and no error", () =>
    withIssuer(async (bench) => {
      for (const header of [undefined, "Foo x", "Basic dXNlcjpwdw=="]) {
        const { status, challenge } = await bench.mcp(header);
        expect(status).toBe(401);
        expect(challenge).toContain(`resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp"`);
        expect(challenge).toContain('scope="mcp"');
        expect(challenge).not.toContain("error=");
      }
      const query = await bench.issuer.authenticate(new Request(`${ORIGIN}/mcp?access_token=${STATIC_TOKEN}`, { method: "POST" }), ORIGIN);
      expect(query.ok).toBe(false);
    }));

  test("[OA9] a token that is not valid is named as such", () =>
    withIssuer(async (bench) => {
      const other = "http://127.0.0.1:8777";
      const { access_token } = await bench.connect();
      const headers = new Headers();
      headers.append("authorization", `Bearer ${STATIC_TOKEN}`);
      headers.append("authorization", `Bearer ${STATIC_TOKEN}`);
      const values = [
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer \u00e9\u00e9",
        `Bearer ${"a".repeat(10_240)}`,
        `Bearer ${access_token}x`,
        headers.get("authorization") ?? "",
      ];
      for (const value of values) {
        const { status, challenge } = await bench.mcp(value);
        expect([value.slice(0, 20), status]).toEqual([value.slice(0, 20), 401]);
        expect(challenge).toContain('error="invalid_token"');
      }
      expect((await bench.mcp(`Bearer ${access_token}`)).status).toBe(200);
      expect((await bench.mcp(`Bearer ${access_token}`, other)).status).toBe(401);
      bench.pass(12 * 60 * 60_000);
      expect((await bench.mcp(`Bearer ${access_token}`)).challenge).toContain('error="invalid_token"');
    }));

  test("[OA10] a static token is matched by its hash", () =>
    withIssuer(async (bench) => {
      for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR "]) {
        expect((await bench.mcp(`${scheme} ${STATIC_TOKEN}`)).principal).toEqual({ id: "token:t1", kind: "token", name: "script", scope: ["mcp"] });
      }
      const hash = bench.deposits?.staticTokens[0]?.sha256 ?? "";
      expect((await bench.mcp(`Bearer ${hash}`)).status).toBe(401);
      if (bench.deposits === undefined) throw new Error("deposits expected");
      bench.deposits = { ...bench.deposits, staticTokens: bench.deposits.staticTokens.map((token) => ({ ...token, scope: [] })) };
      const { status, challenge } = await bench.mcp(`Bearer ${STATIC_TOKEN}`);
      expect([status, challenge.includes('error="insufficient_scope"'), challenge.includes('scope="mcp"')]).toEqual([403, true, true]);
    }));

  test("[OA120] a static token that has expired is as good as unknown, also beside one that has not", () =>
    withIssuer(async (bench) => {
      if (bench.deposits === undefined) throw new Error("deposits expected");
      const [known] = bench.deposits.staticTokens;
      if (known === undefined) throw new Error("a token expected");
      const expiring = { ...known, id: "t2", name: "expiring", expiresAt: bench.now() + 60 * 60_000 };
      bench.deposits = { ...bench.deposits, staticTokens: [expiring] };
      expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).principal).toMatchObject({ id: "token:t2", name: "expiring" });
      bench.pass(60 * 60_000);
      expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).challenge).toContain('error="invalid_token"');
      bench.deposits = { ...bench.deposits, staticTokens: [known, expiring] };
      expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).principal).toMatchObject({ id: `token:${known.id}` });
    }));

  test("[OA11] the principal of a grant stays the same over refreshes", () =>
    withIssuer(async (bench) => {
      const { clientId, access_token, refresh_token } = await bench.connect({ client_name: "Cl\u202eaude\n  <b>" });
      const { principal } = await bench.mcp(`Bearer ${access_token}`);
      expect(principal).toMatchObject({ kind: "grant", name: "Cl aude <b>", scope: ["mcp"] });
      const renewed = (await (await bench.refresh(clientId, refresh_token)).json()) as { access_token: string };
      expect((await bench.mcp(`Bearer ${renewed.access_token}`)).principal).toEqual(principal);
    }));
});
