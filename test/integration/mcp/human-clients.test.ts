/** The SDK clients that people's programs are built on talk with a person, over the loopback port. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLocalHttp, type LocalHttp } from "../../../local-agent/mcp/local-http.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { heard, QUESTION, scriptedHuman, typed } from "../../support/scripted-human.ts";
import { SDK_CLIENTS } from "../../support/sdk-clients.ts";
import { surfaceUnderTest } from "../../support/surface-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

const token = "token-for-talking-clients";
const human = scriptedHuman({ timers: systemTimers });
const { surface, ended } = surfaceUnderTest({}, { human: human.channel, keepAliveMs: 50 });
let server: LocalHttp;

beforeAll(async () => {
  const tokenSha256s = [createHash("sha256").update(token).digest("hex")];
  server = await createLocalHttp({ handler: surface.handle, host: "127.0.0.1", port: 0, tokenSha256s });
});
afterAll(() => server.close());

describe.each(Object.entries(SDK_CLIENTS))("%s", (_name, connect) => {
  test("[HU33] [HU40] asks, is told to go on waiting, and hears the answer with its image", async () => {
    await using client = await connect({ url: server.url, token });
    expect(await client.call("human_say", { text: "hello" })).toMatchObject({ structuredContent: { status: "shown" } });
    const asked = client.call("human_ask", { text: "Go on?", options: ["yes", "no"] });
    const before = human.waits.length;
    await waitUntil("it asks", () => human.waits.length === before + 1);
    human.hears({ at: "no_message", why: "budget" });
    expect(await asked).toMatchObject({ structuredContent: { status: "no_message", questionId: QUESTION.questionId } });
    expect((await asked).isError ?? false).toBe(false);
    const answer = client.call("human_wait", { questionId: QUESTION.questionId });
    await waitUntil("it waits", () => human.waits.length === before + 2);
    human.hears(heard(typed("yes", { questionId: QUESTION.questionId, images: [{ id: "f".repeat(32), mimeType: "image/png", bytes: 2 }] })));
    expect((await answer).content).toEqual([
      { type: "text", text: "yes" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ]);
  });

  test("[HU35] a client that gives up first ends its waiting alone: the question is neither withdrawn nor asked again", async () => {
    await using client = await connect({ url: server.url, token });
    const [asked, before] = [human.orders.length, human.waits.length];
    await expect(client.call("human_ask", { text: "Go on?" }, { timeout: 100 })).rejects.toThrow();
    await waitUntil("the waiting is over", () => human.waits[before]?.signal.aborted === true);
    await waitUntil("the call has ended", () => ended.at(-1)?.state === "cancelled");
    expect(human.orders).toHaveLength(asked + 1);
  });
});
