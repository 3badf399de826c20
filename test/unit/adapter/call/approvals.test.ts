import { describe, expect, test } from "vitest";
import type { UpstreamApproval } from "../../../../local-agent/adapter/ports.ts";
import type { PlayedServer } from "../../../support/adapter-under-test.ts";
import { adapterCall, adapterUnderTest, PI, remote, textOf } from "../../../support/adapter-under-test.ts";

const allow = (remember: "no" | "call" | "server"): UpstreamApproval => ({ decision: "allow", remember });

async function guarded(
  approveTools: boolean | readonly string[],
  scene: Parameters<typeof adapterUnderTest>[1] = {},
  more: Partial<PlayedServer> = {},
) {
  const box: PlayedServer = { tools: { delete_all: {}, look: {} }, resources: [{ uri: "a:b", name: "Notes", text: "n" }], ...more };
  const under = await adapterUnderTest({ box: { ...box, definition: { ...more.definition, approveTools } } }, scene);
  await under.mcp({ connect: "box" });
  return under;
}

describe("an approval", () => {
  test("[CL36] is asked for what an exposed server is passed: a tool, and a resource, listed or not", async () => {
    const { adapter, asked } = await guarded(true);
    const { signal } = new AbortController();
    const passed = { callId: "1", server: "box", args: {}, caller: remote("a"), signal };
    for (const uri of [undefined, "a:b", "a:other"]) {
      const name = uri ?? "look";
      await adapter.passage.approve({ ...passed, original: name, displayed: name, ...(uri !== undefined && { uri }) });
    }
    expect(asked.map(({ displayed, origin }) => [displayed, origin])).toEqual([
      ["look", "direct"],
      ["a:b", "resource"],
      ["a:other", "resource"],
    ]);
  });

  test.each([
    [["delete_*"], ["delete_all"]],
    [["box_delete_all"], ["delete_all"]],
    [["mcp__box_look"], ["look"]],
    [true, ["delete_all", "look"]],
    [false, []],
  ])("[CL32] is asked for by approveTools %j", async (approveTools, expected) => {
    const under = await guarded(approveTools);
    for (const tool of ["delete_all", "look"]) await under.mcp({ tool });
    expect(under.asked.map(({ original, required }) => [original, required])).toEqual(expected.map((name) => [name, true]));
    expect(under.received).toHaveLength(2);
  });

  test("[CL32] [CT9] is asked for whatever another server calls its tools", async () => {
    const mine: PlayedServer = { tools: { delete: {} }, definition: { approveTools: ["my_box_delete"] } };
    const under = await adapterUnderTest({ "my-box": mine, evil: { tools: { my_box_delete: {} } } });
    for (const server of ["my-box", "evil"]) await under.mcp({ connect: server });
    await under.mcp({ tool: "my-box_delete" });
    expect(under.asked.map(({ server, required }) => [server, required])).toEqual([["my-box", true]]);
  });

  test.each([
    ["nobody", "approval_required", /needs the person's approval, and nobody could be asked\. It did not run\. Ask later\./],
    ["person", "approval_denied", /was not approved\. It did not run\. Ask later\./],
    ["broker", "approval_denied", /was not approved/],
  ] as const)("[CL33] that is refused by %s leaves the tool untouched", async (because, code, said) => {
    const under = await guarded(true, { approve: () => ({ decision: "deny", because, text: "Ask later." }) });
    const result = await under.mcp({ tool: "box_look" });
    expect(textOf(result)).toMatch(said);
    expect(result).toMatchObject({ isError: true, details: { error: code } });
    expect(under.received).toEqual([]);
  });

  test("[CL33] that cannot be asked for is a refusal", async () => {
    const under = await guarded(true, { ports: { approver: { wantsEveryCall: false, ask: () => Promise.reject(new Error("no page")) } } });
    expect(await under.mcp({ tool: "box_look" })).toMatchObject({ details: { error: "approval_required" } });
    expect(under.received).toEqual([]);
  });

  test("[CL33] that comes after the call was cancelled runs nothing", async () => {
    const stop = new AbortController();
    let asked = 0;
    const ask = async () => {
      asked += 1;
      stop.abort();
      return allow("server");
    };
    const under = await guarded(true, { ports: { approver: { wantsEveryCall: false, ask } } });
    expect(await under.mcp({ tool: "box_look" }, { signal: stop.signal })).toMatchObject({ details: { error: "aborted" } });
    await under.mcp({ tool: "box_look" });
    expect(asked).toBe(2);
  });

  test("[CL34] is remembered for the same tool with the same arguments, in whatever order they are written", async () => {
    const under = await guarded(true, { approve: () => allow("call") });
    await under.mcp({ tool: "box_look", args: { a: 1, b: 2 } });
    await under.mcp({ tool: "box_look", args: '{"b":2,"a":1}' });
    expect(under.asked).toHaveLength(1);
    await under.mcp({ tool: "box_look", args: { a: 2, b: 2 } });
    await under.mcp({ tool: "box_delete_all", args: { a: 1, b: 2 } });
    expect(under.asked).toHaveLength(3);
  });

  test("[CL34] is asked for again when the tool has become another one", async () => {
    const tools: PlayedServer["tools"] = { look: {} };
    const under = await guarded(true, { approve: () => allow("call") }, { tools });
    await under.mcp({ tool: "box_look" });
    tools["look"] = { inputSchema: { type: "object", properties: { target: { type: "string" } } } };
    await under.mcp({ connect: "box" });
    await under.mcp({ tool: "box_look" });
    expect(under.asked).toHaveLength(2);
    expect(under.asked[0]?.definitionHash).not.toBe(under.asked[1]?.definitionHash);
    expect(under.asked[0]?.argsHash).toBe(under.asked[1]?.argsHash);
  });

  test.each(["call", "server"] as const)("[CL34] of one client (%s) is none of another's, nor of Pi's", async (remember) => {
    const under = await guarded(true, { approve: () => allow(remember) });
    for (const caller of [remote("grant:1"), remote("grant:2"), PI, remote("grant:1"), PI]) await under.mcp({ tool: "box_look" }, { caller });
    expect(under.asked.map(({ caller }) => (caller.kind === "remote" ? caller.principalId : caller.kind))).toEqual(["grant:1", "grant:2", "pi"]);
  });

  test("[CL34] of a whole server covers its other tools", async () => {
    const under = await guarded(true, { approve: () => allow("server") });
    for (const tool of ["look", "delete_all", "read_notes"]) await under.mcp({ tool });
    expect(under.asked).toHaveLength(1);
  });

  test("[CL35] is not asked for a call that needs none, unless whoever is asked wants every call; then it learns what is required and remembered", async () => {
    const quiet = await guarded(["delete_*"]);
    await quiet.mcp({ tool: "box_look" });
    expect(quiet.asked).toEqual([]);
    const broker = await guarded(["delete_*"], { wantsEveryCall: true, approve: () => allow("call") });
    for (const tool of ["box_look", "box_delete_all", "box_delete_all"]) await broker.mcp({ tool });
    expect(broker.asked.map(({ required, remembered }) => [required, remembered])).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ]);
  });

  test("[CL36] stands before every way to a tool", async () => {
    const under = await guarded(true, { approve: () => ({ decision: "deny", because: "person", text: "" }) }, { definition: { directTools: true } });
    await under.mcp({ tool: "box_look" });
    await under.adapter.direct("box_look", adapterCall({}));
    await under.mcp({ tool: "box_read_notes" });
    await under.adapter.script(adapterCall({ code: "return tools.call('box_look')" }));
    expect(under.asked.map(({ origin }) => origin)).toEqual(["proxy", "direct", "resource", "script"]);
    expect(under.received).toEqual([]);
  });
});
