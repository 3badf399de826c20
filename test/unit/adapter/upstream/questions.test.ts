import { expect, test } from "vitest";
import type { Caller } from "../../../../local-agent/adapter/ports.ts";
import { createDeadlines } from "../../../../local-agent/adapter/upstream/deadlines.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { echo, failureOf, poolUnderTest, REMOTE, settled, useOptions } from "../../../support/pool-under-test.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";
import { NEVER, type ScriptedPeer } from "../../../support/scripted-upstreams.ts";
import { waitUntil } from "../../../support/wait-until.ts";

const FORM = { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const ask = (peer: ScriptedPeer) => peer.request("elicitation/create", FORM);

test("[UP40] a form is put to the person in the name of the call that runs, and its answer goes back", async () => {
  const { pool, upstreams, questions, answerForm } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  upstreams.script("demo").methods["tools/call"] = async (_params, peer) => ({ content: [{ type: "text", text: JSON.stringify(await ask(peer)) }] });
  const call = echo(pool, "demo");
  await waitUntil("the question is asked", () => questions.length > 0);
  expect(questions).toMatchObject([{ server: "demo", caller: REMOTE, params: { message: "Your name?" } }]);
  answerForm("accept", { name: "Ada" });
  expect(await call).toMatchObject({ value: { content: [{ text: '{"action":"accept","content":{"name":"Ada"}}' }] } });
});

test("[UP40] of several calls that run the question is the latest one's", async () => {
  const { pool, upstreams, questions } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const second: Caller = { kind: "remote", principalId: "grant:2", client: "other", probe: () => undefined };
  upstreams.script("demo").methods["tools/call"] = () => NEVER;
  const leaving = new AbortController();
  void echo(pool, "demo", useOptions({ signal: leaving.signal })).catch(() => undefined);
  await settled();
  void echo(pool, "demo", useOptions({ caller: second })).catch(() => undefined);
  await settled();
  void ask(upstreams.of("demo")[0] as ScriptedPeer);
  await settled();
  expect(questions[0]?.caller).toBe(second);
});

test("[UP40] a question ends with the call it belongs to", async () => {
  const { pool, upstreams, questions } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const asked = Promise.withResolvers<unknown>();
  upstreams.script("demo").methods["tools/call"] = (_params, peer) => {
    asked.resolve(ask(peer));
    return NEVER;
  };
  const leaving = new AbortController();
  const call = failureOf(echo(pool, "demo", useOptions({ signal: leaving.signal })));
  await settled();
  expect(questions[0]?.signal.aborted).toBe(false);
  leaving.abort();
  expect(await call).toBeInstanceOf(Error);
  expect(questions[0]?.signal.aborted).toBe(true);
  expect(await asked.promise).toEqual({ action: "cancel" });
});

test("[UP41] a server nobody is using asks nobody, and one that floods is answered for itself", async () => {
  const { pool, upstreams, questions } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  await echo(pool, "demo");
  const [peer] = upstreams.of("demo") as [ScriptedPeer];
  expect(await ask(peer)).toEqual({ action: "cancel" });
  await expect(peer.request("sampling/createMessage", { messages: [], maxTokens: 1 })).resolves.toMatchObject({ code: -32603 });
  expect(questions).toEqual([]);
  upstreams.script("demo").methods["tools/call"] = () => NEVER;
  void echo(pool, "demo").catch(() => undefined);
  await settled();
  const answers = Array.from({ length: 500 }, () => ask(peer));
  await settled();
  expect(questions).toHaveLength(3);
  expect(await Promise.all(answers.slice(3))).toEqual(Array.from({ length: 497 }, () => ({ action: "cancel" })));
});

test("[UP42] a server may ask a model during a call", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const messages = [{ role: "user", content: { type: "text", text: "2+2?" } }];
  upstreams.script("demo").methods["tools/call"] = async (_params, peer) => {
    const said = await peer.request("sampling/createMessage", { messages, maxTokens: 5 });
    return { content: [{ type: "text", text: JSON.stringify(said) }] };
  };
  expect(JSON.stringify(await echo(pool, "demo"))).toContain("sampled");
});

test("[UP42] what was never offered is declined with a reason, for a server that asks all the same", async () => {
  const { pool, upstreams } = await poolUnderTest({ servers: [serverDefinition("demo")], settings: { elicitation: false, sampling: false } });
  await echo(pool, "demo");
  const [peer] = upstreams.of("demo") as [ScriptedPeer];
  const answers = ["sampling/createMessage", "elicitation/create", "roots/list"].map((method) => peer.request(method, FORM));
  expect(await Promise.all(answers)).toMatchObject([
    { code: -32601, message: expect.stringContaining("Sampling is declined: no model") },
    { code: -32601, message: expect.stringContaining("nobody can be asked") },
    { code: -32601, message: "Method not found" },
  ]);
});

test("[UP29] while a person is asked no deadline of the connection runs, connecting included", async () => {
  const { pool, upstreams, clock, questions, answerForm } = await poolUnderTest({ servers: [serverDefinition("demo", { requestTimeoutMs: 5000 })] });
  const script = upstreams.script("demo");
  const slow = async (_params: unknown, peer: ScriptedPeer) => void (await ask(peer));
  script.methods["tools/list"] = slow;
  script.methods["tools/call"] = slow;
  const call = echo(pool, "demo");
  await settled();
  clock.advance(90_000);
  answerForm("accept", { name: "Ada" });
  await settled();
  expect(questions).toHaveLength(2);
  clock.advance(90_000);
  answerForm("accept", { name: "Ada" });
  expect(await call).toMatchObject({ ok: true });
});

test("[UP29] a listing that waits for a consent elsewhere is not cut after half a minute", async () => {
  const { pool, upstreams, clock } = await poolUnderTest({ servers: [serverDefinition("demo")] });
  const consent = Promise.withResolvers<void>();
  upstreams.script("demo").methods["tools/list"] = () => consent.promise;
  const call = echo(pool, "demo");
  await settled();
  clock.advance(90_000);
  await settled();
  consent.resolve();
  expect(await call).toMatchObject({ ok: true });
});

test("[UP29] deadlines that stood still begin anew, each once, when the last question is answered", () => {
  const clock = new ManualClock();
  const deadlines = createDeadlines(clock);
  const expired: string[] = [];
  const first = deadlines.start(100, () => expired.push("first"));
  const [resumeA, resumeB] = [deadlines.pause(), deadlines.pause()];
  deadlines.start(100, () => expired.push("second"));
  first.restart();
  clock.advance(1000);
  resumeA();
  resumeA();
  clock.advance(1000);
  expect(expired).toEqual([]);
  resumeB();
  clock.advance(99);
  first.cancel();
  clock.advance(1000);
  expect(expired).toEqual(["second"]);
});
