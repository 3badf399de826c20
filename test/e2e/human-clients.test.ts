/** The official SDKs talk with the person through the relay: within their patience, and beyond it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { said, type CallResult } from "../support/agent-requests.ts";
import { personAt, type Person } from "../support/person.ts";
import { startPimcp, type Pimcp } from "../support/pimcp.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { waitUntil } from "../support/wait-until.ts";

interface Desk {
  readonly agent: Pimcp;
  readonly person: Person;
}

/** One whose waits are over soon, and one whose are not. */
let brief: Desk;
let usual: Desk;
beforeAll(async () => {
  [brief, usual] = await Promise.all([desk(["--human", "--block-ms", "5000"]), desk(["--human"])]);
});
afterAll(async () => {
  for (const { agent } of [brief, usual]) {
    await agent.stop();
    await agent.home.remove();
  }
});

async function desk(args: readonly string[]): Promise<Desk> {
  const agent = await startPimcp({ args });
  return { agent, person: personAt(() => agent.pageUrl()) };
}

/** Answers this question as soon as somebody waits for it. */
async function answers(person: Person, question: string, text: string): Promise<void> {
  await person.answer(await waitedFor(person, question), text);
}

async function waitedFor(person: Person, question: string): Promise<string> {
  let id: string | undefined;
  await waitUntil(`"${question}" is waited for`, async () => {
    const { entries, waiting } = await person.conversation();
    id = entries.findLast((entry) => entry.kind === "asked" && entry.text === question)?.id;
    return id !== undefined && waiting?.questionId === id;
  });
  return id ?? "";
}

const words = (result: unknown): string => said(result as CallResult);

describe.each(Object.entries(SDK_CLIENTS))("%s", (name, connect) => {
  test.each([
    ["without a progress token", {}],
    ["with one", { onprogress: () => undefined }],
  ])("[EE37] asks and hears the answer; is told to wait on, and hears it then (%s)", async (how, options) => {
    await using client = await connect(brief.agent);
    const first = `${name}, first, ${how}?`;
    const [answer] = await Promise.all([
      client.call("human_ask", { text: first, options: ["yes", "no"] }, options),
      answers(brief.person, first, "yes"),
    ]);
    expect(words(answer)).toBe("yes");
    const second = `${name}, second, ${how}?`;
    const unanswered = await client.call("human_ask", { text: second }, options);
    const { status, questionId } = (unanswered as CallResult).structuredContent ?? {};
    expect([status, unanswered.isError ?? false]).toEqual(["no_message", false]);
    const [late] = await Promise.all([client.call("human_wait", { questionId }, options), answers(brief.person, second, "at last")]);
    expect(words(late)).toBe("at last");
  });

  test.for([0, 1500])("[EE38] gives up after two seconds, and hears from its next call what was answered %i ms later", async (laterMs) => {
    await using client = await connect(usual.agent);
    const question = `${name}, given up, ${laterMs}?`;
    const asked = client.call("human_ask", { text: question }, { timeout: 2000 }).then(words, () => "gave up");
    const questionId = await waitedFor(usual.person, question);
    expect(await asked).toBe("gave up");
    await new Promise((resolve) => setTimeout(resolve, laterMs));
    await usual.person.answer(questionId, `answer ${laterMs}`);
    const next = await client.call("human_wait", {});
    expect((next as CallResult).content[0]?.text).toBe(`answer ${laterMs}`);
  });
});

test.each(["SDK v2, modern", "SDK v1"] as const)("[EE37] [HU36] %s is told meanwhile that the person is waited for", async (name) => {
  await using client = await SDK_CLIENTS[name](usual.agent);
  const reports: (string | undefined)[] = [];
  const result = await client.call("human_wait", { timeout: 13 }, { onprogress: ({ message }) => reports.push(message) });
  expect(result.structuredContent).toMatchObject({ status: "no_message" });
  expect(reports).toEqual(["waiting for the person, 12 s"]);
});
