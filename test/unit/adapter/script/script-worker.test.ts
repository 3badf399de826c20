import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../../shared/json.ts";
import type { ScriptPlaceEvents } from "../../../../local-agent/node/script-place.ts";
import { createScriptRunner } from "../../../../local-agent/node/script-worker.ts";

/** A thread whose script took it over: it says whatever `play` says. */
async function taken(play: (say: (message: unknown) => void, events: ScriptPlaceEvents) => void, answer: JsonValue = null) {
  const asked: unknown[] = [];
  const sent: unknown[] = [];
  let ends = 0;
  const runner = createScriptRunner({
    place: (_code, events) => {
      queueMicrotask(() => play((message) => events.message(typeof message === "string" ? message : JSON.stringify(message)), events));
      return { send: (text) => void sent.push(JSON.parse(text)), end: async () => void (ends += 1) };
    },
  });
  const request = async (operation: string, payload: unknown): Promise<JsonValue> => {
    asked.push([operation, payload]);
    return answer;
  };
  const ended = await runner.run({ code: "", owner: "somebody", timeoutMs: 5_000, signal: new AbortController().signal, request });
  return { ...ended, asked, sent, ends };
}

const ask = (id: number) => ({ t: "ask", id, op: "call", payload: { path: "x" } });
const out = (text: string) => ({ t: "out", from: "console", level: "log", text });

describe("a thread that a script took over", () => {
  test.each<[string, readonly unknown[]]>([
    ["no JSON", ["{"]],
    ["no message", [{ t: "exec", code: "1" }]],
    ["an operation that is none", [{ t: "ask", id: 1, op: "constructor", payload: {} }]],
    ["nine requests at once", Array.from({ length: 9 }, (_, id) => ask(id))],
    ["one id twice", [ask(1), ask(1)]],
    ["too many pieces", Array.from({ length: 10_002 }, () => out(""))],
    ["too much of them", Array.from({ length: 9 }, () => out("x".repeat(1 << 20)))],
  ])("[MS19] is ended for %s", async (_what, messages) => {
    const { end, ends } = await taken((say) => messages.forEach((message) => say(message)));
    expect(end).toEqual({ how: "threw", message: expect.stringContaining("the script broke") });
    expect(ends).toBe(1);
  });

  test("[MS13] [MS19] does not take the agent along with what is nested without end", async () => {
    const deep = "[".repeat(1 << 18) + "]".repeat(1 << 18);
    const { output, end, sent } = await taken(
      (say) => {
        say(`{"t":"out","from":"emit","value":${deep}}`);
        say(ask(1));
        setImmediate(() => say({ t: "end", how: "returned" }));
      },
      JSON.parse(deep) as JsonValue,
    );
    expect([output.length, end.how]).toEqual([1, "returned"]);
    expect(sent).toEqual([{ id: 1, value: { ok: false, error: { code: "internal", message: expect.any(String) } } }]);
  });

  test("[MS19] is not heard after its end", async () => {
    const { output, end, asked, sent } = await taken((say) => {
      say(out("before"));
      say({ t: "end", how: "returned", value: 1 });
      queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => [out("after"), ask(1)].forEach(say)))));
    });
    expect({ output, end, asked, sent }).toEqual({
      output: [{ from: "console", level: "log", text: "before" }],
      end: { how: "returned", value: 1 },
      asked: [],
      sent: [],
    });
  });

  test("[MS13] that dies of memory is told apart from one that ends", async () => {
    expect((await taken((_say, { ended }) => ended({ how: "memory" }))).end).toEqual({ how: "memory" });
    expect((await taken((_say, { ended }) => ended({ how: "threw", message: "gone" }))).end).toEqual({ how: "threw", message: "gone" });
  });
});

test("[MS11] a thread that cannot be had is a sentence", async () => {
  const runner = createScriptRunner({
    place: () => {
      throw new Error("no process is left");
    },
  });
  const run = { code: "", owner: "somebody", timeoutMs: 5_000, signal: new AbortController().signal, request: async () => null };
  expect(await runner.run(run)).toEqual({ output: [], end: { how: "threw", message: "the script could not be started: no process is left" } });
});
