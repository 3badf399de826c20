import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { guarded } from "../../../../worker/oauth/outgoing-fetch.ts";
import { pinnedDocument } from "../../../../worker/oauth/pinned-documents.ts";
import { withIssuer } from "./bench.workerd.ts";

const CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata";
const WELL_KNOWN: readonly (readonly [address: string, redirectUri: string])[] = [
  [CLAUDE, "https://claude.ai/api/mcp/auth_callback"],
  [CLAUDE, "https://claude.com/api/mcp/auth_callback"],
  ["https://claude.ai/oauth/claude-code-client-metadata", "http://localhost:50123/callback"],
  ["https://chatgpt.com/oauth/client.json", "https://chatgpt.com/connector_platform_oauth_redirect"],
  ["https://vscode.dev/oauth/client-metadata.json", "http://127.0.0.1:50124/"],
  ["https://vscode.dev/oauth/client-metadata.json", "https://vscode.dev/redirect"],
  ["https://opencode.ai/oauth/opencode/client.json", "http://127.0.0.1:19876/mcp/oauth/callback"],
];

type Served = (signal: AbortSignal | null | undefined) => Response | Promise<Response>;

let served: Served = () => new Response("no", { status: 403 });
let fetched = 0;
let original: typeof globalThis.fetch;
const network: typeof globalThis.fetch = async (_input: RequestInfo | URL, init?: RequestInit) => {
  fetched += 1;
  return served(init?.signal);
};

beforeEach(() => {
  original = globalThis.fetch;
  fetched = 0;
  globalThis.fetch = network;
});
afterEach(() => {
  globalThis.fetch = original;
});

const serving = (body: unknown) => () => Response.json(body);
const own = { client_id: CLAUDE, client_name: "Claude", redirect_uris: ["https://claude.ai/new"], token_endpoint_auth_method: "none" };

/** Never ends by itself, as a server that accepts and says nothing. */
function silence(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("gave up"))));
}

describe("the copies of well-known documents", () => {
  test.for(WELL_KNOWN)("[OA130] %s signs in to %s while its server refuses us", ([clientId, redirect_uri]) =>
    withIssuer(async (bench) => {
      served = () => new Response("blocked", { status: 403 });
      const target = await bench.decide(await bench.open(clientId, { redirect_uri }));
      expect(target.href.startsWith(`${redirect_uri}?code=`)).toBe(true);
      expect((await bench.exchange(clientId, target.searchParams.get("code") ?? "", { redirect_uri })).status).toBe(200);
      expect((await bench.open(clientId, { redirect_uri: "https://evil.example/" })).response.status).toBe(400);
    }),
  );

  test.for<[string, Served]>([
    ["an error of the network", () => Promise.reject(new TypeError("unreachable"))],
    ["a redirect", () => Response.redirect("https://claude.ai/login", 302)],
    ["not found", () => new Response("gone", { status: 404 })],
    ["a fault", () => new Response("oops", { status: 503 })],
    ["a page", () => new Response("<html>")],
    ["nothing", () => new Response("")],
    ["more than the provider reads", serving({ ...own, pad: "a".repeat(6_000) })],
    ["more than we read", serving({ ...own, pad: "a".repeat(60_000) })],
  ])("[OA130] stand in for %s", async ([_what, answer]) => {
    served = answer;
    expect(await (await guarded(network, () => 0)(CLAUDE)).text()).toBe(pinnedDocument(CLAUDE));
  });

  test("[OA130] stand in after three seconds of silence, in the head or in the body, and others wait for the provider", async () => {
    const provider = AbortSignal.timeout(10_000);
    const dripping = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) }));
    for (const answer of [silence, dripping]) {
      served = answer;
      expect(await (await guarded(network, () => 0)(CLAUDE, { signal: provider })).text()).toBe(pinnedDocument(CLAUDE));
    }
    expect(provider.aborted).toBe(false);
    served = silence;
    const other = guarded(network, () => 0)("https://app.example/doc", { signal: AbortSignal.timeout(4_000) });
    await expect(other).rejects.toThrow("gave up");
  });

  test("[OA131] what is served counts, whatever it says", () =>
    withIssuer(async (bench) => {
      served = serving(own);
      expect((await bench.open(CLAUDE)).response.status).toBe(400);
      expect((await bench.open(CLAUDE, { redirect_uri: "https://claude.ai/new" })).response.status).toBe(200);
      const guard = guarded(network, () => 0);
      for (const other of [[], null, { ...own, client_id: "https://evil.example/x" }]) {
        served = serving(other);
        expect(await (await guard(CLAUDE)).json()).toEqual(other);
      }
    }));

  test("[OA131] a copy stands in for five seconds and is not kept as if it were served", async () => {
    let now = 0;
    const guard = guarded(network, () => now);
    served = () => new Response("blocked", { status: 403 });
    for (let at = 0; at < 4; at += 1) expect(await (await guard(CLAUDE)).text()).toBe(pinnedDocument(CLAUDE));
    expect(fetched).toBe(1);
    served = serving(own);
    now = 5_000;
    expect(await (await guard(CLAUDE)).json()).toEqual(own);
    served = () => new Response("blocked", { status: 403 });
    now = 64_999;
    expect(await (await guard(CLAUDE)).json()).toEqual(own);
    now = 65_000;
    expect(await (await guard(CLAUDE)).text()).toBe(pinnedDocument(CLAUDE));
  });

  test("[OA130] there are none for other addresses of these servers", () => {
    for (const address of [`${CLAUDE}/`, `${CLAUDE}?x`, "https://chatgpt.com/oauth/abc/client.json", "__proto__", "constructor"]) {
      expect(pinnedDocument(address)).toBeUndefined();
    }
  });
});
