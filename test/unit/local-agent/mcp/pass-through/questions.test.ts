import type { Client } from "@modelcontextprotocol/client";
import type { Server } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import type { Passage } from "../../../../../local-agent/mcp/pass-through/passage.ts";
import { MODERN } from "../../../../support/surface-under-test.ts";
import { said, smallUpstream, type SmallRun } from "../../../../support/small-upstream.ts";
import { clientOf, everything, passingSurface, type Speaks } from "../../../../support/passing-surface.ts";

const ERAS = ["legacy", "modern"] as const;
const UPSTREAMS: readonly Speaks[] = ["legacy", MODERN];

describe.each(ERAS.flatMap((era) => UPSTREAMS.map((speaks) => ({ era, speaks }))))("a $era client of a $speaks upstream", ({ era, speaks }) => {
  test("[PT40] is asked what the upstream asks, and the answer reaches the call", async () => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const asked: string[] = [];
    const form = ({ message }: { readonly message: string }) => {
      asked.push(message);
      return { action: "accept" as const, content: { username: "ada", email: "ada@example.com" } };
    };
    await using connected = await clientOf(surface.surface, { era, form });
    const result = await connected.client.callTool({ name: "test_elicitation", arguments: { message: "Who are you?" } });
    expect(JSON.stringify(result.content)).toContain("ada@example.com");
    expect(asked).toEqual(["Who are you?"]);
  });

  test("[PT40] asks the client's model, and for its roots", async () => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const capabilities = { sampling: {}, roots: {}, elicitation: { form: {} } };
    const form = () => ({ action: "accept" as const, content: { name: "ada" } });
    await using connected = await clientOf(surface.surface, { era, capabilities, form });
    const sampled = await connected.client.callTool({ name: "test_sampling", arguments: { prompt: "capital?" } });
    expect(JSON.stringify(sampled.content)).toContain("Paris");
    const all = await connected.client.callTool({ name: "test_input_required_result_multiple_inputs", arguments: {} });
    expect(all.content).toEqual([{ type: "text", text: "all three came" }]);
  });

  test("[PT40] is asked twice by one call", async () => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const form = () => ({ action: "accept" as const, content: { name: "ada", color: "red" } });
    await using connected = await clientOf(surface.surface, { era, form });
    const result = await connected.client.callTool({ name: "test_input_required_result_multi_round", arguments: {} });
    expect(result.content).toEqual([{ type: "text", text: "both steps are done" }]);
  });

  test("[PT40] is asked during a prompt", async () => {
    await using surface = passingSurface({ everything: everything(speaks) });
    const form = () => ({ action: "accept" as const, content: { context: "tea" } });
    await using connected = await clientOf(surface.surface, { era, form });
    const result = await connected.client.getPrompt({ name: "test_input_required_result_prompt" });
    expect(JSON.stringify(result.messages)).toContain("tea");
  });

  test("[PT41] whose client declared no form has the person asked instead", async () => {
    const asked: unknown[] = [];
    const ask = async (question: { readonly upstream: string; readonly principalId: string; readonly params: { readonly message?: unknown } }) => {
      asked.push([question.upstream, question.principalId, question.params.message]);
      return { action: "accept" as const, content: { username: "grace", email: "g@example.com" } };
    };
    await using surface = passingSurface({ everything: everything(speaks) }, { passage: { forms: { ask } } });
    await using connected = await clientOf(surface.surface, { era });
    const result = await connected.client.callTool({ name: "test_elicitation", arguments: { message: "Who?" } });
    expect(JSON.stringify(result.content)).toContain("grace");
    expect(asked).toEqual([["everything", "grant:1", "Who?"]]);
  });

  test("[PT42] that declared no sampling lets no upstream ask its model", async () => {
    await using surface = passingSurface({ everything: everything(speaks) });
    await using connected = await clientOf(surface.surface, { era });
    const answer = await connected.client.callTool({ name: "test_sampling", arguments: { prompt: "capital?" } }).then(
      (result) => JSON.stringify(result),
      (error: unknown) => String(error),
    );
    expect(answer).toMatch(/sampling/i);
    expect(answer).not.toContain("Paris");
  });
});

describe("questions of one upstream", () => {
  const FORM = { message: "?", requestedSchema: { type: "object", properties: {} } } as const;

  test.each(ERAS)("[PT50] are refused beyond the 64 that a %s client has not answered", async (era) => {
    const refused = Promise.withResolvers<void>();
    const run: SmallRun = async (_args, _context, server) => {
      const why: string[] = [];
      for (let number = 0; number < 80; number++) {
        server.elicitInput(FORM).catch((error: unknown) => {
          why.push(String(error));
          if (why.length === 16) refused.resolve();
        });
      }
      await refused.promise;
      return said(why.join());
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { floods: { run } } }) });
    await using connected = await clientOf(surface.surface, { era, form: () => new Promise(() => {}) });
    const leave = new AbortController();
    const call = connected.client.callTool({ name: "floods", arguments: {} }, { signal: leave.signal }).catch(() => undefined);
    await expect(refused.promise).resolves.toBeUndefined();
    leave.abort();
    await call;
  });

  test.each(ERAS)("[TR22] are withdrawn when the call of a %s client ends without their answers", async (era) => {
    const withdrawn = Promise.withResolvers<void>();
    const ask: NonNullable<Passage["forms"]>["ask"] = ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          withdrawn.resolve();
          resolve({ action: "cancel" });
        }),
      );
    const run: SmallRun = (_args, _context, server) => {
      server.elicitInput(FORM).catch(() => undefined);
      return said("done");
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { asks: { run } } }) }, { passage: { forms: { ask } } });
    await using connected = await clientOf(surface.surface, { era });
    expect((await connected.client.callTool({ name: "asks", arguments: {} })).content).toEqual([{ type: "text", text: "done" }]);
    await expect(withdrawn.promise).resolves.toBeUndefined();
  });
});

describe("an upstream that asks as soon as it is connected", () => {
  test.each([["tools/list"], ["tools/call"]])("[PT48] is answered by a session's client with %s", async (first) => {
    const roots: string[] = [];
    const more = (server: Server) => {
      server.oninitialized = () => void server.listRoots().then((answer) => roots.push(...answer.roots.map(({ uri }) => uri)));
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { plain: {} }, more }) });
    await using connected = await clientOf(surface.surface, { era: "legacy", capabilities: { roots: {} } });
    await (first === "tools/list" ? connected.client.listTools() : connected.client.callTool({ name: "plain", arguments: {} }));
    await expect.poll(() => roots).toEqual(["file:///here"]);
  });
});

describe("a legacy client that was sent to an address", () => {
  test("[PT49] hears that it is done there", async () => {
    const done = Promise.withResolvers<string>();
    const run: SmallRun = async (_args, _context, server) => {
      await server.createElicitationCompletionNotifier("visit-1")();
      return said("done");
    };
    await using surface = passingSurface({ small: smallUpstream("legacy", { tools: { finishes: { run } } }) });
    const prepare = (client: Client) =>
      client.setNotificationHandler("notifications/elicitation/complete", ({ params }) => done.resolve(params.elicitationId));
    await using connected = await clientOf(surface.surface, { era: "legacy", capabilities: { elicitation: { url: {} } }, prepare });
    await connected.client.callTool({ name: "finishes", arguments: {} });
    expect(await done.promise).toBe("visit-1");
  });
});
