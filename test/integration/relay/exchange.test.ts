import { afterEach, describe, expect, test } from "vitest";
import { createRelayLink, type RelayLink } from "../../../local-agent/daemon/relay-link.ts";
import { startProxy, type CuttableProxy } from "../../support/cuttable-proxy.ts";
import { call, post } from "../../support/mcp-post.ts";
import { RawAgent } from "../../support/raw-agent.ts";
import { linkOptions } from "../../support/relayed-target.ts";
import { sseHandler, type Driven } from "../../support/sse-handler.ts";
import { AGENT_KEY, startWorker, type WorkerRuntime, type WorkerRuntimeOptions } from "../../support/worker-runtime.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Setup {
  readonly worker: WorkerRuntime;
  readonly proxy: CuttableProxy;
  readonly link: RelayLink;
  readonly url: string;
  readonly begun: Driven[];
  readonly nextBegun: () => Promise<Driven>;
}

async function start(options: WorkerRuntimeOptions = {}): Promise<Setup> {
  const worker = await startWorker(options);
  closers.push(() => worker.close());
  const proxy = await startProxy(worker.port);
  closers.push(() => proxy.close());
  const begun: Driven[] = [];
  let wake: () => void = () => undefined;
  let taken = 0;
  const handler = sseHandler((driven) => {
    begun.push(driven);
    wake();
  });
  const link = createRelayLink(linkOptions(worker.origin, handler, { relayUrl: proxy.origin }));
  closers.push(() => link.close());
  await link.opened;
  const nextBegun = async () => {
    while (begun.length <= taken)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return begun[taken++] as Driven;
  };
  return { worker, proxy, link, url: `${worker.origin}/mcp`, begun, nextBegun };
}

describe("an exchange", () => {
  test("passes method, MCP headers, body and principal to the agent, and no credential", async () => {
    const { url, nextBegun } = await start();
    const answer = post(`${url}?x=1`, call(1), {
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-param-a": "b", cookie: "c=d", "x-secret": "no" },
    });
    const driven = await nextBegun();
    expect(driven.request.method).toBe("POST");
    expect(new URL(driven.request.url).search).toBe("?x=1");
    expect(driven.request.headers.get("mcp-param-a")).toBe("b");
    for (const name of ["authorization", "cookie", "x-secret"]) expect(driven.request.headers.get(name)).toBeNull();
    expect(JSON.parse(driven.body)).toEqual(call(1));
    expect(driven.context.principal).toMatchObject({ kind: "token", name: "test token", scope: ["mcp"] });
    driven.write("data: {}\n\n");
    driven.end();
    const response = await answer;
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect([...response.headers.keys()].filter((name) => name.startsWith("x-pi-relay"))).toEqual([]);
    expect(await response.text()).toBe("data: {}\n\n");
  });

  test("[WP12] [WP13] continues on the same HTTP answer when the socket is cut in the middle, and runs once", async () => {
    const { url, proxy, begun, nextBegun } = await start();
    const response = await (async () => {
      const answer = post(url, call(1));
      const driven = await nextBegun();
      driven.write(": first\n\n");
      return { response: await answer, driven };
    })();
    const reader = response.response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(": first\n\n");
    proxy.cut();
    response.driven.write("data: second\n\n");
    response.driven.end();
    let rest = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) rest += new TextDecoder().decode(piece.value);
    expect(rest).toBe("data: second\n\n");
    expect(begun).toHaveLength(1);
  });

  test("[WP10] a request whose delivery the cut destroyed is delivered again to the same instance and begun once", async () => {
    const { url, proxy, begun, nextBegun } = await start();
    proxy.freeze();
    const answer = post(url, call(1, "echo", { text: "x".repeat(300_000) }));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(begun).toHaveLength(0);
    proxy.cut();
    const driven = await nextBegun();
    driven.write("data: once\n\n");
    driven.end();
    expect(await (await answer).text()).toBe("data: once\n\n");
    expect(begun).toHaveLength(1);
  });

  test("[WP14] a request that arrives within ten seconds of an unannounced loss waits for the link", async () => {
    const { url, proxy, nextBegun } = await start();
    proxy.refuse(true);
    proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const answer = post(url, call(1));
    await new Promise((resolve) => setTimeout(resolve, 200));
    proxy.refuse(false);
    const driven = await nextBegun();
    driven.write("data: held\n\n");
    driven.end();
    expect(await (await answer).text()).toBe("data: held\n\n");
  });

  test("[WP14] a request that comes while a redeployed relay has no link yet waits for the agent", async () => {
    const { url, worker, nextBegun } = await start();
    await worker.redeploy();
    const answer = post(url, call(1));
    const driven = await nextBegun();
    driven.write("data: after the deploy\n\n");
    driven.end();
    expect(await (await answer).text()).toBe("data: after the deploy\n\n");
  });

  test("[WP15] the client gets the last words within a second when the object dies in the middle", async () => {
    const { url, worker, nextBegun } = await start({ entry: new URL("../../fixtures/mortal-worker.workerd.ts", import.meta.url).pathname });
    const answer = post(url, call(1));
    const driven = await nextBegun();
    driven.write(": open\n\n");
    const response = await answer;
    const died = Date.now();
    await expect(RawAgent.dial(worker.origin, AGENT_KEY, { "x-test": "die" })).rejects.toThrow();
    const text = await response.text();
    expect(text).toContain("last words");
    expect(Date.now() - died).toBeLessThan(5000);
  });

  test("[WP15] a handler that fails is an error with the caller's id", async () => {
    const worker = await startWorker();
    closers.push(() => worker.close());
    const link = createRelayLink(linkOptions(worker.origin, () => Promise.reject(new Error("a defect"))));
    closers.push(() => link.close());
    await link.opened;
    const answer = await post(`${worker.origin}/mcp`, call("mine"));
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ id: "mine", error: { code: -32603 } });
  });

  test("[WP15] an answer that breaks in the agent ends with its last words", async () => {
    const { url, nextBegun } = await start();
    const answer = post(url, call(1));
    const driven = await nextBegun();
    driven.write(": open\n\n");
    const response = await answer;
    driven.break();
    expect(await response.text()).toContain("last words");
  });

  test("[WP8] ten calls run side by side while one client does not read", async () => {
    const { url, nextBegun } = await start();
    const slow = post(url, call("slow"));
    const slowDriven = await nextBegun();
    const lump = `data: ${"x".repeat(100_000)}\n\n`;
    for (let n = 0; n < 60; n++) slowDriven.write(lump);
    slowDriven.end();
    const slowResponse = await slow;
    for (let n = 0; n < 10; n++) {
      const answer = post(url, call(n));
      const driven = await nextBegun();
      driven.write(`data: ${n}\n\n`);
      driven.end();
      expect(await (await answer).text()).toBe(`data: ${n}\n\n`);
    }
    expect((await slowResponse.text()).length).toBe(60 * lump.length);
  });

  test("[WP6] [WP7] twenty MiB arrive whole through a one MiB window", async () => {
    const { url, nextBegun } = await start();
    const answer = post(url, call(1));
    const driven = await nextBegun();
    const piece = "0123456789abcdef".repeat(65_536);
    for (let n = 0; n < 20; n++) driven.write(piece);
    driven.end();
    const text = await (await answer).text();
    expect(text.length).toBe(20 * piece.length);
    expect(text.endsWith(piece)).toBe(true);
  });

  test("[WP6] a four MiB request arrives whole and a larger one is refused with a JSON-RPC error", async () => {
    const { url, nextBegun } = await start();
    const fits = JSON.stringify(call(1, "echo", { text: "y".repeat(4 * 1024 * 1024 - 200) }));
    const answer = post(url, fits);
    const driven = await nextBegun();
    expect(driven.body).toBe(fits);
    driven.end();
    await (await answer).text();
    const refused = await post(url, "z".repeat(4 * 1024 * 1024 + 1));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
  });

  test("[WP16] a client that goes away is reported as gone, not as a cancel", async () => {
    const { url, nextBegun } = await start();
    const abort = new AbortController();
    const answer = post(url, call(1), { signal: abort.signal });
    const driven = await nextBegun();
    driven.write(": open\n\n");
    await answer;
    abort.abort();
    const gone = new Promise<void>((resolve) => driven.context.gone.addEventListener("abort", () => resolve()));
    const writing = setInterval(() => driven.write(": keep-alive\n\n"), 100);
    await gone;
    clearInterval(writing);
    expect(driven.context.signal.aborted).toBe(false);
  });

  test("[WP9] [WP14] after a bye the workstation is away at once", async () => {
    const { url, link } = await start();
    await link.close();
    const answer = (await (await post(url, call(5))).json()) as { id: number; result: { isError: boolean } };
    expect(answer).toMatchObject({ id: 5, result: { isError: true } });
  });
});

describe("an agent that dies", () => {
  test("[WP11] what its socket carried is never given to the next instance", async () => {
    const worker = await startWorker();
    closers.push(() => worker.close());
    const first = await RawAgent.dial(worker.origin);
    first.hello();
    await first.next("welcome");
    const answer = post(`${worker.origin}/mcp`, call("mine"));
    await first.next("request");
    first.vanish();
    const second = await RawAgent.dial(worker.origin);
    closers.push(async () => second.vanish());
    second.hello();
    await second.next("welcome");
    const error = (await (await answer).json()) as { id: string; error: { message: string } };
    expect(error.id).toBe("mine");
    expect(error.error.message).toContain("may have run");
    expect(second.frames.filter((frame) => frame.t === "request")).toEqual([]);
    expect(second.data).toEqual([]);
  });

  test("[WP11] what no socket ever carried goes to the next instance", async () => {
    const worker = await startWorker();
    closers.push(() => worker.close());
    const first = await RawAgent.dial(worker.origin);
    first.hello();
    await first.next("welcome");
    first.vanish();
    await first.closed();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const answer = post(`${worker.origin}/mcp`, call(1));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const second = await RawAgent.dial(worker.origin);
    closers.push(async () => second.vanish());
    second.hello();
    const request = await second.next("request");
    second.send({ t: "head", x: request.x, status: 204, headers: [], last: null }).send({ t: "end", x: request.x, seq: 1, whole: true });
    expect((await answer).status).toBe(204);
  });

  test("[WP15] an answer it left unfinished ends with last words when the next instance comes", async () => {
    const worker = await startWorker();
    closers.push(() => worker.close());
    const first = await RawAgent.dial(worker.origin);
    first.hello();
    await first.next("welcome");
    const answer = post(`${worker.origin}/mcp`, call(1));
    const { x } = await first.next("request");
    first.send({ t: "head", x, status: 200, headers: [["content-type", "text/event-stream"]], last: "data: farewell\n\n" }).sendData(x, 1, ": a\n\n");
    const reader = (await answer).body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe(": a\n\n");
    first.vanish();
    const second = await RawAgent.dial(worker.origin);
    closers.push(async () => second.vanish());
    second.hello();
    expect((await reader.read()).value).toBe("data: farewell\n\n");
    expect((await reader.read()).done).toBe(true);
  });
});

describe("a frame that breaks the protocol", () => {
  test("[WP13] a gap in an answer ends the socket and the answer resumes on the next one", async () => {
    const worker = await startWorker();
    closers.push(() => worker.close());
    const instance = "instance-1";
    const first = await RawAgent.dial(worker.origin);
    first.hello({ instance });
    const { epoch } = await first.next("welcome");
    const answer = post(`${worker.origin}/mcp`, call(1));
    const { x } = await first.next("request");
    first.send({ t: "head", x, status: 200, headers: [["content-type", "text/event-stream"]], last: null }).sendData(x, 5, "far ahead");
    expect(await first.next("bye")).toMatchObject({ why: "bad_frame", comeBack: true });
    const second = await RawAgent.dial(worker.origin);
    closers.push(async () => second.vanish());
    second.hello({ instance, epoch, begun: [{ x, next: 3 }] });
    expect((await second.next("welcome")).held).toEqual([{ x, next: 1 }]);
    second.sendData(x, 1, "data: a\n\n").sendData(x, 1, "repeat").send({ t: "end", x, seq: 2, whole: true });
    expect(await (await answer).text()).toBe("data: a\n\n");
  });
});
