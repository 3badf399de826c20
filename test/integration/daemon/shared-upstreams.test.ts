import { expect, test } from "vitest";
import { ManualClock } from "../../support/manual-clock.ts";
import { advance, callOf, echo, failureOf, useOptions } from "../../support/pool-under-test.ts";
import { serverDefinition } from "../../support/server-definitions.ts";
import { NEVER, ScriptedUpstreams } from "../../support/scripted-upstreams.ts";
import { goodServer, journalledServer, sharingUnderTest } from "../../support/sharing-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const ERAS = ["legacy", "2026-07-28"] as const;

const NO_AGENT = "No running pimcp of this account shares MCP servers: they run in this session.";

const textOf = (answer: unknown): string => (answer as { value: { content: { text: string }[] } }).value.content[0]?.text ?? "";

test.each(ERAS)("[SH1] [SH10] two sessions and the agent share one process of a server (%s)", async (protocolVersion) => {
  const good = journalledServer("good", { protocolVersion });
  const { agent, session } = await sharingUnderTest([good.definition]);
  const [one, two] = [await session(), await session()];
  const answers = await Promise.all([echo(one.pool, "good"), echo(agent.pool, "good"), echo(two.pool, "good"), echo(one.pool, "good")]);
  expect(answers.map(textOf)).toEqual(["hello", "hello", "hello", "hello"]);
  expect(good.starts()).toHaveLength(1);
  expect([...one.notices, ...two.notices]).toEqual([]);
  const states = [one, two, agent].map(({ pool }) => pool.state("good"));
  const era = protocolVersion === "legacy" ? "legacy" : "modern";
  expect(states).toMatchObject([
    { facts: { era, wire: "socket", serverInfo: { name: "good", version: "1.2.3" } } },
    { facts: { era, wire: "socket" } },
    { facts: { era, wire: "stdio" } },
  ]);
  expect(one.pool.held("good")?.catalog).toEqual({ ...agent.pool.held("good")?.catalog, listedAt: expect.any(Number) });
});

test("[SH10] a legacy server that is asked in the modern way first is shared in its own way", async () => {
  const plain = journalledServer("legacy-only", { protocolVersion: "auto" });
  const { agent, session } = await sharingUnderTest([plain.definition]);
  await echo(agent.pool, "legacy-only");
  const before = plain.starts().length;
  const { pool } = await session();
  expect(textOf(await echo(pool, "legacy-only"))).toBe("hello");
  expect(plain.starts()).toHaveLength(before);
});

test.each(ERAS)("[SH11] errors, structured results, resources and prompts are the server's (%s)", async (protocolVersion) => {
  const { definition, transports } = goodServer({ protocolVersion });
  const { session, agent } = await sharingUnderTest([definition], { transports });
  const { pool } = await session();
  for (const asked of [
    { name: "add", arguments: { a: 1, b: 2 } },
    { name: "fail", arguments: { why: "on purpose" } },
    { name: "picture", arguments: {} },
  ]) {
    expect(await callOf(pool, "good", asked)).toEqual(await callOf(agent.pool, "good", asked));
  }
  const unknown = { name: "nothing", arguments: {} };
  const errors = await Promise.all([failureOf(callOf(pool, "good", unknown)), failureOf(callOf(agent.pool, "good", unknown))]);
  expect(errors[0]).toMatchObject({ code: -32602 });
  expect(errors[0]).toEqual(errors[1]);
  const read = await pool.use("good", useOptions(), (upstream) => upstream.readResource("note://today", upstream.requestOptions()));
  expect(read).toMatchObject({ ok: true, value: { contents: [{ text: "Water the plants." }] } });
  const prompt = await pool.use("good", useOptions(), (upstream) =>
    upstream.getPrompt({ name: "greet", arguments: { who: "Ada" } }, upstream.requestOptions()),
  );
  expect(JSON.stringify(prompt)).toContain("Greet Ada");
  const subscribed = pool.use("good", useOptions(), (upstream) =>
    upstream.client.request({ method: "resources/subscribe", params: { uri: "note://today" } }, upstream.requestOptions()),
  );
  expect(await failureOf(subscribed)).toBeInstanceOf(Error);
});

test.each(ERAS)("[SH11] an answer that is nested too deeply to be written again is an error at once (%s)", async (protocolVersion) => {
  const upstreams = new ScriptedUpstreams();
  const { session } = await sharingUnderTest([serverDefinition("demo", { protocolVersion })], { transports: upstreams });
  const { methods } = Object.assign(upstreams.script("demo"), { modern: protocolVersion !== "legacy" });
  let nested: unknown = "end";
  for (let depth = 0; depth < 100_000; depth++) nested = [nested];
  methods["tools/call"] = () => ({ resultType: "complete", content: [], structuredContent: { nested } });
  const { pool } = await session({ connected: "demo" });
  expect(await failureOf(callOf(pool, "demo", { name: "deep", arguments: {} }))).toMatchObject({
    code: -32603,
    message: expect.stringContaining("nested"),
  });
  methods["tools/call"] = () => ({ resultType: "complete", content: [] });
  expect(await callOf(pool, "demo", { name: "flat", arguments: {} })).toMatchObject({ ok: true });
});

test.each(ERAS)("[SH12] progress reaches the session whose call it is, and no other (%s)", async (protocolVersion) => {
  const { definition, transports } = goodServer({ protocolVersion });
  const { session } = await sharingUnderTest([definition], { transports });
  const totals = async (steps: number): Promise<unknown[]> => {
    const told = new Set<number | undefined>();
    const { pool } = await session();
    await pool.use("good", useOptions(), (upstream) =>
      upstream.callTool(
        { name: "progress", arguments: { steps } },
        upstream.requestOptions(({ total }) => void told.add(total)),
      ),
    );
    return [...told];
  };
  expect(await Promise.all([totals(3), totals(5), totals(2)])).toEqual([[3], [5], [2]]);
});

test.each(ERAS)("[SH13] a session that cancels or leaves ends its own calls and nobody else's (%s)", async (protocolVersion) => {
  const { definition, transports } = goodServer({ protocolVersion });
  const { session, agent } = await sharingUnderTest([definition], { transports });
  const [one, two, three] = [await session(), await session(), await session()];
  const steps = async (pool: typeof one.pool, count: number, signal?: AbortSignal) => {
    const begun = Promise.withResolvers<void>();
    const call = pool.use("good", useOptions(signal && { signal }), (upstream) =>
      upstream.callTool(
        { name: "progress", arguments: { steps: count } },
        upstream.requestOptions(() => begun.resolve()),
      ),
    );
    const ended = call.catch((error: unknown) => error);
    await begun.promise;
    return { ended };
  };
  const cancelling = new AbortController();
  const cancelled = await steps(one.pool, 10_000, cancelling.signal);
  const left = await steps(three.pool, 10_000);
  const stays = await steps(two.pool, 30);
  cancelling.abort(new Error("changed my mind"));
  await three.pool.close();
  expect([await cancelled.ended, await left.ended].map((error) => error instanceof Error)).toEqual([true, true]);
  expect(textOf(await stays.ended)).toBe("did 30 steps");
  expect(textOf(await echo(agent.pool, "good"))).toBe("hello");
});

test("[SH13] what a session cancels, and what ran when it left, is cancelled at the server", async () => {
  const upstreams = new ScriptedUpstreams();
  const { session } = await sharingUnderTest([serverDefinition("demo")], { transports: upstreams });
  upstreams.script("demo").methods["tools/call"] = () => NEVER;
  const [one, two] = [await session({ connected: "demo" }), await session({ connected: "demo" })];
  const cancelling = new AbortController();
  const received = (method: string) => upstreams.of("demo").flatMap((peer) => peer.received.filter((message) => message.method === method));
  void failureOf(echo(one.pool, "demo", useOptions({ signal: cancelling.signal })));
  void failureOf(echo(two.pool, "demo"));
  await waitUntil("both run", () => received("tools/call").length === 2);
  cancelling.abort();
  await waitUntil("one is cancelled", () => received("notifications/cancelled").length === 1);
  await two.pool.disconnect("demo");
  await waitUntil("both are cancelled", () => received("notifications/cancelled").length === 2);
  const ids = received("tools/call").map(({ id }) => id);
  expect(received("notifications/cancelled").map(({ params }) => params["requestId"])).toEqual(ids);
});

test.each(ERAS)("[SH14] a change of its lists is told to every session (%s)", async (protocolVersion) => {
  const good = goodServer({ protocolVersion });
  const { agent, session } = await sharingUnderTest([good.definition], good);
  const [one, two] = [await session({ connected: "good" }), await session({ connected: "good" })];
  await callOf(one.pool, "good", { name: "grow", arguments: {} });
  const hasGrown = ({ pool }: { pool: typeof one.pool }) => pool.held("good")?.catalog.tools.some(({ name }) => name === "grown") === true;
  await waitUntil("all have heard", () => [one, two, agent].every(hasGrown));
  expect(good.starts()).toBe(1);
});

test("[SH15] what a server logs is told to every session that wants to hear it", async () => {
  const { definition, transports } = goodServer();
  const { agent, session } = await sharingUnderTest([definition], { transports });
  const [one, two] = [await session({ connected: "good" }), await session({ connected: "good" })];
  await two.pool.use("good", useOptions(), (upstream) => upstream.client.setLoggingLevel("warning", upstream.requestOptions()));
  await callOf(one.pool, "good", { name: "log", arguments: { text: "heard" } });
  const heard = ({ events }: Pick<typeof one, "events">) => events.filter(({ t }) => t === "log");
  await waitUntil("it was told", () => heard(one).length === 1 && heard(agent).length === 1);
  expect(heard(one)).toMatchObject([{ level: "info", data: "heard" }]);
  expect(heard(two)).toEqual([]);
});

test.each(ERAS)("[SH20] [SH21] what a server asks is put to whom the call is for (%s)", async (protocolVersion) => {
  const asking = journalledServer("asking", { protocolVersion });
  const { session, agent } = await sharingUnderTest([asking.definition]);
  const [one, two] = [await session({ connected: "asking" }), await session({ connected: "asking" })];
  const ask = { name: "ask", arguments: {} };
  const call = callOf(two.pool, "asking", ask);
  await waitUntil("the form is there", () => two.questions.length === 1);
  two.answerForm("accept", { name: "Ada" });
  expect(textOf(await call)).toBe("name: Ada");
  const sample = { name: "sample", arguments: {} };
  expect(textOf(await callOf(one.pool, "asking", sample))).toBe("model: sampled");
  expect(textOf(await callOf(agent.pool, "asking", ask))).toBe("cancel");
  expect(String(await failureOf(callOf(agent.pool, "asking", sample)))).toContain("no model");
  expect([one.questions.length, two.questions.length]).toEqual([0, 1]);
  expect(asking.starts()).toHaveLength(1);
});

test("[SH21] a modern server is told with each call what its session can be asked, whoever it was connected for", async () => {
  const asking = journalledServer("asking", { protocolVersion: "2026-07-28" });
  const { session, agent } = await sharingUnderTest([asking.definition]);
  await agent.pool.connect("asking", useOptions());
  const { pool } = await session();
  expect(textOf(await callOf(pool, "asking", { name: "sample", arguments: {} }))).toBe("model: sampled");
  expect(await failureOf(callOf(agent.pool, "asking", { name: "sample", arguments: {} }))).toMatchObject({ code: expect.any(Number) });
});

test("[SH30] an attached session keeps the server from being idle; when the last one has left, its idle time begins", async () => {
  const clock = new ManualClock();
  const good = goodServer({ idleTimeoutMs: 120_000 });
  const { agent, session } = await sharingUnderTest([good.definition], { ...good, time: clock });
  const [one, two] = [await session({ connected: "good" }), await session({ connected: "good" })];
  await advance(clock, 600_000, 30_000);
  await one.pool.disconnect("good");
  await advance(clock, 600_000, 30_000);
  expect(good.living()).toBe(1);
  await two.pool.disconnect("good");
  await waitUntil("the agent has noticed", async () => {
    await advance(clock, 150_000, 30_000);
    return agent.pool.state("good").at === "idle";
  });
  expect(good.living()).toBe(0);
  expect(good.starts()).toBe(1);
});

test("[SH31] a server that ends is an error of the calls that ran, and is there again for the next one", async () => {
  const dying = journalledServer("dying");
  const { session } = await sharingUnderTest([dying.definition]);
  const [one, two] = [await session({ connected: "dying" }), await session({ connected: "dying" })];
  expect(String(await failureOf(echo(one.pool, "dying")))).toMatch(/"dying" ended during the request: .*giving up/);
  await waitUntil("both know", () => [one, two].every(({ pool }) => pool.state("dying").at === "idle"));
  expect(await two.pool.connect("dying", useOptions())).toMatchObject({ ok: true });
  expect(two.notices).toEqual([]);
  expect(dying.starts()).toHaveLength(2);
});

test("[SH32] [SH51] when the agent leaves, calls end with that and the next one runs in the session", async () => {
  const good = journalledServer("good");
  const shared = await sharingUnderTest([good.definition]);
  const { pool, notices } = await shared.session({ connected: "good" });
  const running = failureOf(callOf(pool, "good", { name: "sleep", arguments: { ms: 30_000 } }));
  await shared.close();
  expect(String(await running)).toMatch(/pimcp: the shared connection was ended/);
  expect(shared.sockets()).toEqual([]);
  expect([textOf(await echo(pool, "good")), textOf(await echo(pool, "good"))]).toEqual(["hello", "hello"]);
  expect(pool.state("good")).toMatchObject({ facts: { wire: "stdio" } });
  expect(notices).toEqual([NO_AGENT]);
});

test("[SH33] a server that the agent connects anew goes on for its sessions", async () => {
  const good = goodServer();
  const { agent, session } = await sharingUnderTest([good.definition], good);
  const { pool, events } = await session({ connected: "good" });
  const before = events.length;
  await agent.pool.connect("good", { ...useOptions(), replace: true });
  await waitUntil("the old one is gone", () => good.living() === 1);
  expect(textOf(await echo(pool, "good"))).toBe("hello");
  expect(events.slice(before).filter(({ t }) => t === "state")).toEqual([]);
  expect(good.starts()).toBe(2);
});

test("[SH33] one that says another thing of itself then is attached to anew", async () => {
  const upstreams = new ScriptedUpstreams();
  const { agent, session } = await sharingUnderTest([serverDefinition("demo")], { transports: upstreams });
  const { pool, notices } = await session({ connected: "demo" });
  upstreams.script("demo").capabilities = { tools: {}, logging: {} };
  await agent.pool.connect("demo", { ...useOptions(), replace: true });
  await waitUntil("it has ended", () => pool.state("demo").at === "idle");
  expect(textOf(await echo(pool, "demo"))).toBe("done");
  expect(pool.state("demo")).toMatchObject({ facts: { wire: "socket", capabilities: { tools: {}, logging: {} } } });
  expect(notices).toEqual([]);
});
