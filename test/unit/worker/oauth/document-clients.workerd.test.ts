import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { guarded, isPublicDocumentAddress } from "../../../../worker/oauth/outgoing-fetch.ts";
import { errorOf, REDIRECT, withIssuer, type Tokens } from "./bench.workerd.ts";

const CLIENT = "https://claude.ai/oauth/mcp-oauth-client-metadata";

let fetched: string[] = [];
let answers: Record<string, () => Response | Promise<Response>> = {};
let original: typeof globalThis.fetch;

beforeEach(() => {
  original = globalThis.fetch;
  fetched = [];
  answers = {};
  globalThis.fetch = async (input: RequestInfo | URL) => {
    const url = new URL(input instanceof Request ? input.url : input).href;
    fetched.push(url);
    return (await answers[url]?.()) ?? new Response("none", { status: 404 });
  };
});
afterEach(() => {
  globalThis.fetch = original;
});

const document = (clientId: string, changes: Record<string, unknown> = {}) => ({
  client_id: clientId,
  client_name: "Claude",
  redirect_uris: [REDIRECT, "http://127.0.0.1/callback"],
  token_endpoint_auth_method: "none",
  ...changes,
});

describe("clients named by a document", () => {
  test("[OA65] the document is the client", () =>
    withIssuer(async (bench) => {
      answers[CLIENT] = () => Response.json(document(CLIENT));
      const opened = await bench.open(CLIENT);
      await bench.look(opened);
      expect(bench.issuer.pending()[0]).toMatchObject({ clientId: CLIENT, clientName: "Claude", redirectHost: "claude.ai" });
      const target = await bench.decide(opened);
      const tokens = (await (await bench.exchange(CLIENT, target.searchParams.get("code") ?? "")).json()) as Tokens;
      expect((await bench.mcp(`Bearer ${tokens.access_token}`)).status).toBe(200);
      expect((await bench.refresh(CLIENT, tokens.refresh_token)).status).toBe(200);
      expect((await bench.open(CLIENT, { redirect_uri: "https://evil.example/" })).response.status).toBe(400);
      const local = await bench.decide(await bench.open(CLIENT, { redirect_uri: "http://localhost:5123/callback" }));
      expect(local.href).toMatch(/^http:\/\/localhost:5123\/callback\?code=/);
      expect((await bench.exchange(CLIENT, local.searchParams.get("code") ?? "", { redirect_uri: "http://localhost:5123/callback" })).status).toBe(
        200,
      );
    }));

  test.for([
    "http://claude.ai/doc",
    "https://127.0.0.1/doc",
    "https://[::1]/doc",
    "https://192.168.1.1/doc",
    "https://169.254.169.254/latest/meta-data",
    "https://2130706433/doc",
    "https://0x7f.1/doc",
    "https://localhost/doc",
    "https://localhost./doc",
    "https://router.local/doc",
    "https://metadata.google.internal/doc",
    "https://nas/doc",
    "https://claude.ai:8443/doc",
    "https://user@claude.ai/doc",
    "https://claude.ai",
    "HTTPS://LOCALHOST/doc",
    " https://localhost/doc",
  ])("[OA66] %s is not fetched", (clientId) =>
    withIssuer(async (bench) => {
      const { response } = await bench.open(clientId);
      expect([response.status, response.headers.get("location"), fetched]).toEqual([400, null, []]);
    }),
  );

  test("[OA66] public names are", () => {
    expect(isPublicDocumentAddress(CLIENT)).toBe(true);
    expect(isPublicDocumentAddress("https://xn--bcher-kva.example/doc")).toBe(true);
  });

  test("[OA67] a document that is not what it should be is refused here", () =>
    withIssuer(async (bench) => {
      const bad: Record<string, () => Response> = {
        redirect: () => Response.redirect("https://evil.example/doc", 302),
        other: () => Response.json(document("https://evil.example/doc")),
        large: () => Response.json(document("https://app.example/large", { pad: "a".repeat(6000) })),
        html: () => new Response("<html>"),
        missing: () => new Response("no", { status: 404 }),
        secret: () => Response.json(document("https://app.example/secret", { client_secret: "x" })),
        script: () => Response.json(document("https://app.example/script", { redirect_uris: ["javascript:alert(1)"] })),
      };
      for (const [name, answer] of Object.entries(bad)) {
        const clientId = `https://app.example/${name}`;
        answers[clientId] = answer;
        const { response, html } = await bench.open(clientId);
        expect([name, response.status, response.headers.get("location")]).toEqual([name, 400, null]);
        expect(html).toContain("could not be read");
      }
      expect(fetched).not.toContain("https://evil.example/doc");
      answers["https://app.example/missing"] = () => Response.json(document("https://app.example/missing"));
      expect((await bench.open("https://app.example/missing")).response.status).toBe(200);
    }));

  test("[OA67] the guard holds however the address is written", async () => {
    const guard = guarded(globalThis.fetch, () => 0);
    answers["https://app.example/moved"] = () => Response.redirect("https://evil.example/", 302);
    await expect(guard("HTTPS://App.Example/moved")).rejects.toThrow("not followed");
    await expect(guard("HTTPS://127.1/x")).rejects.toThrow("not a public one");
  });

  test("[OA67] what unpacks to more than it weighs is not read on", async () => {
    let sent = 0;
    const endless = () => new ReadableStream<Uint8Array>({ pull: (controller) => ((sent += 1), controller.enqueue(new Uint8Array(4096))) });
    const guard = guarded(
      async () => new Response(endless()),
      () => 0,
    );
    await expect(guard("https://app.example/bomb")).rejects.toThrow("longer than");
    expect(sent).toBeLessThan(10);
  });

  test("[OA67] a good document is fetched once a minute, a failure every time", async () => {
    let now = 0;
    const guard = guarded(globalThis.fetch, () => now);
    answers[CLIENT] = () => Response.json(document(CLIENT));
    for (let at = 0; at < 3; at += 1) expect(await (await guard(CLIENT)).json()).toEqual(document(CLIENT));
    expect(fetched).toHaveLength(1);
    now = 60_000;
    await guard(CLIENT);
    expect(fetched).toHaveLength(2);
    for (let at = 0; at < 2; at += 1) expect((await guard("https://gone.example/x")).status).toBe(404);
    expect(fetched).toHaveLength(4);
    answers["https://page.example/x"] = () => new Response("<html>");
    answers["https://other.example/x"] = () => Response.json(document(CLIENT));
    for (const address of ["https://page.example/x", "https://other.example/x"]) for (let at = 0; at < 2; at += 1) await guard(address);
    expect(fetched).toHaveLength(8);
    await expect(guard("https://10.0.0.1/x")).rejects.toThrow("not a public one");
    expect(fetched).toHaveLength(8);
  });

  test("[OA68] the token endpoint fetches nothing for strangers", () =>
    withIssuer(async (bench) => {
      const { refresh_token } = await bench.connect();
      answers["https://evil.example/doc"] = () => Response.json(document("https://evil.example/doc"));
      expect(await errorOf(await bench.refresh("https://evil.example/doc", refresh_token))).toBe("invalid_grant");
      expect(await errorOf(await bench.exchange("https://evil.example/doc", "owner:x:y"))).toBe("invalid_grant");
      expect((await bench.send("/revoke", { form: { client_id: "https://evil.example/doc", token: refresh_token } })).status).toBe(200);
      const basic = btoa(`${encodeURIComponent("https://evil.example/doc")}:x`);
      const response = await bench.send("/token", {
        form: { grant_type: "refresh_token", refresh_token: "x" },
        headers: { authorization: `Basic ${basic}` },
      });
      expect([response.ok, fetched]).toEqual([false, []]);
      const assertion = `e30.${btoa(JSON.stringify({ iss: "https://evil.example/doc" }))}.x`;
      const form = {
        grant_type: "refresh_token",
        refresh_token: "x",
        client_assertion: assertion,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      };
      expect([(await bench.send("/token", { form })).ok, fetched]).toEqual([false, []]);
    }));
});
