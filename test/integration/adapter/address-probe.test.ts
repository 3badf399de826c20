/** What is said of an address that could not be connected to. */
import { describe, expect, test } from "vitest";
import { networkVerdict } from "../../../local-agent/node/address-verdict.ts";
import { freePort } from "../../support/free-port.ts";
import { goodHttpUpstream, webServer } from "../../support/http-upstream.ts";
import { httpServer } from "../../support/server-transports.ts";
import { transportsUnderTest } from "../../support/upstream-transports.ts";

const signal = new AbortController().signal;

async function explained(answer: (request: Request) => Response | Promise<Response>) {
  const { url, requests } = await webServer(answer);
  const { factory, define, connect } = transportsUnderTest();
  const definition = define(httpServer(`${url}?key=secret`, { headers: { "x-key": "k" } }));
  const error = await connect(definition).catch((thrown: unknown) => thrown);
  const before = requests.length;
  const verdict = await factory.explain(definition, error, signal);
  expect(verdict?.message).not.toContain("secret");
  return { verdict, asked: requests.length - before, requests };
}

const html = (status: number) => new Response("<!doctype html><p>Hello", { status, headers: { "content-type": "text/html; charset=utf-8" } });

describe("an address that could not be connected to", () => {
  test("[UT40] HTML is said to be none of MCP", async () => {
    const { verdict } = await explained(() => html(200));
    expect(verdict).toMatchObject({
      kind: "not-mcp",
      message: expect.stringMatching(/returned HTML \(200\): this URL does not speak MCP/) as string,
    });
  });

  test("[UT40] a page that says 404 is HTML too", async () => {
    const { verdict } = await explained(() => html(404));
    expect(verdict).toMatchObject({ kind: "not-mcp", message: expect.stringContaining("HTML (404)") as string });
  });

  test("[UT40] nothing there, and something else there, are told apart", async () => {
    const missing = await explained(() => new Response(null, { status: 404 }));
    expect(missing.verdict).toMatchObject({ kind: "not-mcp", message: expect.stringMatching(/^There is nothing at .*\/mcp \(404\)/) as string });
    const other = await explained(() => Response.json({ hello: "world" }));
    expect(other.verdict).toMatchObject({ kind: "not-mcp", message: expect.stringContaining("(application/json), but nothing of MCP") as string });
  });

  test("[UT41] a 202 leaves open whether MCP is spoken", async () => {
    const { verdict } = await explained(() => new Response(null, { status: 202 }));
    expect(verdict?.kind).toBe("failed");
    expect(verdict?.message).toMatch(/answered 202 without content, which leaves open whether it speaks MCP/);
    expect(verdict?.message).not.toMatch(/does not speak/);
  });

  test("[UT41] a 401 asks for a login; nothing more is asked or claimed", async () => {
    const { verdict, asked } = await explained(() => new Response(null, { status: 401 }));
    expect(verdict).toMatchObject({ kind: "needs-auth" });
    expect(verdict?.message).not.toMatch(/does not speak|HTML/);
    expect(asked).toBe(0);
  });

  test.each([503, 502, 429])("[UT42] %d is temporary: the address is not asked again", async (status) => {
    const { verdict, asked } = await explained(() => new Response(null, { status }));
    expect(verdict).toMatchObject({ kind: "unavailable", message: expect.stringContaining(`temporarily unavailable (${status})`) as string });
    expect(asked).toBe(0);
  });

  test("[UT42] a server that fails is no stranger", async () => {
    const { verdict } = await explained(() => new Response("oh", { status: 500 }));
    expect(verdict).toMatchObject({ kind: "failed", message: expect.stringContaining("answered 500: the server itself failed") as string });
  });

  test("[UT43] a server of the older transport is named as such", async () => {
    const { verdict, requests } = await explained(({ method }) =>
      method === "GET"
        ? new Response("event: endpoint\ndata: /messages\n\n", { headers: { "content-type": "text/event-stream" } })
        : new Response(null, { status: 405 }),
    );
    expect(verdict?.message).toContain('set "type": "sse"');
    expect(requests.slice(1).map(({ method, headers }) => [method, headers["x-key"]])).toEqual([
      ["POST", "k"],
      ["POST", "k"],
      ["GET", "k"],
    ]);
  });

  test("[UT43] one that answers in MCP is left to its own words", async () => {
    const { url } = await goodHttpUpstream();
    const { factory, define } = transportsUnderTest();
    expect(await factory.explain(define(httpServer(url)), new Error("something else"), signal)).toBeNull();
  });

  test("[UT44] where nobody listens, that is said", async () => {
    const port = await freePort();
    const { factory, define, connect } = transportsUnderTest();
    const definition = define(httpServer(`http://127.0.0.1:${port}/mcp`));
    const error = await connect(definition).catch((thrown: unknown) => thrown);
    expect(await factory.explain(definition, error, signal)).toEqual({
      kind: "failed",
      message: `Nobody listens at http://127.0.0.1:${port}/mcp. Start the server, or check host and port.`,
    });
  });

  test("[UT44] a host nobody knows, and macOS' leave for the local network, are named", () => {
    const place = { address: "http://192.168.1.5/mcp", host: "192.168.1.5" };
    expect(networkVerdict("EHOSTUNREACH", { ...place, platform: "darwin" })?.message).toContain("Local Network");
    expect(networkVerdict("EHOSTUNREACH", { ...place, platform: "linux" })).toBeNull();
    expect(networkVerdict("ENOTFOUND", { address: "http://no.example", host: "no.example", platform: "linux" })?.message).toContain("is not known");
  });

  test("[UT45] a question that is not answered within its time says nothing", async () => {
    const { url } = await webServer(() => new Promise(() => {}));
    const { factory, define } = transportsUnderTest();
    const soon = AbortSignal.timeout(300);
    expect(await factory.explain(define(httpServer(url)), new Error("something"), soon)).toBeNull();
  });
});
