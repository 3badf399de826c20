import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { McpSurfaceOptions } from "../../../local-agent/mcp/server.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { heard, QUESTION, scriptedHuman, typed } from "../../support/scripted-human.ts";
import { text, untilAborted, type ToolScript } from "../../support/scripted-tools.ts";
import { MODERN, surfaceUnderTest, toolCall, type Message, type RpcAnswer, type SurfaceUnderTest } from "../../support/surface-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const ERAS = ["legacy", "modern"] as const;

interface Connection extends SurfaceUnderTest {
  send(message: Message): void;
  end(): void;
  readonly received: RpcAnswer[];
  readonly closed: Promise<void>;
}

function connection(
  era: (typeof ERAS)[number],
  scripts: Readonly<Record<string, ToolScript>>,
  options: Pick<Partial<McpSurfaceOptions>, "lifeMs" | "human"> = {},
): Connection {
  const input = new PassThrough();
  const output = new PassThrough();
  const under = surfaceUnderTest(scripts, options);
  const { closed } = under.surface.serveStdio({ input, output });
  const received: RpcAnswer[] = [];
  let unread = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    // Not node:readline, which takes U+2028 for the end of a line.
    const lines = (unread + text).split("\n");
    unread = lines.pop() ?? "";
    received.push(...lines.map((line) => JSON.parse(line) as RpcAnswer));
  });
  const envelope = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };
  const send = (message: Message): void => {
    const params =
      era === "legacy" ? message.params : { ...message.params, _meta: { ...envelope, ...(message.params?.["_meta"] as object | undefined) } };
    input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message, ...(params !== undefined && { params }) })}\n`);
  };
  if (era === "legacy") {
    send({ id: "init", method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } } });
    send({ method: "notifications/initialized" });
  } else send({ id: "init", method: "server/discover" });
  return { ...under, send, end: () => input.end(), received, closed };
}

describe.each(ERAS)("over stdio (%s)", (era) => {
  const answered = async (client: Connection, id: unknown): Promise<RpcAnswer> => {
    await waitUntil(`the answer to ${String(id)}`, () => client.received.some((message) => message.id === id));
    return client.received.find((message) => message.id === id)!;
  };

  test("[MC30] a client is greeted, lists tools and calls one, with progress", async () => {
    const client = connection(era, {
      echo: (call) => {
        call.onProgress({ delta: "on my way" });
        return text(JSON.stringify(call.args));
      },
    });
    expect((await answered(client, "init")).result).toMatchObject({ instructions: "operating prompt" });
    client.send({ id: 0, method: "tools/list" });
    expect((await answered(client, 0)).result).toMatchObject({ tools: [{ name: "echo" }, { name: "get_instructions" }] });
    client.send(toolCall("", "echo", { text: "ä\n\u2028" }, "tok"));
    expect((await answered(client, "")).result).toMatchObject({ content: [{ text: JSON.stringify({ text: "ä\n\u2028" }) }] });
    expect(client.received.find((message) => message.method === "notifications/progress")?.params).toMatchObject({
      progressToken: "tok",
      message: "on my way",
    });
    expect(client.begun[0]).toMatchObject({ principalId: "local" });
    client.end();
    await client.closed;
  });

  test("[HU33] [HU40] a client asks, is told to go on waiting, and hears the answer", async () => {
    const human = scriptedHuman({ timers: systemTimers });
    const client = connection(era, {}, { human: human.channel });
    await answered(client, "init");
    client.send(toolCall(1, "human_ask", { text: "Go on?" }));
    await waitUntil("it asks", () => human.waits.length === 1);
    human.hears({ at: "no_message", why: "budget" });
    expect((await answered(client, 1)).result).toMatchObject({ structuredContent: { status: "no_message", questionId: QUESTION.questionId } });
    client.send(toolCall(2, "human_wait", { questionId: QUESTION.questionId }));
    await waitUntil("it waits", () => human.waits.length === 2);
    expect(human.waits[1]).toMatchObject({ client: { principalId: "local" }, x: null });
    human.hears(heard(typed("yes", { questionId: QUESTION.questionId })));
    expect((await answered(client, 2)).result).toMatchObject({ content: [{ text: "yes" }] });
    client.end();
  });

  test("[HU35] the end of the input ends the waiting", async () => {
    const human = scriptedHuman({ timers: systemTimers });
    const client = connection(era, {}, { human: human.channel });
    await answered(client, "init");
    client.send(toolCall(1, "human_wait"));
    await waitUntil("it waits", () => human.waits.length === 1);
    client.end();
    await client.closed;
    expect(human.waits[0]?.signal.aborted).toBe(true);
  });

  test("[MC30] garbage on a line disturbs nothing", async () => {
    const client = connection(era, { echo: () => text("fine") });
    await answered(client, "init");
    client.send("not an object" as never);
    client.send(toolCall(1, "echo"));
    expect((await answered(client, 1)).result).toMatchObject({ content: [{ text: "fine" }] });
    client.end();
  });

  test("[MC31] the end of the input aborts what runs", async () => {
    const client = connection(era, { wait: untilAborted });
    await answered(client, "init");
    client.send(toolCall(1, "wait"));
    await waitUntil("the tool runs", () => client.tools.seen.length === 1);
    client.end();
    await client.closed;
    await waitUntil("the call has ended", () => client.ended.length === 1);
    expect(client.ended[0]!.state).toBe("cancelled");
  });

  test("[MC32] notifications/cancelled aborts the named call only", async () => {
    const client = connection(era, { wait: untilAborted });
    await answered(client, "init");
    client.send(toolCall(1, "wait"));
    client.send(toolCall(2, "wait"));
    await waitUntil("both run", () => client.tools.seen.length === 2);
    client.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await waitUntil("one has ended", () => client.ended.length === 1);
    expect(client.tools.seen.map((call) => call.signal.aborted)).toEqual([true, false]);
    expect(client.received.some((message) => message.id === 1)).toBe(false);
    client.end();
  });

  test("[MC33] a call ends at the limit, with an answer, and the connection stays", async () => {
    const client = connection(era, { wait: untilAborted, echo: () => text("still here") }, { lifeMs: 60 });
    await answered(client, "init");
    client.send(toolCall(1, "wait"));
    await answered(client, 1);
    expect(String(client.tools.seen[0]!.signal.reason)).toContain("limit");
    expect(client.ended[0]!.state).toBe("cancelled");
    client.send(toolCall(2, "echo"));
    expect((await answered(client, 2)).result).toMatchObject({ content: [{ text: "still here" }] });
    client.end();
  });
});
