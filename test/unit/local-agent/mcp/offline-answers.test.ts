import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import * as v from "valibot";
import { expect, test } from "vitest";
import { OfflineAnswers } from "../../../../shared/wire/frames.ts";
import { text } from "../../../support/scripted-tools.ts";
import { context, legacyRequest, modernRequest, reply, surfaceUnderTest, type Message } from "../../../support/surface-under-test.ts";

const { surface, begun, tools } = surfaceUnderTest({ echo: () => text("ran"), other: () => text("ran") });
const live = async (request: Request) => (await reply(await surface.handle(request, context()))).result;

test("[MC28] initialize equals the live answer in every legacy version", async () => {
  const { legacy } = await surface.offlineAnswers();
  expect(Object.keys(legacy.initialize)).toEqual([...SUPPORTED_PROTOCOL_VERSIONS]);
  for (const [protocolVersion, deposited] of Object.entries(legacy.initialize)) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } };
    expect(deposited).toEqual(await live(legacyRequest({ id: 1, method: "initialize", params })));
    expect(deposited["protocolVersion"]).toBe(protocolVersion);
  }
  expect(legacy.initialize[legacy.fallbackVersion]).toBeDefined();
});

test("[MC28] the lists equal the live answers of their era, and every declared capability is answered", async () => {
  const offline = v.parse(OfflineAnswers, await surface.offlineAnswers());
  const message = (method: string): Message => ({ id: 1, method, ...(method === "logging/setLevel" && { params: { level: "info" } }) });
  for (const [method, deposited] of Object.entries(offline.legacy.results)) expect(deposited).toEqual(await live(legacyRequest(message(method))));
  for (const [method, deposited] of Object.entries(offline.modern.results)) expect(deposited).toEqual(await live(modernRequest(message(method))));
  expect(Object.keys(offline.legacy.results)).toEqual(["tools/list", "prompts/list", "ping", "logging/setLevel"]);
  expect(Object.keys(offline.modern.results)).toEqual(["server/discover", "tools/list", "prompts/list"]);
  expect(offline.modern.results["tools/list"]).toMatchObject({ resultType: "complete", cacheScope: "private", ttlMs: expect.any(Number) });
});

test("[MC28] a deposited tool call is an error with the sentence since when, and asking runs and records nothing", async () => {
  const { legacy, modern } = await surface.offlineAnswers();
  for (const call of [legacy.toolCall, modern.toolCall]) {
    expect(call).toMatchObject({ isError: true, content: [{ type: "text", text: expect.stringMatching(/^\{away\} Nothing was run/) }] });
  }
  expect(modern.toolCall).toMatchObject({ resultType: "complete" });
  expect([tools.seen, begun]).toEqual([[], []]);
});

test("[MC28] asking for them asks nobody's approval, whichever tool needs it", async () => {
  const never = new Promise<never>(() => {});
  const guarded = surfaceUnderTest({ echo: () => text("ran") }, { gate: { guards: () => true, ask: () => never } });
  expect((await guarded.surface.offlineAnswers()).legacy.toolCall).toMatchObject({ isError: true });
});
