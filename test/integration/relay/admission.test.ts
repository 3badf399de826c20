import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { depositsFor } from "../../support/deposits.ts";
import { call, post } from "../../support/mcp-post.ts";
import { RawAgent } from "../../support/raw-agent.ts";
import { startWorker, type WorkerRuntime } from "../../support/worker-runtime.ts";

let worker: WorkerRuntime;
const agents: RawAgent[] = [];
const dial = async () => {
  const agent = await RawAgent.dial(worker.origin);
  agents.push(agent);
  return agent;
};
beforeAll(async () => {
  worker = await startWorker();
});
afterEach(async () => {
  // Announced, so that the next test meets an absent workstation and not one that may come back.
  for (const agent of agents.splice(0)) {
    if (agent.closeCode === undefined) agent.send({ t: "bye", why: "leaving", message: "", comeBack: false });
    await agent.closed();
  }
});
afterAll(() => worker.close());

describe("before the first hello", () => {
  test("[ED3] serves nobody and says what is missing", async () => {
    for (const path of ["/mcp", "/register", "/.well-known/oauth-authorization-server"]) {
      const answer = await fetch(worker.origin + path, { method: path === "/mcp" ? "POST" : "GET" });
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("30");
      expect(await answer.json()).toMatchObject({ error: "not_ready" });
    }
  });
});

describe("the agent's key", () => {
  test("[WP23] is asked for before the upgrade and never taken from the query", async () => {
    await expect(RawAgent.dial(worker.origin, "wrong-key")).rejects.toThrow("401");
    await expect(RawAgent.dial(worker.origin, "")).rejects.toThrow("401");
    const answer = await fetch(`${worker.origin}/agent?key=test-agent-key-0123456789abcdef0123456789`);
    expect(answer.status).toBe(401);
    const keyless = await startWorker({ bindings: { AGENT_KEY: "" } });
    try {
      expect((await fetch(`${keyless.origin}/agent`)).status).toBe(503);
      const landing = await fetch(`${keyless.origin}/`);
      expect(landing.status).toBe(503);
      expect(await landing.text()).toContain("no agent key yet");
    } finally {
      await keyless.close();
    }
  });
});

describe("hello", () => {
  test("[WP1] is the first frame or the socket ends", async () => {
    const agent = await dial();
    agent.send({ t: "got", x: 1 });
    expect(await agent.next("bye")).toMatchObject({ why: "bad_frame", comeBack: true });
    await agent.closed();
    const binary = await dial();
    binary.sendData(1, 0, "x");
    expect(await binary.next("bye")).toMatchObject({ why: "bad_frame" });
  });

  test("[WP1] that does not come within ten seconds ends the socket", async () => {
    const silent = await dial();
    expect(await silent.next("bye", 12_000)).toMatchObject({ why: "bad_frame", comeBack: true });
    silent.vanish(); // The close frame of a socket that a timer closes comes seconds later.
  });

  test("[WP1] does not come twice", async () => {
    const agent = await dial();
    agent.hello();
    await agent.next("welcome");
    agent.hello();
    expect(await agent.next("bye")).toMatchObject({ why: "bad_frame" });
  });

  test("[WP2] refuses a version out of range and says which side is old", async () => {
    const agent = await dial();
    agent.hello({ versions: { min: 0, max: 0 } });
    expect(await agent.next("bye")).toMatchObject({ why: "version", comeBack: false });
    expect(await agent.closed()).toBe(4099);
    const newer = await dial();
    newer.hello({ versions: { min: 9, max: 9 } });
    expect((await newer.next("bye")).message).toContain("npm run deploy");
  });

  test("[WP5] keeps a socket that sends an unknown frame type", async () => {
    const agent = await dial();
    agent.hello();
    await agent.next("welcome");
    agent.send({ t: "from_the_future", x: 1 }).send({ t: "call", id: "1", method: "authorization.list", params: {} });
    expect(await agent.next("reply")).toMatchObject({ id: "1", ok: true, result: { pending: [] } });
  });

  test("[WP5] ends a socket that sends garbage", async () => {
    for (const garbage of ["not json", '{"t":"head"}', '{"t":"got","x":-1}', '{"t":"got","x":1e99}', "[]", '"x"']) {
      const agent = await dial();
      agent.hello();
      await agent.next("welcome");
      agent.socket.send(garbage);
      expect(await agent.next("bye")).toMatchObject({ why: "bad_frame" });
    }
  });

  test("[WP22] answers an unknown call with a sentence", async () => {
    const agent = await dial();
    agent.hello();
    await agent.next("welcome");
    agent.send({ t: "call", id: "7", method: "no.such", params: {} });
    expect(await agent.next("reply")).toMatchObject({ id: "7", ok: false });
    agent.send({ t: "call", id: "8", method: "authorization.decide", params: { id: 5 } });
    expect((await agent.next("reply", 5000, 1)).message).toContain("authorization.decide expects");
  });
});

describe("who holds the workspace", () => {
  test("[WP19] another machine is refused while the holder is alive, and told how to take over", async () => {
    const holder = await dial();
    holder.hello({ host: "host-a", hostName: "desk machine" });
    await holder.next("welcome");
    const other = await dial();
    other.hello({ host: "host-b" });
    const bye = await other.next("bye");
    expect(bye).toMatchObject({ why: "other_host", comeBack: false });
    expect(bye.message).toContain('"desk machine"');
    expect(bye.message).toContain("--take-over");
    const taking = await dial();
    taking.hello({ host: "host-b", takeOver: true });
    await taking.next("welcome");
    const farewell = await holder.next("bye");
    expect(farewell).toMatchObject({ why: "replaced", comeBack: false });
    expect(farewell.message).toContain("--take-over");
  });

  test("[WP19] [WP20] a newer start on the same machine replaces the older one, which stays refused", async () => {
    const old = randomUUID();
    const first = await dial();
    first.hello({ instance: old });
    await first.next("welcome");
    const second = await dial();
    second.hello();
    await second.next("welcome");
    expect(await first.next("bye")).toMatchObject({ why: "replaced" });
    const waking = await dial();
    waking.hello({ instance: old });
    expect(await waking.next("bye")).toMatchObject({ why: "retired", comeBack: false });
  });

  test("[WP21] frames of a replaced socket change nothing", async () => {
    const instance = randomUUID();
    const first = await dial();
    first.hello({ instance });
    const { epoch } = await first.next("welcome");
    const answer = post(`${worker.origin}/mcp`, call(1));
    const request = await first.next("request");
    const second = await dial();
    second.hello({ instance, epoch, begun: [{ x: request.x, next: 0 }] });
    expect((await second.next("welcome")).held).toEqual([{ x: request.x, next: 0 }]);
    first.send({ t: "head", x: request.x, status: 500, headers: [], last: null });
    second
      .send({ t: "head", x: request.x, status: 200, headers: [["content-type", "application/json"]], last: null })
      .sendData(request.x, 1, '{"from":"second"}')
      .send({ t: "end", x: request.x, seq: 2, whole: true });
    expect(await (await answer).json()).toEqual({ from: "second" });
  });

  test("[WP21] a hello that was stalled on an older socket is not taken", async () => {
    const stalled = await dial();
    const current = await dial();
    current.hello();
    await current.next("welcome");
    stalled.hello();
    expect(await stalled.next("bye")).toMatchObject({ comeBack: true });
    stalled.vanish();
    expect(current.frames.map((frame) => frame.t)).not.toContain("bye");
  });

  test("keeps the object able to sleep and wake with the socket open", async () => {
    const agent = await dial();
    agent.hello();
    await agent.next("welcome");
    await worker.hibernate();
    const answer = post(`${worker.origin}/mcp`, call(1));
    const request = await agent.next("request");
    agent
      .send({ t: "got", x: request.x })
      .send({ t: "head", x: request.x, status: 200, headers: [["content-type", "application/json"]], last: null })
      .sendData(request.x, 1, "{}")
      .send({ t: "end", x: request.x, seq: 2, whole: true });
    expect((await answer).status).toBe(200);
    expect(await agent.next("ack")).toMatchObject({ x: request.x, next: 3 });
  });

  test("[OF1] the loss of a socket while the object slept is noticed", async () => {
    const agent = await dial();
    agent.hello({ deposits: depositsFor([worker.origin]) });
    await agent.next("welcome");
    await worker.hibernate();
    agent.send({ t: "bye", why: "leaving", message: "", comeBack: false });
    await agent.closed();
    const answer = (await (await post(`${worker.origin}/mcp`, call("x"))).json()) as {
      id: string;
      result: { isError: boolean; content: { text: string }[] };
    };
    expect(answer.id).toBe("x");
    expect(answer.result.isError).toBe(true);
    expect(answer.result.content[0]?.text).toContain("has been away since");
  });
});
