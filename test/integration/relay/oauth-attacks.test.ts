/** Attacks that need real HTTP, a real network and the real Worker; those on its decisions are in test/unit/worker/oauth. */
import { setTimeout as sleep } from "node:timers/promises";
import { Response as NetworkResponse } from "miniflare";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { call, post } from "../../support/mcp-post.ts";
import { rawRequest, type RawAnswer } from "../../support/raw-http.ts";
import { startRelayed, type RelayedTarget } from "../../support/relayed-target.ts";
import { sseHandler } from "../../support/sse-handler.ts";
import { TOKEN } from "../../support/deposits.ts";

const DOCUMENT = "https://app.example/client.json";
const CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata";
const REDIRECT = "https://claude.ai/api/mcp/auth_callback";
const PATHS = [
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
  "/register",
  "/authorize",
  "/authorize/wait?id=x",
  "/token",
  "/revoke",
];

let target: RelayedTarget;
let begun = 0;
let network: (url: string) => NetworkResponse | Promise<NetworkResponse> = nothing;
const open: ReadableStreamDefaultController<Uint8Array>[] = [];

function nothing(): NetworkResponse {
  return new NetworkResponse("nothing here", { status: 404 });
}

beforeAll(async () => {
  const handler = sseHandler((driven) => {
    begun += 1;
    driven.write("data: {}\n\n");
    driven.end();
  });
  // The types of miniflare's requests and answers are undici's, which are the platform's in all that is used here.
  const outbound = (async (request: Request) => network(request.url)) as unknown as (request: Request) => Promise<Response>;
  target = await startRelayed(handler, { worker: { outbound } });
});
afterEach(() => {
  network = nothing;
  for (const controller of open.splice(0)) controller.error(new Error("the test is over"));
});
afterAll(() => target.close());

const raw = (path: string, method = "GET", headers: Record<string, string> = {}) =>
  rawRequest({ port: target.worker.port, path, method, headers: { host: `127.0.0.1:${target.worker.port}`, ...headers } });

function authorize(clientId: string): Promise<Response> {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: "A".repeat(43),
    code_challenge_method: "S256",
  });
  return fetch(`${target.worker.origin}/authorize?${query.toString()}`, { redirect: "manual" });
}

const servesOthers = async () => expect((await post(target.url, call(1))).status).toBe(200);

describe("headers", () => {
  test("[ED2] [OA3] another Host is 421 on every path, and no answer repeats what was forged", async () => {
    for (const path of PATHS) {
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
        const answer = await raw(path, method, {
          host: "evil.example",
          "x-forwarded-host": `127.0.0.1:${target.worker.port}`,
          "content-length": "0",
        });
        expect([path, method, answer.status]).toEqual([path, method, 421]);
        expect(answer.headers.location).toBeUndefined();
      }
      const forged = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        forwarded: "host=evil.example",
        origin: "https://evil.example",
      };
      const answer = await raw(path, "GET", forged);
      expect([path, answer.body.includes("evil.example"), JSON.stringify(answer.headers).includes("evil.example")]).toEqual([path, false, false]);
    }
  });

  test("[ED6] [OA9] two Authorization headers are not valid, whichever of them is", async () => {
    begun = 0;
    for (const values of [
      [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`],
      [`Bearer ${TOKEN}`, "Bearer x"],
      ["Basic eDp5", `Bearer ${TOKEN}`],
    ]) {
      const headers = { "content-type": "application/json", "content-length": "2" };
      const answer = await rawRequest({
        port: target.worker.port,
        path: "/mcp",
        method: "POST",
        body: "{}",
        headers: Object.assign({ host: `127.0.0.1:${target.worker.port}`, ...headers }, { authorization: values }) as unknown as Record<
          string,
          string
        >,
      });
      expect([values, answer.status]).toEqual([values, 401]);
    }
    expect(begun).toBe(0);
  });

  const floods: [string, Record<string, string>][] = [
    ["two hundred small ones", Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x-flood-${at}`, "y".repeat(20)]))],
    ["a cookie of 60 kB", { cookie: `a=${"b".repeat(60_000)}` }],
    ["a thousand cookies", { cookie: Array.from({ length: 1_000 }, (_, at) => `pi-wait-${at}=${at}`).join("; ") }],
    ["a token of 60 kB", { authorization: `Bearer ${"a".repeat(60_000)}` }],
    ["an address of 60 kB", { "cf-connecting-ip": "1".repeat(60_000) }],
    ["an origin of 60 kB", { origin: `https://${"a".repeat(60_000)}.example` }],
    ["a browser of 60 kB", { "user-agent": `Firefox/1 ${"(".repeat(60_000)}` }],
  ];
  test.each(floods)("[OA136] %s: every path answers, none fails, others are served", async (_what, headers) => {
    for (const path of [...PATHS, "/mcp"]) {
      for (const method of ["GET", "POST"]) {
        const answer: RawAnswer = await raw(path, method, { ...headers, "content-length": "0" });
        expect([path, method, answer.status < 500, answer.status >= 400 || path.startsWith("/.well-known")]).toEqual([path, method, true, true]);
      }
    }
    await servesOthers();
  });
});

test("[OA26] [ED1] script in a path, a query or an error's description is markup on no page", async () => {
  const script = "<script>alert(1)</script>";
  const query = `?error=x&error_description=${encodeURIComponent(script)}&${encodeURIComponent(script)}=${encodeURIComponent(script)}`;
  for (const path of [...PATHS.map((each) => each.split("?")[0] ?? ""), "/", "/mcp", "/callback", "/nothing", "/healthz", `/${encodeURI(script)}`]) {
    for (const method of ["GET", "POST"]) {
      const { body, headers } = await raw(path + query, method, { "content-length": "0" });
      const isPage = headers["content-type"]?.startsWith("text/html") === true;
      expect([path, method, isPage && body.includes(script)]).toEqual([path, method, false]);
      const policy = isPage ? headers["content-security-policy"] : "default-src 'none'";
      expect([path, method, policy]).toEqual([path, method, expect.stringContaining("default-src 'none'")]);
      expect(headers.location).toBeUndefined();
    }
  }
});

describe("documents of clients, over the network", () => {
  /** Bytes that come and never end. */
  const dripping = () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => (open.push(controller), controller.enqueue(new TextEncoder().encode("{"))),
    });
    return new NetworkResponse(body as never, { headers: { "content-type": "application/json" } });
  };

  test("[OA67] what unpacks to a megabyte is refused", async () => {
    network = () =>
      new NetworkResponse(JSON.stringify({ client_id: DOCUMENT, pad: " ".repeat(1_000_000) }), {
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
      });
    expect((await authorize(DOCUMENT)).status).toBe(400);
    await servesOthers();
  });

  test("[OA67] a redirect, also to an address of this machine, is not followed", async () => {
    const asked: string[] = [];
    network = (url) => {
      asked.push(url);
      return new NetworkResponse(null, { status: 302, headers: { location: target.url } });
    };
    begun = 0;
    expect((await authorize(DOCUMENT)).status).toBe(400);
    expect([new Set(asked), begun]).toEqual([new Set([DOCUMENT]), 0]);
  });

  test("[OA67] one that never ends is given up, and keeps nobody else waiting", async () => {
    network = dripping;
    let isOver = false;
    const slow = authorize(DOCUMENT).finally(() => {
      isOver = true;
    });
    await sleep(200);
    await servesOthers();
    expect(isOver).toBe(false);
    expect((await slow).status).toBe(400);
  });

  test("[OA130] one of Claude's that never ends is left for its copy", async () => {
    network = dripping;
    const answer = await authorize(CLAUDE);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("<b>claude.ai</b>")]);
  });
});
