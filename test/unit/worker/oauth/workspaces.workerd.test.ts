import { describe, expect, test } from "vitest";
import { errorOf, ORIGIN, pathIn, STATIC_TOKEN, withIssuer, type Bench } from "./bench.workerd.ts";

const NAME = "pi";
const ISSUER = `${ORIGIN}/w/${NAME}`;
const RESOURCE = `${ISSUER}/mcp`;

function within(run: (bench: Bench) => Promise<void>, changes: Parameters<typeof withIssuer>[1] = {}): Promise<void> {
  return withIssuer((bench) => {
    bench.workspace = NAME;
    return run(bench);
  }, changes);
}

describe("documents", () => {
  test.for(["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"])("[OA90] %s, of a workspace", (path) =>
    within(async (bench) => {
      expect(pathIn(NAME, path)).toMatch(/^\/\.well-known\/oauth-protected-resource\/w\/pi(\/mcp)?$/);
      expect(await (await bench.send(path)).json()).toMatchObject({ resource: RESOURCE, authorization_servers: [ISSUER], scopes_supported: ["mcp"] });
    }),
  );

  test.for([
    "/.well-known/oauth-authorization-server/w/pi",
    "/.well-known/oauth-authorization-server/w/pi/mcp",
    "/.well-known/openid-configuration/w/pi",
    "/.well-known/openid-configuration/w/pi/mcp",
    "/w/pi/.well-known/openid-configuration",
    "/w/pi/mcp/.well-known/openid-configuration",
  ])("[OA90] %s is the server's document", (path) =>
    withIssuer(async (bench) => {
      const answer = await bench.issuer.fetch(new Request(`https://elsewhere.example${path}`), ISSUER);
      expect(await answer?.json()).toMatchObject({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        registration_endpoint: `${ISSUER}/register`,
        revocation_endpoint: `${ISSUER}/revoke`,
        protected_resources: [RESOURCE],
        scopes_supported: ["mcp", "offline_access"],
      });
      expect(answer?.headers.get("access-control-allow-origin")).toBe("*");
    }),
  );

  test("[OA90] the challenge names the document of the workspace", () =>
    within(async (bench) => {
      expect((await bench.mcp()).challenge).toContain(`resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/w/pi/mcp"`);
    }));
});

describe("signing in", () => {
  test("[OA90] [OA92] from registration to refresh and revocation, with the issuer's own name everywhere", () =>
    within(async (bench) => {
      const clientId = await bench.register();
      const opened = await bench.open(clientId, { resource: RESOURCE });
      expect(opened.html).toContain('data-at="/w/pi/authorize/wait"');
      expect(opened.html).toContain(`url=/w/pi/authorize/wait?id=${opened.id}&#38;page=1`);
      const back = await bench.decide(opened);
      expect(back.searchParams.get("iss")).toBe(ISSUER);
      const answer = await bench.exchange(clientId, back.searchParams.get("code") ?? "", { resource: RESOURCE });
      const { access_token, refresh_token } = (await answer.json()) as { access_token: string; refresh_token: string };
      expect((await bench.mcp(`Bearer ${access_token}`)).status).toBe(200);
      const renewed = await bench.refresh(clientId, refresh_token, { resource: ISSUER });
      expect(renewed.status).toBe(200);
      expect((await bench.send("/revoke", { form: { client_id: clientId, token: refresh_token } })).status).toBe(200);
      expect(bench.issuer.grants().length).toBe(0);
    }));

  test("[OA38] [OA90] a refusal carries the same name", () =>
    within(async (bench) => {
      const back = await bench.decide(await bench.open(await bench.register()), { allow: false });
      expect([back.searchParams.get("error"), back.searchParams.get("iss")]).toEqual(["access_denied", ISSUER]);
    }));

  test.for(["http://127.0.0.1:8777", "http://localhost:8777"])("[OA92] on %s the cookie is for the workspace's own pages", (origin) =>
    within(
      async (bench) => {
        const opened = await bench.open(await bench.register({}, { origin }), {}, { origin });
        const set = opened.response.headers.get("set-cookie") ?? "";
        expect(set).toMatch(/^pi-wait-[\w-]+=[\w-]+; Path=\/w\/pi\/authorize; HttpOnly; SameSite=Lax; Max-Age=660$/);
        await bench.look(opened);
        await bench.issuer.decide({ id: opened.id, allow: true });
        const done = await bench.look(opened);
        expect(done.status).toBe(302);
        expect(done.headers.get("set-cookie")).toContain("=; Path=/w/pi/authorize; HttpOnly; SameSite=Lax; Max-Age=0");
        expect(new URL(done.headers.get("location") ?? "").searchParams.get("iss")).toBe(`${origin}/w/pi`);
      },
      { origins: ["http://127.0.0.1:8777", "http://localhost:8777"] },
    ),
  );
});

describe("resources", () => {
  const FOREIGN = [
    ORIGIN,
    `${ORIGIN}/`,
    `${ORIGIN}/mcp`,
    `${ORIGIN}/w/other/mcp`,
    `${ORIGIN}/w/other`,
    `${ORIGIN}/w/pi/mcp/`,
    `${ORIGIN}/w/PI/mcp`,
    `${ORIGIN}/w/%70i/mcp`,
    `${ORIGIN}/w/pi/../pi/mcp`,
    `${ORIGIN}/w/p`,
    "https://elsewhere.example/w/pi/mcp",
  ];

  test.for([undefined, RESOURCE, ISSUER, `${ISSUER}/`])("[OA91] %s is the endpoint of the workspace", (resource) =>
    within(async (bench) => {
      const opened = await bench.open(await bench.register(), { resource });
      expect(opened.response.status).toBe(200);
    }),
  );

  test.for(FOREIGN)("[OA91] %s is not", (resource) =>
    within(async (bench) => {
      const { clientId, refresh_token } = await bench.connect();
      const opened = await bench.open(clientId, { resource });
      const back = new URL(opened.response.headers.get("location") ?? "");
      expect([opened.response.status, back.searchParams.get("error"), back.searchParams.get("iss")]).toEqual([302, "invalid_target", ISSUER]);
      const refreshed = await bench.refresh(clientId, refresh_token, { resource });
      expect([refreshed.status, await errorOf(refreshed)]).toEqual([400, "invalid_target"]);
    }),
  );

  test("[OA91] a workspace's resource is foreign to the default workspace", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register(), { resource: RESOURCE });
      expect(new URL(opened.response.headers.get("location") ?? "").searchParams.get("error")).toBe("invalid_target");
    }));
});

describe("even over one store", () => {
  test.for<[string | null, string | null]>([
    ["pi", null],
    [null, "pi"],
    ["pi", "other"],
    ["pi", "p"],
  ])("[OA93] what %s gave is worth nothing in %s", ([own, other]) =>
    withIssuer(async (bench) => {
      bench.workspace = own;
      const { clientId, access_token, refresh_token } = await bench.connect();
      const pending = await bench.decide(await bench.open(clientId));
      bench.workspace = other;
      expect((await bench.mcp(`Bearer ${access_token}`)).status).toBe(401);
      for (const refused of [await bench.refresh(clientId, refresh_token), await bench.exchange(clientId, pending.searchParams.get("code") ?? "")]) {
        expect([refused.status, (await errorOf(refused)).startsWith("invalid_")]).toEqual([400, true]);
      }
      bench.workspace = own;
      expect((await bench.mcp(`Bearer ${access_token}`)).status).toBe(200);
      expect((await bench.refresh(clientId, refresh_token)).status).toBe(200);
    }),
  );
});

test("[OA6] [OA90] with OAuth off the workspace has none of these paths either, and its static token works", () =>
  within(
    async (bench) => {
      for (const path of ["/.well-known/oauth-protected-resource/mcp", "/token", "/authorize"]) {
        expect(await bench.issuer.fetch(new Request(ORIGIN + pathIn(NAME, path)), ISSUER)).toBeUndefined();
      }
      expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).status).toBe(200);
    },
    { oauth: false },
  ));
