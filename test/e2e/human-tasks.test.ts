/** A client that declares the tasks extension, over the real relay: a question outlives everything between it and the person. */
import { expect, test } from "vitest";
import { ask, type Endpoint } from "../support/agent-requests.ts";
import { freePort } from "../support/free-port.ts";
import { personAt } from "../support/person.ts";
import { newHome } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";
import { toolCall } from "../support/surface-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

const _meta = { "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } } };

async function about(at: Endpoint, method: string, taskId: string): Promise<Record<string, unknown>> {
  const answer = await ask(at, { id: 1, method: `tasks/${method}`, params: { taskId, _meta } }, { era: "modern", headers: { "mcp-name": taskId } });
  return answer.result ?? {};
}

async function askAsTask(at: Endpoint, text: string): Promise<string> {
  const call = toolCall(1, "human_ask", { text });
  const { result } = await ask(at, { ...call, params: { ...call.params, _meta } }, { era: "modern" });
  expect(result).toMatchObject({ resultType: "task", status: "working" });
  return String(result?.["taskId"]);
}

test("[HU50] [HU51] a question as a task is answered after the agent was killed, and its answer is read once and told again", async () => {
  await using relay = await startRelayApart();
  await using home = newHome();
  const args = ["--human", "--ui-port", String(await freePort())];
  const first = await relay.dial(home, { args });
  const taskId = await askAsTask(first, "Deploy?");
  expect(await about(first, "get", taskId)).toMatchObject({ status: "working" });
  await first.kill9();
  await using agent = await relay.dial(home, { args });
  const person = personAt(() => agent.pageUrl());
  await waitUntil("the question is back on the page", async () => (await person.openQuestions()).length === 1);
  expect(await about(agent, "get", taskId)).toMatchObject({ status: "working" });
  await person.answer(taskId, "yes");
  expect(await about(agent, "get", taskId)).toMatchObject({ status: "completed", result: { content: [{ type: "text", text: "yes" }] } });
  await waitUntil("it counts as read", async () =>
    (await person.conversation()).entries.some((entry) => entry.kind === "typed" && entry.text === "yes" && entry.state === "read"),
  );
  expect(await about(agent, "get", taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "yes" }, {}] } });
});

test("[HU52] a cancelled task is withdrawn from the page", async () => {
  await using relay = await startRelayApart();
  await using home = newHome();
  await using agent = await relay.dial(home, { args: ["--human"] });
  const person = personAt(() => agent.pageUrl());
  const taskId = await askAsTask(agent, "Still needed?");
  await about(agent, "cancel", taskId);
  expect(await person.openQuestions()).toEqual([]);
  expect((await person.conversation()).entries).toMatchObject([{ kind: "asked", state: "withdrawn" }]);
  expect(await about(agent, "get", taskId)).toMatchObject({ status: "cancelled" });
  const late = await person.post("/api/answer", { id: crypto.randomUUID(), questionId: taskId, text: "yes" });
  expect(late.body).toEqual({ outcome: "over" });
});
