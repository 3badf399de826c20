import { describe } from "vitest";
import { playedTransports } from "../support/adapter-under-test.ts";
import { ScriptedUpstreams } from "../support/scripted-upstreams.ts";
import { serverDefinition } from "../support/server-definitions.ts";
import { httpServer, stdioServer } from "../support/server-transports.ts";
import { fixtureCommand } from "../support/upstream-fixture.ts";
import { transportsUnderTest } from "../support/upstream-transports.ts";
import { describeTransportFactory } from "./transport-factory.contract.ts";

const named = { good: serverDefinition("good"), unusable: serverDefinition("unusable"), slow: serverDefinition("slow") };
const failure = { kind: "config", message: "The definition cannot be used." } as const;

describe("over programs, and an address that lacks a variable", () => {
  describeTransportFactory(() => {
    const { factory, define } = transportsUnderTest();
    const { command, args } = fixtureCommand("good");
    const good = stdioServer(command, args);
    const slow = stdioServer(command, args, { env: { TOKEN: "!sleep 60" } });
    return { factory, good: define(good), slow: define(slow), unusable: define(httpServer("https://example.test/${NOWHERE}")) };
  });
});

describe("over servers that a test plays message by message", () => {
  describeTransportFactory(() => {
    const factory = new ScriptedUpstreams();
    factory.script("unusable").failure = failure;
    factory.script("slow").opening = new Promise(() => {});
    return { factory, ...named };
  });
});

describe("over servers that a test plays with the SDK", () => {
  describeTransportFactory(() => {
    const opening = new Promise<void>(() => {});
    const servers = { good: { tools: { look: {} } }, unusable: { tools: {}, down: failure }, slow: { tools: {}, opening } };
    return { factory: playedTransports(servers, []), ...named };
  });
});
