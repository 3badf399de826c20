import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ORIGIN, REDIRECT, withIssuer } from "./bench.workerd.ts";
import { everythingStored, leavesNoTrace } from "./stored.workerd.ts";

const RESOURCE_PATHS = ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"];
const SERVER_PATHS = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/mcp"];
const JSON_TYPE = { "content-type": "application/json" };
const SCRIPT = "<script>alert(1)</script>";

describe("registrations", () => {
  test.for<[string, string, number]>([
    ["1 MB of metadata", JSON.stringify({ redirect_uris: [REDIRECT], client_name: "a".repeat(1_000_000) }), 413],
    ["a deep one", `${"[".repeat(30_000)}${"]".repeat(30_000)}`, 400],
    ["no object", "[]", 400],
    ["half an object", `{"redirect_uris":["${REDIRECT}"]`, 400],
    ["two values, the last one script", `{"redirect_uris":["${REDIRECT}"],"redirect_uris":["javascript:alert(1)"]}`, 400],
    ["addresses by way of __proto__", `{"__proto__":{"redirect_uris":["${REDIRECT}"]}}`, 400],
    ["an address that is no text", '{"redirect_uris":[{"toString":1}]}', 400],
    ["a name that is no text", `{"redirect_uris":["${REDIRECT}"],"client_name":{"toString":1}}`, 400],
    ["a method that is none", `{"redirect_uris":["${REDIRECT}"],"token_endpoint_auth_method":"${SCRIPT}"}`, 400],
    ["flows we do not offer", `{"redirect_uris":["${REDIRECT}"],"grant_types":["implicit"]}`, 400],
    ["script for an address", '{"redirect_uris":["JaVaScRiPt:alert(1)"]}', 400],
    ["script beside a good address", `{"redirect_uris":["${REDIRECT}","java\\tscript:alert(1)"]}`, 400],
  ])("[OA13] [OA18] [OA136] %s is refused", ([_what, body, status]) =>
    withIssuer(async (bench) => {
      await leavesNoTrace(bench, async () => {
        const answer = await bench.send("/register", { body, headers: JSON_TYPE });
        const headers = ["content-type", "x-content-type-options", "cache-control"].map((name) => answer.headers.get(name));
        expect([answer.status, ...headers]).toEqual([status, "application/json", "nosniff", "no-store"]);
      });
    }),
  );

  test("[OA12] [OA18] what is not needed is not kept: logos, pages, names in other languages, members of __proto__", () =>
    withIssuer(async (bench) => {
      const body = `{"redirect_uris":["javascript:x"],"redirect_uris":["${REDIRECT}"],"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},
        "client_name":"Claude","client_name#de":"${SCRIPT}","logo_uri":"javascript:alert(1)","client_uri":"javascript:alert(1)","tos_uri":"data:,x",
        "policy_uri":"${SCRIPT}","jwks_uri":"https://evil.example/keys","software_statement":"x.y.z","contacts":["a@evil.example"],"scope":"admin",
        "client_id":"chosen-by-me","client_secret":"chosen-by-me","registration_access_token":"x"}`;
      const answer = await bench.send("/register", { body, headers: JSON_TYPE });
      expect(answer.status).toBe(201);
      const said = await answer.text();
      const kept = JSON.stringify(everythingStored(bench));
      for (const text of [said, kept]) {
        for (const word of ["javascript", "script>", "polluted", "evil.example", "admin", "chosen-by-me", "#de", "x.y.z"]) {
          expect([word, text.includes(word)]).toEqual([word, false]);
        }
      }
      expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    }));

  test("[OA26] [OA43] whoever calls itself Claude is shown with its own address, and never as one that was allowed", () =>
    withIssuer(async (bench) => {
      await bench.connect();
      for (const client_name of ["Claude", "Claude\u202e\u0000\n(verified)", `Claude ${SCRIPT}`, "Cl\u0430ude"]) {
        const evil = "https://evil.example/cb";
        const opened = await bench.open(await bench.register({ client_name, redirect_uris: [evil] }), { redirect_uri: evil });
        await bench.look(opened);
        expect(opened.html).toContain("<b>evil.example</b>");
        expect(opened.html).not.toContain(SCRIPT);
        const card = bench.issuer.pending().find(({ id }) => id === opened.id);
        expect(card).toMatchObject({ redirectHost: "evil.example", allowedBefore: false });
        expect(card?.clientName).not.toMatch(/\p{C}/u);
        await bench.decide(opened, { allow: false });
      }
    }));
});

describe("documents", () => {
  test("[OA1] [OA2] [OA3] [OA5] [OA136] no header, query or method changes one, and a slash behind is nobody's", () =>
    withIssuer(async (bench) => {
      const evil = {
        host: "evil.example",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
        "x-forwarded-port": "1",
        "x-forwarded-prefix": "/evil",
        "x-original-url": "/evil",
        "x-rewrite-url": "/evil",
        forwarded: "host=evil.example;proto=http",
        origin: "https://evil.example",
      };
      await leavesNoTrace(bench, async () => {
        for (const path of [...RESOURCE_PATHS, ...SERVER_PATHS]) {
          const plain = await (await bench.send(path)).text();
          expect(plain).not.toContain("evil");
          for (const headers of [evil, ...Object.entries(evil).map(([name, value]) => ({ [name]: value }))]) {
            expect([headers, await (await bench.send(path, { headers })).text()]).toEqual([headers, plain]);
          }
          expect(await (await bench.send(`${path}?resource=https://evil.example&issuer=evil`)).text()).toBe(plain);
          expect(await (await bench.send(path, { method: "HEAD" })).text()).toBe("");
          const preflight = await bench.send(path, { method: "OPTIONS", headers: evil });
          expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
          for (const method of ["POST", "PUT", "DELETE", "PATCH"]) expect((await bench.send(path, { method })).status).toBe(405);
          expect(await bench.issuer.fetch(new Request(`${ORIGIN}${path}/`), ORIGIN)).toBeUndefined();
        }
      });
      const { resource, authorization_servers } = (await (await bench.send(RESOURCE_PATHS[0] ?? "")).json()) as Record<string, unknown>;
      expect([resource, authorization_servers]).toEqual([`${ORIGIN}/mcp`, [ORIGIN]]);
    }));
});

describe("addresses of metadata documents", () => {
  const original = globalThis.fetch;
  let fetched: string[] = [];
  let answer: (signal: AbortSignal | null | undefined) => Response | Promise<Response> = () => new Response("none", { status: 404 });
  beforeEach(() => {
    fetched = [];
    globalThis.fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
      fetched.push(input instanceof Request ? input.url : String(input));
      return answer(init?.signal);
    };
  });
  afterEach(() => {
    globalThis.fetch = original;
  });

  const DOC = "https://app.example/client.json";
  const good = (changes: Record<string, unknown> = {}) => ({
    client_id: DOC,
    client_name: "App",
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "none",
    ...changes,
  });
  const dripping = () =>
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        controller.enqueue(new TextEncoder().encode(" "));
      },
    });

  test.for([
    "http://app.example/client.json",
    "https://127.0.0.1/client.json",
    "https://127.1/client.json",
    "https://0/client.json",
    "https://0x7f000001/client.json",
    "https://017700000001/client.json",
    "https://10.0.0.1/client.json",
    "https://172.16.0.1/client.json",
    "https://192.168.0.1/client.json",
    "https://100.64.0.1/client.json",
    "https://169.254.169.254/latest/meta-data/",
    "https://[::1]/client.json",
    "https://[::ffff:127.0.0.1]/client.json",
    "https://[fe80::1]/client.json",
    "https://[fd00:ec2::254]/latest/meta-data/",
    "https://localhost/client.json",
    "https://app.localhost/client.json",
    "https://metadata.google.internal/computeMetadata/v1/",
    "https://printer.local/client.json",
    "https://intranet/client.json",
    "https://app.example:22/client.json",
    "https://user:password@app.example/client.json",
    "https://app.example/a/../client.json",
    "https://app.example/client.json#x",
    "https:\\\\app.example\\client.json",
    "file:///etc/passwd",
    "ftp://app.example/client.json",
  ])("[OA66] [OA136] %s is not asked", (clientId) =>
    withIssuer(async (bench) => {
      await leavesNoTrace(bench, async () => {
        const { response } = await bench.open(clientId);
        expect([response.status, response.headers.get("location"), response.headers.get("set-cookie")]).toEqual([400, null, null]);
      });
      expect(fetched).toEqual([]);
    }),
  );

  test.for<[string, typeof answer]>([
    ["a redirect to a private address", () => new Response(null, { status: 302, headers: { location: "https://169.254.169.254/" } })],
    ["another id", () => Response.json(good({ client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata" }))],
    ["the id in other letters", () => Response.json(good({ client_id: DOC.toUpperCase() }))],
    ["5 kB and more", () => Response.json(good({ pad: "a".repeat(5_120) }))],
    ["1 MB", () => Response.json(good({ pad: "a".repeat(1_000_000) }))],
    ["a list", () => Response.json([good()])],
    ["nothing", () => new Response("")],
    ["an error", () => Response.json(good(), { status: 500 })],
    ["an error of the network", () => Promise.reject(new TypeError("reset"))],
    ["a byte twice a second", () => new Response(dripping())],
  ])("[OA67] [OA136] %s is refused here, and not remembered", ([_what, bad]) =>
    withIssuer(async (bench) => {
      answer = bad;
      await leavesNoTrace(bench, async () => {
        const { response } = await bench.open(DOC);
        expect([response.status, response.headers.get("location")]).toEqual([400, null]);
      });
      expect(new Set(fetched)).toEqual(new Set([DOC]));
      answer = () => Response.json(good());
      expect((await bench.open(DOC)).response.status).toBe(200);
    }),
  );

  test.for<[string, Record<string, unknown>]>([
    ["no redirect addresses", { redirect_uris: [] }],
    ["script among its addresses", { redirect_uris: [REDIRECT, "javascript:alert(1)"] }],
    ["a secret", { client_secret: "x" }],
    ["no name", { client_name: " " }],
  ])("[OA67] [OA136] with %s it is refused, until it is another", ([_what, changes]) =>
    withIssuer(async (bench) => {
      answer = () => Response.json(good(changes));
      await leavesNoTrace(bench, async () => expect((await bench.open(DOC)).response.status).toBe(400));
      answer = () => Response.json(good());
      bench.pass(60_000);
      expect((await bench.open(DOC)).response.status).toBe(200);
    }),
  );

  test("[OA65] [OA67] what a document takes back is refused a minute later, at the decision too", () =>
    withIssuer(async (bench) => {
      answer = () => Response.json(good());
      const opened = await bench.open(DOC);
      await bench.look(opened);
      answer = () => Response.json(good({ redirect_uris: ["https://app.example/other"] }));
      bench.pass(60_000);
      expect((await bench.open(DOC)).response.status).toBe(400);
      const target = await bench.decide(opened);
      expect([target.searchParams.has("code"), target.searchParams.get("error")]).toEqual([false, "server_error"]);
    }));
});
