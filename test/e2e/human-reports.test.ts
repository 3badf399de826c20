/**
 * What users of other programs ran into when their agents asked them something, tried on ours from outside. A row's number
 * names the report in our collection; what happens in the browser is in test/browser/human-reports.test.ts, and rows that a
 * part's own tests prove bear their number there.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, callTool, said, send, type CallResult, type Endpoint } from "../support/agent-requests.ts";
import { freePort } from "../support/free-port.ts";
import { personAt, type Person } from "../support/person.ts";
import { newHome, startPimcp, type Pimcp } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";
import { signIn } from "../support/sign-in.ts";
import { messages, toolCall } from "../support/surface-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

const HUMAN = ["--human", "--approve", "bash"];
/** The wait when nobody chose another. */
const DEFAULT_WAIT_MS = 45_000;

let agent: Pimcp;
let person: Person;
beforeAll(async () => {
  agent = await startPimcp({ args: HUMAN });
  person = personAt(() => agent.pageUrl());
});
afterAll(async () => {
  await agent.stop();
  await agent.home.remove();
});

/** Resolves when this question waits for the person. */
async function questionOf(text: string, asked = person): Promise<string> {
  let id: string | undefined;
  await waitUntil(`"${text}" is asked, and waited for`, async () => {
    const { entries, waiting } = await asked.conversation();
    id = entries.findLast((entry) => entry.kind === "asked" && entry.text === text)?.id;
    return id !== undefined && waiting?.questionId === id;
  });
  return id ?? "";
}

async function cardOf(command: string, asked = person): Promise<string> {
  let id: string | undefined;
  await waitUntil(`there is a card for ${command}`, async () => {
    id = (await asked.shows()).approvals.find(({ text }) => text === command)?.id;
    return id !== undefined;
  });
  return id ?? "";
}

const statusOf = (result: CallResult): unknown => result.structuredContent?.["status"];

/** The question of a client that closes its connection while it waits for the answer. */
async function leavesWhileItAsks(at: Endpoint, text: string, era: "legacy" | "modern" = "legacy"): Promise<string> {
  const client = new AbortController();
  const lost = callTool(at, "human_ask", { text }, { signal: client.signal, era }).catch(() => "left");
  const questionId = await questionOf(text);
  client.abort();
  expect(await lost).toBe("left");
  return questionId;
}

describe("waiting", () => {
  test("[HU38] a timeout of one second is raised to the least that makes sense, and the result says so (C01)", async () => {
    const result = await callTool(agent, "human_wait", { timeout: 1 });
    expect(statusOf(result)).toBe("no_message");
    expect(said(result)).toContain("5 s");
    expect(said(result)).toMatch(/timeout/);
  });

  test("[HU37] an answer ends the wait at once, not at its end (C08)", async () => {
    const answer = callTool(agent, "human_ask", { text: "Confirm?", options: ["OK"] });
    const questionId = await questionOf("Confirm?");
    const { waiting } = await person.conversation();
    expect((waiting?.until ?? 0) - (waiting?.since ?? 0)).toBeGreaterThan(DEFAULT_WAIT_MS - 5_000);
    const pressedAt = performance.now();
    await person.answer(questionId, "OK");
    expect(said(await answer)).toBe("OK");
    expect(performance.now() - pressedAt).toBeLessThan(DEFAULT_WAIT_MS / 3);
  });

  test.for(["legacy", "modern"] as const)(
    "[HU40] a %s client that offers elicitation is sent none: the page is asked, for a time that ends (C15)",
    async (era) => {
      const capabilities = { elicitation: { form: {} } };
      const version = { protocolVersion: "2025-06-18", capabilities, clientInfo: { name: "elicits", version: "1" } };
      if (era === "legacy") await ask(agent, { id: 1, method: "initialize", params: version });
      const call = toolCall(2, "human_ask", { text: `Elicit, ${era}?`, timeout: 5 }, "progress");
      const { _meta, ...params } = call.params as { readonly _meta: object };
      const meta = { ..._meta, ...(era === "modern" && { "io.modelcontextprotocol/clientCapabilities": capabilities }) };
      const all = await messages(await send(agent, { ...call, params: { ...params, _meta: meta } }, { era }));
      expect(all.filter((message) => "method" in message && message.method !== "notifications/progress")).toEqual([]);
      expect(all.at(-1)?.result).toMatchObject({ isError: false, structuredContent: { status: "no_message" } });
    },
  );
});

describe("a client that gives up first", () => {
  test.for(["legacy", "modern"] as const)("[HU9] [HU67] hears from its next call what was answered seconds later, once (C07, %s)", async (era) => {
    const text = `After the time-out, ${era}?`;
    const questionId = await leavesWhileItAsks(agent, text, era);
    await sleep(3000);
    await person.answer(questionId, `late, ${era}`);
    const next = await callTool(agent, "human_wait", {}, { era });
    expect(next.content[0]?.text).toBe(`late, ${era}`);
    expect(statusOf(await callTool(agent, "human_wait", { timeout: 5 }, { era }))).toBe("no_message");
  });

  test("[EE32] loses no answer that is given in the very moment after it left, twenty times (C07)", { timeout: 240_000 }, async () => {
    const lost: number[] = [];
    const twice: number[] = [];
    for (let round = 0; round < 20; round++) {
      const era = round % 2 === 0 ? "legacy" : "modern";
      const word = `at once ${round}`;
      const questionId = await leavesWhileItAsks(agent, `Round ${round}?`, era);
      if (round >= 10) await sleep(round - 9);
      await person.answer(questionId, word);
      const heard = await hearing(era, word);
      if (!heard.some((result) => said(result).includes(word))) lost.push(round);
      if (heard.filter((result) => said(result).includes(word)).length > 1) twice.push(round);
    }
    expect({ lost, twice }).toEqual({ lost: [], twice: [] });
  });

  /** Calls until the word arrives or a wait ends without one. */
  async function hearing(era: "legacy" | "modern", word: string): Promise<CallResult[]> {
    const heard = [await callTool(agent, "human_wait", { timeout: 5 }, { era })];
    for (let more = 0; more < 2 && !heard.some((result) => said(result).includes(word)); more++) {
      heard.push(await callTool(agent, "human_wait", { timeout: 5 }, { era }));
    }
    return heard;
  }
});

describe("a wait that the person made long", () => {
  test("[HU37] [HU40] nobody answers: each wait says to call again, none is an error or empty (C04)", async () => {
    await using brief = await startPimcp({ args: ["--human", "--block-ms", "1000"] });
    const results = [await callTool(brief, "human_ask", { text: "Anybody?" })];
    const questionId = results[0]?.structuredContent?.["questionId"];
    for (let round = 0; round < 4; round++) results.push(await callTool(brief, "human_wait", { questionId }));
    for (const result of results) {
      expect(result).toMatchObject({ isError: false, structuredContent: { status: "no_message", questionId } });
      expect(said(result)).toContain(`Call human_wait with questionId "${String(questionId)}" again now`);
    }
    expect(await personAt(() => brief.pageUrl()).openQuestions()).toHaveLength(1);
  });

  test("[HU37] [HU67] is shown as it is; a client that is less patient calls again, and nothing is lost (C05)", async () => {
    await using long = await startPimcp({ args: ["--human", "--block-ms", "90000"] });
    const patient = personAt(() => long.pageUrl());
    expect((await patient.shows()).info.waitMs).toBe(90_000);
    const impatient = () => callTool(long, "human_ask", { text: "Long?" }, { signal: AbortSignal.timeout(1500) }).catch(() => "gave up");
    const first = impatient();
    const questionId = await questionOf("Long?", patient);
    const { waiting } = await patient.conversation();
    expect((waiting?.until ?? 0) - (waiting?.since ?? 0)).toBeGreaterThan(80_000);
    expect([await first, await impatient()]).toEqual(["gave up", "gave up"]);
    // Asked twice, it is one question.
    expect((await patient.openQuestions()).map(({ id }) => id)).toEqual([questionId]);
    await patient.answer(questionId, "here");
    expect((await callTool(long, "human_wait", { questionId })).content[0]?.text).toBe("here");
  });
});

describe("approval", () => {
  test("[HU85] an agent killed with a card waiting: the client is told, nothing runs later, and the next start works as it is (C12)", async () => {
    await using relay = await startRelayApart();
    await using home = newHome();
    const args = [...HUMAN, "--ui-port", String(await freePort())];
    const first = await relay.dial(home, { args });
    const grant = await signIn(relay.worker.origin, first.pageUrl());
    const client: Endpoint = { url: first.url, token: grant.accessToken };
    const waiting = callTool(client, "bash", { command: "touch ran" }).then(said, (error: unknown) => String(error));
    const id = await cardOf(
      "touch ran",
      personAt(() => first.pageUrl()),
    );
    await first.kill9();
    await using second = await relay.dial(home, { args });
    expect(await waiting).toMatch(/workstation|agent/);
    const page = personAt(() => second.pageUrl());
    expect((await page.shows()).approvals).toEqual([]);
    expect((await page.post("/api/approve", { id, decision: "once" })).body).toEqual({ outcome: "gone" });
    // The same client goes on with the access it has.
    const again = callTool(client, "bash", { command: "echo again" });
    await page.post("/api/approve", { id: await cardOf("echo again", page), decision: "once" });
    expect(said(await again)).toBe("again\n");
    expect(existsSync(join(home.root, "ran"))).toBe(false);
  });

  test("[HU85] [EE33] an agent that is ended while a card waits still answers that nothing was run (C12)", async () => {
    await using relay = await startRelayApart();
    await using home = newHome();
    const first = await relay.dial(home, { args: HUMAN });
    const waiting = callTool(first, "bash", { command: "touch ran" });
    await cardOf(
      "touch ran",
      personAt(() => first.pageUrl()),
    );
    const [result] = await Promise.all([waiting, first.stop()]);
    expect(result).toMatchObject({ isError: true });
    expect(said(result)).toContain("the agent on the workstation was ended. Nothing was run.");
    expect(existsSync(join(home.root, "ran"))).toBe(false);
  });
});

test("[EE34] requests for access and for approval that come while a call waits disturb neither it nor the link (C20)", async () => {
  const waiting = callTool(agent, "human_ask", { text: "Undisturbed?" });
  const questionId = await questionOf("Undisturbed?");
  const before = (await person.conversation()).waiting;
  const running = callTool(agent, "bash", { command: "echo beside" });
  const id = await cardOf("echo beside");
  const grant = await signIn(agent.origin, agent.pageUrl());
  const other: Endpoint = { url: agent.url, token: grant.accessToken };
  expect(statusOf(await callTool(other, "human_say", { text: "Beside." }))).toBe("queued");
  await person.post("/api/approve", { id, decision: "once" });
  expect(said(await running)).toBe("beside\n");
  const shown = await person.shows();
  expect(shown.conversation?.waiting).toEqual(before);
  expect(shown.link.at).toBe("open");
  await person.answer(questionId, "undisturbed");
  expect(said(await waiting)).toBe("undisturbed");
});
