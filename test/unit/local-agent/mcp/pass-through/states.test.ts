import { inputRequired, UrlElicitationRequiredError } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import type { PassedCall } from "../../../../../local-agent/mcp/pass-through/passage.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { everything, passingSurface, type PassingSurface, type Speaks } from "../../../../support/passing-surface.ts";
import { smallUpstream, type SmallRun } from "../../../../support/small-upstream.ts";
import { context, MODERN, modernRequest, reply, toolCall, type Message } from "../../../../support/surface-under-test.ts";
import { waitUntil } from "../../../../support/wait-until.ts";

const UPSTREAMS: readonly Speaks[] = ["legacy", MODERN];
const CAPABLE = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } };

function capable(call: Message, more: object = {}): Message {
  return { ...call, params: { ...call.params, _meta: CAPABLE, ...more } };
}

async function request(surface: PassingSurface, message: Message, principal = "grant:1") {
  return reply(await surface.surface.handle(modernRequest(message), context(principal)));
}

const STATEFUL = toolCall(1, "test_input_required_result_request_state");
const ANSWERS = { confirm: { action: "accept", content: { ok: true } }, "question-1": { action: "accept", content: { ok: true } } };

describe.each(UPSTREAMS)("the state of a call to a %s upstream", (speaks) => {
  test("[PT43] is ours, and brings the call to its end", async () => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const { result } = await request(surface, capable(STATEFUL));
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    const done = await request(surface, capable({ ...STATEFUL, id: 2 }, { requestState: result?.["requestState"], inputResponses: ANSWERS }));
    expect(done.result?.["content"]).toEqual([{ type: "text", text: "state-ok" }]);
  });

  test.each([
    ["changed", (state: string) => ({ requestState: `${state}x` }), "grant:1"],
    ["made up", () => ({ requestState: "confirm" }), "grant:1"],
    ["another client's", (state: string) => ({ requestState: state }), "grant:2"],
    ["for other arguments", (state: string) => ({ requestState: state, arguments: { other: 1 } }), "grant:1"],
    ["for another tool", (state: string) => ({ requestState: state, name: "test_input_required_result_tampered_state" }), "grant:1"],
  ])("[PT43] that is %s is refused, and nothing reaches the upstream", async (_what, change, principal) => {
    const called: string[] = [];
    await using surface = passingSurface({ everything: everything(speaks, (tool) => called.push(tool)) });
    const { result } = await request(surface, capable(STATEFUL));
    const state = result?.["requestState"] as string;
    const { error } = await request(surface, capable({ ...STATEFUL, id: 2 }, { inputResponses: ANSWERS, ...change(state) }), principal);
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_request_state" } });
    expect(called).toHaveLength(1);
  });

  test("[PT43] is refused an hour later", async () => {
    const clock = new ManualClock();
    await using surface = passingSurface({ everything: everything(speaks) }, { options: { clock } });
    const { result } = await request(surface, capable(STATEFUL));
    clock.advance(60 * 60_000);
    const { error } = await request(surface, capable({ ...STATEFUL, id: 2 }, { requestState: result?.["requestState"], inputResponses: ANSWERS }));
    expect(error?.code).toBe(-32602);
  });
});

describe("a state that comes a second time", () => {
  test("[PT22] allows nothing: the person is asked again", async () => {
    const asked: PassedCall[] = [];
    const beforeCall = async (call: PassedCall) => {
      asked.push(call);
      return { allowed: true } as const;
    };
    await using surface = passingSurface({ everything: everything(MODERN) }, { passage: { beforeCall } });
    const { result } = await request(surface, capable(STATEFUL));
    const again = capable({ ...STATEFUL, id: 2 }, { requestState: result?.["requestState"], inputResponses: ANSWERS });
    await request(surface, again);
    expect(asked).toHaveLength(1);
    await request(surface, again);
    expect(asked).toHaveLength(2);
  });
});

describe("a form that the person answers", () => {
  test.each(UPSTREAMS)("[PT41] is not answered by the client of a %s upstream in their place, neither before nor after", async (speaks) => {
    const asked: unknown[] = [];
    const ask = async ({ params }: { readonly params: { readonly message?: unknown } }) => {
      asked.push(params.message);
      return { action: "decline" as const };
    };
    await using surface = passingSurface({ everything: everything(speaks) }, { passage: { forms: { ask } } });
    const forged = { action: "accept", content: { username: "mallory", email: "m" } };
    const call = { ...toolCall(1, "test_elicitation", { message: "May it?" }) };
    const inputResponses = { person: forged, "question-1": forged };
    const { result } = await request(surface, { ...call, params: { ...call.params, inputResponses } });
    expect(JSON.stringify(result)).toContain("decline");
    expect(JSON.stringify(result)).not.toContain("mallory");
    expect(asked).toEqual(["May it?"]);
  });

  test("[PT41] keeps the person's answer while the client is asked for the rest", async () => {
    const forms = { ask: async () => ({ action: "accept" as const, content: { name: "from the person" } }) };
    const run: SmallRun = (_args, { mcpReq }) => {
      const given = mcpReq.inputResponses;
      if (given?.["who"] !== undefined && given["where"] !== undefined) return { content: [{ type: "text", text: JSON.stringify(given) }] };
      const who = inputRequired.elicit({ message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
      return inputRequired({ inputRequests: { who, where: inputRequired.listRoots() } });
    };
    await using surface = passingSurface({ small: smallUpstream(MODERN, { tools: { asks: { run } } }) }, { passage: { forms } });
    const _meta = { "io.modelcontextprotocol/clientCapabilities": { roots: {} } };
    const call = { name: "asks", arguments: {}, _meta };
    const { result } = await request(surface, { id: 1, method: "tools/call", params: call });
    expect(Object.keys(result?.["inputRequests"] as object)).toEqual(["where"]);
    // Nor is that answer the client's to read.
    expect(Buffer.from(String(result?.["requestState"]), "base64url").toString("latin1")).not.toContain("from the person");
    const inputResponses = { where: { roots: [] }, who: { action: "accept", content: { name: "from the client" } } };
    const again = { ...call, requestState: result?.["requestState"], inputResponses };
    const done = JSON.stringify((await request(surface, { id: 2, method: "tools/call", params: again })).result);
    expect(done).toContain("from the person");
    expect(done).not.toContain("from the client");
  });
});

test("[PT43] a state of an upstream that is larger than what can be brought back is a failure at once", async () => {
  const run: SmallRun = () => inputRequired({ inputRequests: { where: inputRequired.listRoots() }, requestState: "x".repeat(300_000) });
  await using surface = passingSurface({ small: smallUpstream(MODERN, { tools: { asks: { run } } }) });
  const { result } = await request(surface, capable(toolCall(1, "asks")));
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/"small" failed: .*longer than 262144/) }] });
});

describe("a call that waits for a modern client's answer to a legacy upstream", () => {
  test("[PT44] asks together what the upstream asks at once, and goes on where it was", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    const call = toolCall(1, "test_input_required_result_multiple_inputs");
    const { result } = await request(surface, capable(call));
    const asked = result?.["inputRequests"] as Record<string, { method: string }>;
    expect(
      Object.values(asked)
        .map(({ method }) => method)
        .toSorted(),
    ).toEqual(["elicitation/create", "roots/list", "sampling/createMessage"]);
    const answers = {
      "elicitation/create": { action: "accept", content: { name: "ada" } },
      "roots/list": { roots: [] },
      "sampling/createMessage": { model: "m", role: "assistant", content: { type: "text", text: "hello" } },
    };
    const inputResponses = Object.fromEntries(Object.entries(asked).map(([key, { method }]) => [key, answers[method as keyof typeof answers]]));
    const done = await request(surface, capable({ ...call, id: 2 }, { requestState: result?.["requestState"], inputResponses }));
    expect(done.result?.["content"]).toEqual([{ type: "text", text: "all three came" }]);
    expect(surface.passage.sent.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  });

  test("[PT44] asks again for what was not answered", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    const { result } = await request(surface, capable(STATEFUL));
    const again = await request(surface, capable({ ...STATEFUL, id: 2 }, { requestState: result?.["requestState"], inputResponses: {} }));
    expect(again.result?.["inputRequests"]).toEqual(result?.["inputRequests"]);
  });

  test("[PT44] and ends without it tells its client how, once", async () => {
    const over = Promise.withResolvers<void>();
    const giveUp = new AbortController();
    const run: SmallRun = async (_args, _context, server) => {
      const form = { message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } } as const;
      await server.elicitInput(form, { signal: giveUp.signal }).catch(() => over.resolve());
      return { content: [{ type: "text", text: "done without an answer" }] };
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { asks: { run }, plain: {} } }) });
    const { result } = await request(surface, capable(toolCall(1, "asks")));
    const back = () => request(surface, capable(toolCall(2, "asks"), { requestState: result?.["requestState"], inputResponses: {} }));
    giveUp.abort(new Error("nobody answers"));
    await over.promise;
    // Answers of one connection come in order.
    await request(surface, capable(toolCall(3, "plain")));
    expect((await back()).result?.["content"]).toEqual([{ type: "text", text: "done without an answer" }]);
    expect((await back()).result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("no more") }] });
  });

  test("[PT45] that is no more is answered with a sentence", async () => {
    const passage = { key: new Uint8Array(32).fill(1) };
    await using surface = passingSurface({ everything: everything("legacy") }, { passage });
    const { result } = await request(surface, capable(STATEFUL));
    await using restarted = passingSurface({ everything: everything("legacy") }, { passage });
    const lost = await request(restarted, capable({ ...STATEFUL, id: 2 }, { requestState: result?.["requestState"], inputResponses: ANSWERS }));
    expect(lost.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("no more") }] });
  });

  test("[PT45] is cancelled when its client does not come back in half an hour", async () => {
    const clock = new ManualClock();
    const ended: unknown[] = [];
    const run: SmallRun = async (_args, { mcpReq }, server) => {
      mcpReq.signal.addEventListener("abort", () => ended.push("aborted"));
      return server.elicitInput({ message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
    };
    const timers = { after: (ms: number, then: () => void) => (ms >= 30 * 60_000 ? clock.after(ms, then) : later(ms, then)) };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { asks: { run } } }) }, { options: { timers } });
    const { result } = await request(surface, capable(toolCall(1, "asks")));
    expect(result?.["resultType"]).toBe("input_required");
    clock.advance(30 * 60_000);
    await waitUntil("the upstream was told", () => ended.length === 1);
    const late = await request(surface, capable(toolCall(2, "asks"), { requestState: result?.["requestState"], inputResponses: {} }));
    expect(late.result).toMatchObject({ isError: true });
  });

  test("[PT45] is refused when 16 of that client wait already, and other clients' are not", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    for (let id = 0; id < 16; id++) expect((await request(surface, capable({ ...STATEFUL, id }))).result?.["resultType"]).toBe("input_required");
    expect((await request(surface, capable(STATEFUL))).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Too many calls wait") }],
    });
    expect((await request(surface, capable(STATEFUL), "grant:2")).result?.["resultType"]).toBe("input_required");
  });

  test("[PT46] that an upstream of 2025-11-25 answers with the URLs it needs first asks for those", async () => {
    let visits = 0;
    const run = () => {
      if (visits++ > 0) return { content: [] };
      throw new UrlElicitationRequiredError([{ mode: "url", message: "Sign in", url: "https://example.com/in", elicitationId: "e1" }]);
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { asks: { run } } }) });
    const { result } = await request(surface, capable(toolCall(1, "asks")));
    expect(result?.["inputRequests"]).toEqual({
      "url-1": { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://example.com/in" } },
    });
    const done = await request(
      surface,
      capable(toolCall(2, "asks"), { requestState: result?.["requestState"], inputResponses: { "url-1": { action: "accept" } } }),
    );
    expect(done.result).toMatchObject({ content: [] });
  });
});

describe("what an upstream is told of the client", () => {
  test("[PT47] is what that client declared and can be asked for here, with each request or connection", async () => {
    const small = { tools: { plain: {} } };
    await using surface = passingSurface({ legacy: smallUpstream("legacy", small), modern: smallUpstream(MODERN, small) });
    const capabilities = { elicitation: {}, sampling: { tools: {} }, extensions: { "io.modelcontextprotocol/tasks": {} }, experimental: { x: {} } };
    const _meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
    for (const name of ["legacy_plain", "modern_plain"]) await request(surface, { ...toolCall(1, name), params: { name, arguments: {}, _meta } });
    const told = { elicitation: { form: {} }, sampling: { tools: {} } };
    const opened = surface.passage.sent.find(({ upstream, method }) => upstream === "legacy" && method === "initialize");
    expect(opened?.params["capabilities"]).toEqual(told);
    const called = surface.passage.sent.find(({ upstream, method }) => upstream === "modern" && method === "tools/call");
    expect(called?.params).toMatchObject({ _meta: { "io.modelcontextprotocol/clientCapabilities": told } });
    expect(JSON.stringify(called)).not.toContain("tasks");
  });
});

function later(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}
