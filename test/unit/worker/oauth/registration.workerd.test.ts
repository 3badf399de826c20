import { describe, expect, test } from "vitest";
import { errorOf, REDIRECT, withIssuer } from "./bench.workerd.ts";

const HOUR = 60 * 60_000;

describe("registration", () => {
  test("[OA12] public and confidential clients register, and only what is needed is kept", () =>
    withIssuer(async (bench) => {
      const json = {
        client_name: "App",
        redirect_uris: [REDIRECT],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        response_types: ["code", "token"],
        logo_uri: "javascript:alert(1)",
        "client_name#ja": "x",
        contacts: ["a@b.example"],
      };
      const confidential = (await (await bench.send("/register", { json })).json()) as Record<string, unknown>;
      expect(confidential).toMatchObject({ token_endpoint_auth_method: "client_secret_basic", grant_types: ["authorization_code", "refresh_token"] });
      expect(confidential["client_secret"]).toEqual(expect.any(String));
      const stored = JSON.stringify(bench.storage.sql.exec("SELECT value FROM oauth_kv").toArray());
      expect(stored).not.toContain("javascript");
      expect(stored).not.toContain("a@b.example");
      expect(stored).not.toContain(String(confidential["client_secret"]));
      const open = (await (await bench.send("/register", { json: { ...json, token_endpoint_auth_method: "none" } })).json()) as Record<
        string,
        unknown
      >;
      expect(open["client_secret"]).toBeUndefined();
      expect((await bench.send("/register", { json: { ...json, grant_types: ["client_credentials"] } })).status).toBe(400);
    }));

  test.for([
    "JaVaScRiPt:alert(1)",
    " javascript:x",
    "data:text/html,x",
    "http://evil.example/cb",
    "https://ok@evil.example/",
    "https://ok.example/#f",
    "//evil",
  ])("[OA13] %j refuses the registration", (uri) =>
    withIssuer(async (bench) => {
      const response = await bench.send("/register", { json: { redirect_uris: [REDIRECT, uri] } });
      expect([response.status, await errorOf(response)]).toEqual([400, "invalid_redirect_uri"]);
      expect([bench.count("oauth_kv"), bench.count("unused_clients")]).toEqual([0, 0]);
    }),
  );

  test("[OA14] Cursor's three addresses are accepted, another private scheme is dropped", () =>
    withIssuer(async (bench) => {
      const cursor = [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
      ];
      const register = async (redirect_uris: unknown) => bench.send("/register", { json: { redirect_uris, token_endpoint_auth_method: "none" } });
      const accepted = (await (await register(cursor)).json()) as { client_id: string; redirect_uris: string[] };
      expect(accepted.redirect_uris).toEqual(cursor);
      expect((await bench.open(accepted.client_id, { redirect_uri: cursor[0] ?? "" })).response.status).toBe(200);
      const target = await bench.decide(await bench.open(accepted.client_id, { redirect_uri: cursor[0] ?? "" }));
      expect(target.href).toMatch(/^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?code=/);
      expect(await (await register(["vscode://x/cb", REDIRECT])).json()).toMatchObject({ redirect_uris: [REDIRECT] });
      for (const none of [["vscode://x/cb"], [], undefined, "x", [1], Array.from({ length: 21 }, () => REDIRECT)]) {
        expect((await register(none)).status).toBe(400);
      }
    }));

  test.for<[string | null | undefined, string[], string[]]>([
    [undefined, [REDIRECT, "http://localhost:1/cb", "cursor://x/cb"], [REDIRECT, "http://localhost:1/cb", "cursor://x/cb"]],
    [null, ["http://127.0.0.1/cb"], ["http://127.0.0.1/cb"]],
    ["native", [REDIRECT, "http://[::1]/cb", "cursor://x/cb"], [REDIRECT, "http://[::1]/cb", "cursor://x/cb"]],
    ["web", [REDIRECT, "http://localhost:1/cb", "cursor://x/cb"], [REDIRECT]],
  ])("[OA132] an application of type %s may return to what fits it", ([application_type, redirect_uris, usable]) =>
    withIssuer(async (bench) => {
      const answer = await bench.send("/register", { json: { application_type, redirect_uris } });
      expect(answer.status).toBe(201);
      const registered = (await answer.json()) as Record<string, unknown>;
      expect(registered["redirect_uris"]).toEqual(usable);
      expect(registered["application_type"]).toBe(application_type ?? undefined);
    }),
  );

  test("[OA132] a web application without an https address, or another type, is refused", () =>
    withIssuer(async (bench) => {
      const register = async (json: unknown) => {
        const answer = await bench.send("/register", { json });
        return [answer.status, await errorOf(answer)];
      };
      for (const uri of ["http://localhost/cb", "cursor://x/cb"]) {
        expect(await register({ application_type: "web", redirect_uris: [uri] })).toEqual([400, "invalid_redirect_uri"]);
      }
      for (const application_type of ["Web", "", "service", 1, ["web"], {}]) {
        expect(await register({ application_type, redirect_uris: [REDIRECT] })).toEqual([400, "invalid_client_metadata"]);
      }
      expect([bench.count("oauth_kv"), bench.count("unused_clients")]).toEqual([0, 0]);
    }));

  test("[OA133] the answer says what was registered, and a secret that does not expire", () =>
    withIssuer(async (bench) => {
      // As Copilot Studio asks: neither scope nor method, nor flows.
      const confidential = await (await bench.send("/register", { json: { client_name: "Copilot", redirect_uris: [REDIRECT] } })).json();
      expect(confidential).toMatchObject({
        client_id: expect.any(String),
        client_id_issued_at: expect.any(Number),
        client_secret: expect.any(String),
        client_secret_expires_at: 0,
        client_name: "Copilot",
        redirect_uris: [REDIRECT],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
      });
      const open = await (await bench.send("/register", { json: { redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" } })).json();
      expect(open).toMatchObject({ token_endpoint_auth_method: "none", client_id_issued_at: expect.any(Number) });
      expect(Object.keys(open as object)).not.toContain("client_secret_expires_at");
    }));

  test("[OA15] thirty an hour from one source", () =>
    withIssuer(async (bench) => {
      for (let at = 0; at < 30; at += 1) await bench.register({}, { ip: `2001:db8:1:2::${at}`, headers: { "x-forwarded-for": `198.51.100.${at}` } });
      const refused = await bench.send("/register", {
        json: { redirect_uris: [REDIRECT] },
        ip: "2001:db8:1:2:ffff::1",
        headers: { "x-forwarded-for": "192.0.2.1" },
      });
      expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("access-control-allow-origin")]).toEqual([429, "3600", "*"]);
      await bench.register({}, { ip: "2001:db8:1:3::1" });
      bench.pass(HOUR);
      await bench.register({}, { ip: "2001:db8:1:2::1" });
    }));

  test("[OA15] web pages use up their own share, not that of programs on the same machine", () =>
    withIssuer(async (bench) => {
      const asPage = async (origin: string) => (await bench.send("/register", { json: { redirect_uris: [REDIRECT] }, headers: { origin } })).status;
      for (let at = 0; at < 30; at += 1) expect(await asPage("https://evil.example")).toBe(201);
      for (let at = 0; at < 100; at += 1) expect(await asPage("https://evil.example")).toBe(429);
      expect(await asPage("https://good.example")).toBe(201);
      for (let at = 1; at < 90; at += 1) expect(await asPage(at === 1 ? "null" : `https://page-${at}.example`)).toBe(201);
      const counted = bench.count("counters");
      expect([await asPage("https://another.example"), await asPage("https://good.example")]).toEqual([429, 429]);
      expect(bench.count("counters")).toBe(counted);
      await bench.register();
    }));

  test("[OA16] of the unused the oldest of the fullest source gives way, the used never", () =>
    withIssuer(async (bench) => {
      const { clientId: used } = await bench.connect();
      const mine = await bench.register({}, { ip: "198.51.100.1" });
      for (let at = 0; at < 210; at += 1) await bench.register({}, { ip: `2001:db8:0:${Math.floor(at / 30)}::1` });
      expect(bench.count("unused_clients")).toBe(200);
      expect(bench.count("oauth_kv WHERE key LIKE 'client:%'")).toBe(201);
      for (const clientId of [used, mine]) expect((await bench.open(clientId)).response.status).toBe(200);
    }));

  test("[OA16] neither a network of many addresses nor pages of many origins push out somebody's fresh client", () =>
    withIssuer(async (bench) => {
      const mine = await bench.register({}, { ip: "198.51.100.1" });
      for (let at = 0; at < 210; at += 1) await bench.register({}, { ip: `2001:db8:2:${at.toString(16)}::1` });
      expect((await bench.open(mine)).response.status).toBe(200);
      const program = await bench.register();
      for (let at = 0; at < 210; at += 1) {
        if (at === 110) bench.pass(HOUR);
        await bench.register({}, { headers: { origin: `https://page-${at}.example` } });
      }
      expect(bench.count("unused_clients")).toBe(200);
      for (const clientId of [mine, program]) expect((await bench.open(clientId)).response.status).toBe(200);
    }));

  test("[OA17] a client that was never allowed is gone after a day", () =>
    withIssuer(async (bench) => {
      const { clientId: used } = await bench.connect();
      const unused = await bench.register();
      const due = bench.issuer.sweep() ?? 0;
      expect(due).toBeLessThanOrEqual(bench.now() + 24 * HOUR);
      bench.pass(25 * HOUR);
      bench.issuer.sweep();
      expect((await bench.open(unused)).response.status).toBe(400);
      expect((await bench.open(used)).response.status).toBe(200);
    }));

  test("[OA18] size, shape and odd members", () =>
    withIssuer(async (bench) => {
      const post = (body: string) => bench.send("/register", { body, headers: { "content-type": "application/json" } });
      expect((await post(JSON.stringify({ redirect_uris: [REDIRECT], client_name: "a".repeat(1_000_000) }))).status).toBe(413);
      for (const body of [
        "",
        "x",
        "[]",
        "null",
        '"x"',
        "5",
        "{}",
        '{"redirect_uris":"x"}',
        '{"client_name":5,"redirect_uris":["https://ok.example/"]}',
      ]) {
        expect([body, (await post(body)).status]).toEqual([body, 400]);
      }
      const odd = await post(
        `{"redirect_uris":["javascript:x"],"redirect_uris":["${REDIRECT}"],"__proto__":{"token_endpoint_auth_method":"none"},"constructor":1,"client_name":"<script>alert(1)</script>","token_endpoint_auth_method":"none"}`,
      );
      expect(odd.status).toBe(201);
      const { client_id } = (await odd.json()) as { client_id: string };
      const { html } = await bench.open(client_id);
      expect(html).not.toContain("<script>alert");
      expect(html).toContain("&#60;script&#62;alert(1)");
    }));
});
