import { expect, onTestFinished, test } from "vitest";
import type { AdapterPorts, Caller, UpstreamQuestion } from "../../../../local-agent/adapter/ports.ts";
import { advance, callOf, echo, failureOf, poolUnderTest, REMOTE, settled, useOptions } from "../../../support/pool-under-test.ts";
import { NEVER, type Script } from "../../../support/scripted-upstreams.ts";
import { serverDefinition } from "../../../support/server-definitions.ts";

const OTHER: Caller = { kind: "remote", principalId: "grant:2", client: "other", probe: () => undefined };
const FORM = {
  method: "elicitation/create",
  params: { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};
const SAMPLING = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "2+2?" } }], maxTokens: 5 },
};

type Given = Partial<Parameters<typeof poolUnderTest>[0]> & { readonly timeoutMs?: number };

async function modernServer({ timeoutMs, ...given }: Given = {}) {
  const fields = { protocolVersion: "2026-07-28" as const, ...(timeoutMs === undefined ? {} : { requestTimeoutMs: timeoutMs }) };
  const under = await poolUnderTest({ servers: [serverDefinition("demo", fields)], ...given });
  const script = under.upstreams.script("demo");
  script.modern = true;
  const called = (method = "tools/call") => (under.upstreams.of("demo")[0]?.received ?? []).filter((message) => message.method === method);
  return { ...under, script, called };
}

const asks = (inputRequests: object, requestState?: string) => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});

/** Answers with what it was brought, after it asked for that. */
const asking =
  (question: object): Script["methods"][string] =>
  ({ arguments: args, inputResponses }) =>
    inputResponses === undefined
      ? asks({ it: question }, JSON.stringify(args))
      : { content: [{ type: "text", text: JSON.stringify({ args, inputResponses }) }] };

/** Lets the first call wait in the server until the second one has begun and waits, too. */
async function twoCallers(question: object, given: Given = {}) {
  const server = await modernServer(given);
  const first = Promise.withResolvers<unknown>();
  const answer = asking(question);
  server.script.methods["tools/call"] = (params, peer, id) => {
    if ((params["arguments"] as { who: string }).who === "second") return NEVER;
    return params["inputResponses"] === undefined ? first.promise.then(() => answer(params, peer, id)) : answer(params, peer, id);
  };
  const call = callOf(server.pool, "demo", { name: "echo", arguments: { who: "first" } });
  await settled();
  const second = new AbortController();
  const other = callOf(server.pool, "demo", { name: "echo", arguments: { who: "second" } }, useOptions({ caller: OTHER, signal: second.signal }));
  onTestFinished(() => {
    second.abort();
    return failureOf(other).then(() => undefined);
  });
  await settled();
  first.resolve(undefined);
  await settled();
  return { ...server, call };
}

test("[UP43] a form is put to the caller of the request it came for, although another one's began later", async () => {
  const { call, questions, answerForm } = await twoCallers(FORM);
  expect(questions.map(({ caller }) => caller)).toEqual([REMOTE]);
  answerForm("accept", { name: "Ada" });
  expect(JSON.stringify(await call)).toContain("Ada");
});

test("[UP43] so is the model of the caller asked", async () => {
  const callers: Caller[] = [];
  const sampler: AdapterPorts["sampler"] = {
    available: true,
    sample({ caller }) {
      callers.push(caller);
      return Promise.resolve({ model: "m", role: "assistant", content: { type: "text", text: "four" } });
    },
  };
  const { call } = await twoCallers(SAMPLING, { ports: { sampler } });
  expect(JSON.stringify(await call)).toContain("four");
  expect(callers).toEqual([REMOTE]);
});

test("[UP43] requests that ask at the same time are answered each by its own caller", async () => {
  const asked: UpstreamQuestion[] = [];
  const waiting: (() => void)[] = [];
  const forms: AdapterPorts["forms"] = {
    modes: { form: true, url: false },
    async ask(question) {
      asked.push(question);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { action: "accept", content: { name: question.caller === OTHER ? "other" : "first" } };
    },
  };
  const { pool, script } = await modernServer({ ports: { forms } });
  script.methods["tools/call"] = asking(FORM);
  const calls = [REMOTE, OTHER].map((caller) => callOf(pool, "demo", { name: "echo", arguments: { of: caller.kind } }, useOptions({ caller })));
  await settled();
  expect(asked.map(({ caller }) => caller)).toEqual([REMOTE, OTHER]);
  for (const resume of waiting.toReversed()) resume();
  const [one, two] = (await Promise.all(calls)).map((each) => JSON.stringify(each));
  expect(one).toContain('"name\\":\\"first');
  expect(two).toContain('"name\\":\\"other');
});

test("[UP43] prompts and resources may ask, too, and the server gets its state back", async () => {
  const { pool, script, questions, answerForm, called } = await modernServer();
  const once =
    (result: object): Script["methods"][string] =>
    ({ inputResponses }) =>
      inputResponses === undefined ? asks({ it: FORM }, "state 1") : result;
  script.capabilities = { tools: {}, prompts: {}, resources: {} };
  script.methods["resources/list"] = () => ({ resources: [] });
  script.methods["prompts/list"] = () => ({ prompts: [] });
  script.methods["prompts/get"] = once({ messages: [] });
  script.methods["resources/read"] = once({ contents: [{ uri: "note://a", text: "hello" }] });
  const prompt = pool.use("demo", useOptions(), (upstream) => upstream.getPrompt({ name: "p" }, upstream.requestOptions()));
  await settled();
  answerForm("accept", { name: "Ada" });
  expect(await prompt).toMatchObject({ ok: true, value: { messages: [] } });
  const read = pool.use("demo", useOptions({ caller: OTHER }), (upstream) => upstream.readResource("note://a", upstream.requestOptions()));
  await settled();
  answerForm("accept", { name: "Eve" });
  expect(await read).toMatchObject({ ok: true, value: { contents: [{ text: "hello" }] } });
  expect(questions.map(({ caller }) => caller)).toEqual([REMOTE, OTHER]);
  const again = { requestState: "state 1", inputResponses: { it: { action: "accept" } } };
  expect(called("prompts/get")[1]?.params).toMatchObject({ name: "p", ...again });
  expect(called("resources/read")[1]?.params).toMatchObject({ uri: "note://a", ...again });
});

test("[UP43] a server that asks without an end is left after ten rounds", async () => {
  const { pool, script, called } = await modernServer();
  script.methods["tools/call"] = () => asks({ it: SAMPLING });
  expect(await failureOf(echo(pool, "demo"))).toMatchObject({ code: "INPUT_REQUIRED_ROUNDS_EXCEEDED", message: expect.stringContaining("10 times") });
  expect(called()).toHaveLength(11);
});

test("[UP43] one that only wants to be asked again is, a moment later, and no more once the call is cancelled", async () => {
  const { pool, script, clock, called } = await modernServer();
  script.methods["tools/call"] = ({ requestState }) => (requestState === "1" ? { content: [] } : asks({}, "1"));
  const call = echo(pool, "demo");
  await settled();
  expect(called()).toHaveLength(1);
  await advance(clock, 250, 250);
  expect(await call).toMatchObject({ ok: true });
  script.methods["tools/call"] = () => asks({}, "2");
  const leaving = new AbortController();
  const left = failureOf(echo(pool, "demo", useOptions({ signal: leaving.signal })));
  await settled();
  leaving.abort();
  expect(await left).toBeInstanceOf(Error);
  await advance(clock, 1000, 250);
  expect(called()).toHaveLength(3);
});

test("[UP43] a cancelled call ends its question and asks nothing more, the other caller's stays", async () => {
  const { pool, script, questions, answerForm, called } = await modernServer();
  script.methods["tools/call"] = asking(FORM);
  const stays = echo(pool, "demo", useOptions({ caller: OTHER }));
  await settled();
  const leaving = new AbortController();
  const left = failureOf(echo(pool, "demo", useOptions({ signal: leaving.signal })));
  await settled();
  leaving.abort();
  expect(await left).toBeInstanceOf(Error);
  expect(questions.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  answerForm("accept", { name: "Ada" });
  expect(JSON.stringify(await stays)).toContain("Ada");
  expect(called()).toHaveLength(3);
});

test("[UP43] [UP29] the call's time stands still while its caller thinks", async () => {
  const { pool, script, clock, answerForm } = await modernServer({ timeoutMs: 5000 });
  script.methods["tools/call"] = asking(FORM);
  const call = echo(pool, "demo");
  await settled();
  clock.advance(90_000);
  answerForm("accept", { name: "Ada" });
  expect(await call).toMatchObject({ ok: true });
  script.methods["tools/call"] = ({ inputResponses }) => (inputResponses === undefined ? asks({ it: FORM }) : NEVER);
  const stuck = failureOf(echo(pool, "demo"));
  await settled();
  answerForm("accept", { name: "Ada" });
  await settled();
  clock.advance(5000);
  expect(await stuck).toMatchObject({ code: "REQUEST_TIMEOUT" });
});

test.each([
  ["what was not declared", { method: "roots/list" }, "CAPABILITY_NOT_SUPPORTED"],
  [
    "an address where only forms are shown",
    { ...FORM, params: { mode: "url", message: "There", url: "https://example.com/" } },
    "CAPABILITY_NOT_SUPPORTED",
  ],
  ["a form without a schema", { ...FORM, params: { message: "?" } }, "INVALID_RESULT"],
  ["a form that is none", { ...FORM, params: null }, "INVALID_RESULT"],
  ["a sampling request without messages", { ...SAMPLING, params: { maxTokens: 5 } }, "INVALID_RESULT"],
  ["another request", { method: "tools/list" }, "INVALID_RESULT"],
  ["no request", "elicitation/create", "INVALID_RESULT"],
])("[UP43] %s fails the call, ends the other questions of the round and asks nobody", async (_what, question, code) => {
  const { pool, script, questions, called } = await modernServer();
  script.methods["tools/call"] = () => asks({ a: FORM, b: question });
  expect(await failureOf(echo(pool, "demo"))).toMatchObject({ code });
  expect(questions.map(({ signal }) => signal.aborted)).toEqual([true]);
  expect(called()).toHaveLength(1);
});

test("[UP43] an address is put to a caller that opens them", async () => {
  const asked: UpstreamQuestion[] = [];
  const forms: AdapterPorts["forms"] = {
    modes: { form: true, url: true },
    ask(question) {
      asked.push(question);
      return Promise.resolve({ action: "accept" });
    },
  };
  const { pool, script } = await modernServer({ ports: { forms } });
  script.methods["tools/call"] = asking({ ...FORM, params: { mode: "url", message: "There", url: "https://example.com/" } });
  expect(await echo(pool, "demo")).toMatchObject({ ok: true });
  expect(asked).toMatchObject([{ caller: REMOTE, params: { mode: "url", url: "https://example.com/" } }]);
});

test("[UP43] where nothing can be answered, nothing is, and neither is a list that asks", async () => {
  const { pool, script } = await modernServer({ settings: { elicitation: false, sampling: false } });
  for (const question of [FORM, SAMPLING]) {
    script.methods["tools/call"] = () => asks({ it: question });
    expect(await failureOf(echo(pool, "demo"))).toMatchObject({ code: "CAPABILITY_NOT_SUPPORTED" });
  }
  script.methods["tools/list"] = () => asks({ it: FORM });
  expect(await pool.connect("demo", useOptions())).toMatchObject({ ok: false });
});

test("[UP41] a fourth question at the same time is answered without asking anybody", async () => {
  const { pool, script, questions, answerForm } = await modernServer();
  script.methods["tools/call"] = ({ inputResponses }) =>
    inputResponses === undefined
      ? asks(Object.fromEntries(["a", "b", "c", "d"].map((key) => [key, FORM])))
      : { content: [{ type: "text", text: JSON.stringify(inputResponses) }] };
  const call = echo(pool, "demo");
  await settled();
  expect(questions).toHaveLength(3);
  for (const _each of questions) answerForm("decline");
  expect(JSON.stringify(await call)).toContain('d\\":{\\"action\\":\\"cancel');
});
