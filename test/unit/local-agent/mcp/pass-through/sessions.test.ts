import type { Server } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { clientOf, everything, passingSurface, type PassingSurface } from "../../../../support/passing-surface.ts";
import { smallUpstream, type SmallRun } from "../../../../support/small-upstream.ts";
import {
  context,
  legacyRequest,
  MODERN,
  modernRequest,
  reply,
  surfaceUnderTest,
  toolCall,
  type Message,
  type TestContext,
} from "../../../../support/surface-under-test.ts";
import { text } from "../../../../support/scripted-tools.ts";
import { waitUntil } from "../../../../support/wait-until.ts";

const INITIALIZE: Message = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: { elicitation: {} }, clientInfo: { name: "raw", version: "1" } },
};
const LIST: Message = { id: 2, method: "tools/list" };
const KEY = { key: new Uint8Array(32).fill(3) };

async function begin(surface: PassingSurface, principal = "grant:1"): Promise<string> {
  const { response } = await surface.surface.handle(legacyRequest(INITIALIZE), context(principal));
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

async function status(surface: PassingSurface, headers: Record<string, string>, principal = "grant:1"): Promise<number> {
  const { response } = await surface.surface.handle(legacyRequest(LIST, headers), context(principal));
  await response.text();
  return response.status;
}

describe("a session of a legacy client", () => {
  test("[PT60] is offered by initialize, in the version that was asked for", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    const answer = await surface.surface.handle(legacyRequest(INITIALIZE), context());
    expect(answer.response.headers.get("mcp-session-id")).toMatch(/^[\x21-\x7e]{40,800}$/);
    expect((await reply(answer)).result).toMatchObject({ protocolVersion: "2025-06-18", capabilities: { resources: { subscribe: true } } });
  });

  test("[PT60] is not offered where nothing is passed through", async () => {
    const { surface } = surfaceUnderTest({ read: () => text("ours") });
    const answer = await surface.handle(legacyRequest(INITIALIZE), context());
    expect(answer.response.headers.has("mcp-session-id")).toBe(false);
  });

  test("[PT61] is not needed, and an id that is none of ours is served like none", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    expect(await status(surface, {})).toBe(200);
    expect(await status(surface, { "mcp-session-id": "0190-another-server" })).toBe(200);
    const { result } = await reply(await surface.surface.handle(legacyRequest(toolCall(3, "test_elicitation", { message: "Who?" })), context()));
    expect(result).toMatchObject({ isError: true });
  });

  test("[PT62] that is forged, another client's, or ended is 404", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    const id = await begin(surface);
    expect(await status(surface, { "mcp-session-id": id })).toBe(200);
    expect(await status(surface, { "mcp-session-id": `${id}x` })).toBe(404);
    expect(await status(surface, { "mcp-session-id": id }, "grant:2")).toBe(404);
    const end = new Request("http://relay.test/mcp", { method: "DELETE", headers: { "mcp-session-id": id } });
    expect((await surface.surface.handle(end, context("grant:2"))).response.status).toBe(204);
    expect(await status(surface, { "mcp-session-id": id })).toBe(200);
    expect((await surface.surface.handle(end, context())).response.status).toBe(204);
    const gone = await surface.surface.handle(legacyRequest(LIST, { "mcp-session-id": id }), context());
    expect(gone.response.status).toBe(404);
    expect((await reply(gone)).error?.code).toBe(-32001);
    expect((await surface.surface.handle(modernRequest(LIST, { "mcp-session-id": id }), context())).response.status).toBe(200);
  });

  test("[PT63] goes on after the agent was restarted, with what its client can do", async () => {
    const first = passingSurface({ everything: everything("legacy") }, { passage: KEY });
    const form = () => ({ action: "accept" as const, content: { username: "ada", email: "a@example.com" } });
    const before = await clientOf(first.surface, { era: "legacy", form });
    const sessionId = before.sessionId();
    await first.surface.close();
    await using restarted = passingSurface({ everything: everything("legacy") }, { passage: KEY });
    const call = legacyRequest(toolCall(5, "test_elicitation", { message: "Who?" }), { "mcp-session-id": sessionId ?? "" });
    const { response } = await restarted.surface.handle(call, context());
    const events = eventsOf(response);
    const question = await events.next();
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "Who?" } });
    const answer = { id: question["id"], result: form() } as unknown as Message;
    const posted = await restarted.surface.handle(legacyRequest(answer, { "mcp-session-id": sessionId ?? "" }), context());
    expect(posted.response.status).toBe(202);
    expect(JSON.stringify(await events.next())).toContain("ada");
  });

  test("[PT64] hears its own questions, and only its own client can answer them", async () => {
    await using surface = passingSurface({ everything: everything(MODERN) });
    const id = await begin(surface);
    const other = await begin(surface);
    const { response } = await surface.surface.handle(
      legacyRequest(toolCall(5, "test_elicitation", { message: "Who?" }), { "mcp-session-id": id }),
      context(),
    );
    const events = eventsOf(response);
    const question = await events.next();
    const send = async (session: string, principal: string, name: string) => {
      const answer = { id: question["id"], result: { action: "accept", content: { username: name, email: "e" } } } as unknown as Message;
      await surface.surface.handle(legacyRequest(answer, { "mcp-session-id": session }), context(principal));
    };
    await send(other, "grant:1", "from another session");
    await send(id, "grant:2", "from another client");
    await send(id, "grant:1", "from its own");
    expect(JSON.stringify(await events.next())).toContain("from its own");
  });

  test("[PT65] keeps the log level that its client set, and no other session has it", async () => {
    const run: SmallRun = async (_args, _context, server) => {
      for (const level of ["debug", "error"] as const) await server.sendLoggingMessage({ level, data: level });
      return { content: [] };
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { talks: { run } }, capabilities: { logging: {} } }) });
    const [loud, quiet] = [await begin(surface), await begin(surface)];
    const level: Message = { id: 2, method: "logging/setLevel", params: { level: "debug" } };
    expect((await reply(await surface.surface.handle(legacyRequest(level, { "mcp-session-id": loud }), context()))).result).toEqual({});
    const heard = async (session: string) => {
      const { response } = await surface.surface.handle(legacyRequest(toolCall(3, "talks"), { "mcp-session-id": session }), context());
      return [...(await response.text()).matchAll(/"data":"(\w+)"/g)].map(([, data]) => data);
    };
    expect(await heard(loud)).toEqual(["debug", "error"]);
    expect(await heard(quiet)).toEqual(["error"]);
  });
});

describe("changes at an upstream", () => {
  test.each(["legacy", MODERN] as const)("[PT70] of a %s upstream are told on a modern client's stream", async (speaks) => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const exchange = context();
    const notifications = { toolsListChanged: true, promptsListChanged: true };
    const { response } = await surface.surface.handle(
      modernRequest({ id: "l", method: "subscriptions/listen", params: { notifications } }),
      exchange,
    );
    const events = eventsOf(response);
    expect(await events.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged", params: { notifications } });
    await reply(await surface.surface.handle(modernRequest(toolCall(1, "test_trigger_tool_change")), context()));
    expect(await events.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    await reply(await surface.surface.handle(modernRequest(toolCall(2, "test_trigger_prompt_change")), context()));
    expect(await events.next()).toMatchObject({ method: "notifications/prompts/list_changed" });
    exchange.leave.abort(new Error("left"));
  });

  test.each(["legacy", MODERN] as const)("[PT71] of a resource of a %s upstream are told to who asked for them", async (speaks) => {
    const touched = smallUpstream(speaks, {
      tools: { touch: { run: (_args, _context, server) => server.sendResourceUpdated({ uri: "a://b" }).then(() => ({ content: [] })) } },
      capabilities: { resources: { subscribe: true } },
      more: (server) => {
        server.setRequestHandler("resources/list", () => ({ resources: [{ uri: "a://b", name: "b" }] }));
        if (speaks !== "legacy") return;
        server.setRequestHandler("resources/subscribe", () => ({}));
        server.setRequestHandler("resources/unsubscribe", () => ({}));
      },
    });
    await using surface = passingSurface({ small: touched });
    const exchange = context();
    const notifications = { resourceSubscriptions: ["a://b"] };
    const { response } = await surface.surface.handle(
      modernRequest({ id: "l", method: "subscriptions/listen", params: { notifications } }),
      exchange,
    );
    const events = eventsOf(response);
    await events.next();
    await reply(await surface.surface.handle(modernRequest(toolCall(1, "touch")), context()));
    expect(await events.next()).toMatchObject({ method: "notifications/resources/updated", params: { uri: "a://b" } });
    exchange.leave.abort(new Error("left"));

    const id = await begin(surface);
    const headers = { "mcp-session-id": id };
    const subscribe: Message = { id: 2, method: "resources/subscribe", params: { uri: "a://b" } };
    expect((await reply(await surface.surface.handle(legacyRequest(subscribe), context()))).error?.code).toBe(-32602);
    expect((await reply(await surface.surface.handle(legacyRequest(subscribe, headers), context()))).result).toEqual({});
    const call = async () =>
      (await (await surface.surface.handle(legacyRequest(toolCall(3, "touch"), headers), context())).response.text()).includes("resources/updated");
    await waitUntil("an update is told", call);
    await reply(await surface.surface.handle(legacyRequest({ ...subscribe, method: "resources/unsubscribe" }, headers), context()));
    expect(await call()).toBe(false);
  });

  test("[PT71] a subscription that a modern upstream ends is opened again, and what it may have missed is told", async () => {
    const clock = new ManualClock();
    const touched = smallUpstream(MODERN, {
      tools: { touch: { run: (_args, _context, server) => server.sendResourceUpdated({ uri: "a://b" }).then(() => ({ content: [] })) } },
      capabilities: { resources: { subscribe: true } },
    });
    await using under = passingSurface({ small: touched });
    const ended = Promise.withResolvers<"graceful">();
    const listens: unknown[] = [];
    const open: PassingSurface["passage"]["open"] = async (upstream, options) => {
      const opened = await under.passage.open(upstream, options);
      if (!opened.ok) return opened;
      const { client } = opened.value;
      const listen = client.listen.bind(client);
      client.listen = async (filter, listenOptions) => {
        const stream = await listen(filter, listenOptions);
        return listens.push(filter) > 1 ? stream : { ...stream, closed: ended.promise.then((how) => stream.close().then(() => how)) };
      };
      return opened;
    };
    await using surface = passingSurface({}, { passage: { ...under.passage, open }, options: { clock, timers: clock } });
    const exchange = context();
    const listen = modernRequest({ id: "l", method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: ["a://b"] } } });
    const events = eventsOf((await surface.surface.handle(listen, exchange)).response);
    await events.next();
    const waiting = clock.waiting;
    ended.resolve("graceful");
    await waitUntil("it is about to be opened again", () => clock.waiting > waiting);
    clock.advance(5000);
    const updated = { method: "notifications/resources/updated", params: { uri: "a://b" } };
    expect(await events.next()).toMatchObject(updated);
    await reply(await surface.surface.handle(modernRequest(toolCall(1, "touch")), context()));
    expect(await events.next()).toMatchObject(updated);
    expect(listens).toEqual([{ resourceSubscriptions: ["a://b"] }, { resourceSubscriptions: ["a://b"] }]);
    exchange.leave.abort(new Error("left"));
  });

  test("[PT71] a subscription that is asked for twice at once is one, and after its connection broke it can be asked for again", async () => {
    const heard: string[] = [];
    const hear = (what: string): Record<string, never> => {
      heard.push(what);
      return {};
    };
    const more = (server: Server) => {
      server.setRequestHandler("resources/subscribe", () => hear("subscribed"));
      server.setRequestHandler("resources/unsubscribe", () => hear("unsubscribed"));
    };
    const dies: SmallRun = (_args, _context, server) => server.close().then(() => new Promise(() => {}));
    await using surface = passingSurface({
      small: smallUpstream("legacy", { tools: { dies: { run: dies } }, capabilities: { resources: { subscribe: true } }, more }),
    });
    const headers = { "mcp-session-id": await begin(surface) };
    const ask = async (method: string) => {
      const message: Message = { id: 2, method, params: { uri: "a://b" } };
      return (await reply(await surface.surface.handle(legacyRequest(message, headers), context()))).result;
    };
    expect(await Promise.all([ask("resources/subscribe"), ask("resources/subscribe")])).toEqual([{}, {}]);
    await ask("resources/unsubscribe");
    await waitUntil("it ended", () => heard.includes("unsubscribed"));
    expect(heard.splice(0)).toEqual(["subscribed", "unsubscribed"]);
    await ask("resources/subscribe");
    await reply(await surface.surface.handle(legacyRequest(toolCall(3, "dies"), headers), context()));
    expect(await ask("resources/subscribe")).toEqual({});
    expect(heard).toEqual(["subscribed", "subscribed"]);
  });

  test.each(["legacy", MODERN] as const)(
    "[PT72] of a %s upstream are told to a legacy client on a call that runs, or on the next",
    async (speaks) => {
      await using surface = passingSurface({ everything: everything(speaks) });
      const headers = { "mcp-session-id": await begin(surface) };
      const body = async (name: string, args = {}) =>
        (await surface.surface.handle(legacyRequest(toolCall(3, name, args), headers), context())).response.text();
      const slow = body("sleep", { ms: 400 });
      await waitUntil("it runs", () => surface.begun.length === 1);
      const trigger = body("test_trigger_tool_change");
      expect(`${await slow}${await trigger}`).toContain("notifications/tools/list_changed");
    },
  );

  test("[PT72] that no call could tell are told by the session's next one, once", async () => {
    const told = Promise.withResolvers<void>();
    const later: SmallRun = (_args, _context, server) => {
      setTimeout(() => void server.sendToolListChanged().then(() => told.resolve()), 20);
      return { content: [] };
    };
    const small = smallUpstream("legacy", { tools: { later: { run: later }, plain: {} }, capabilities: { tools: { listChanged: true } } });
    await using surface = passingSurface({ small });
    const headers = { "mcp-session-id": await begin(surface) };
    const heard = async (name: string) => {
      const { response } = await surface.surface.handle(legacyRequest(toolCall(3, name), headers), context());
      return (await response.text()).includes("notifications/tools/list_changed");
    };
    expect(await heard("later")).toBe(false);
    await told.promise;
    expect(await heard("plain")).toBe(true);
    expect(await heard("plain")).toBe(false);
  });

  test("[PT73] are told on 16 streams at most, and on 8 of one client", async () => {
    await using surface = passingSurface({ everything: everything("legacy") });
    const [one, two, three] = ["grant:1", "grant:2", "grant:3"];
    const exchanges = [...Array.from({ length: 9 }, () => one), ...Array.from({ length: 8 }, () => two), three].map((id) => context(id));
    const answers: Record<string, unknown>[] = [];
    for (const exchange of exchanges) {
      const listen = modernRequest({ id: "l", method: "subscriptions/listen", params: { notifications: { toolsListChanged: true } } });
      const { response } = await surface.surface.handle(listen, exchange);
      answers.push(response.headers.get("content-type")?.startsWith("text/event-stream") ? await eventsOf(response).next() : await response.json());
    }
    const [ofOne] = answers.splice(8, 1);
    expect(answers.slice(0, 16).every((answer) => answer["method"] === "notifications/subscriptions/acknowledged")).toBe(true);
    expect(ofOne).toMatchObject({ id: "l", error: { message: expect.stringContaining("This client has 8 streams of changes open") } });
    expect(answers[16]).toMatchObject({ id: "l", error: { message: expect.stringContaining("16 streams of changes are open") } });
    for (const exchange of exchanges) exchange.leave.abort(new Error("left"));
  });

  test("[PT73] of those 16 none is taken by a client that left before its stream began", async () => {
    await using under = passingSurface({ everything: everything("legacy") });
    const started = Promise.withResolvers<void>();
    const open: PassingSurface["passage"]["open"] = (upstream, options) => started.promise.then(() => under.passage.open(upstream, options));
    await using surface = passingSurface({}, { passage: { ...under.passage, open } });
    const listen = (exchange: TestContext) =>
      surface.surface.handle(
        modernRequest({ id: "l", method: "subscriptions/listen", params: { notifications: { toolsListChanged: true } } }),
        exchange,
      );
    const left = Array.from({ length: 16 }, () => {
      const exchange = context();
      const answer = listen(exchange);
      exchange.leave.abort(new Error("left"));
      return answer;
    });
    started.resolve();
    await Promise.allSettled(left);
    const exchange = context();
    expect(await eventsOf((await listen(exchange)).response).next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    exchange.leave.abort(new Error("left"));
  });
});

/** Events one by one while the stream goes on. */
function eventsOf(response: Response): { next(): Promise<Record<string, unknown>> } {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  return {
    async next() {
      for (;;) {
        const data = /^data: (.*)\n\n/m.exec(rest);
        if (data?.[1] !== undefined) {
          rest = rest.slice(data.index + data[0].length);
          return JSON.parse(data[1]) as Record<string, unknown>;
        }
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended: ${rest}`);
        rest += decoder.decode(value, { stream: true });
      }
    },
  };
}
