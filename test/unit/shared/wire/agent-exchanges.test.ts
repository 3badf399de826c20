import { describe, expect, test } from "vitest";
import { AgentExchanges, type AgentEffect, type AnswerHead } from "../../../../shared/wire/agent-exchanges.ts";
import { decodeAgentFrame, encodeControl } from "../../../../shared/wire/codec.ts";
import { LIMITS } from "../../../../shared/wire/limits.ts";
import { aRequest } from "../../../support/wire-frames.ts";

const KIB = 1024;
const bytes = (...values: number[]) => new Uint8Array(values);
const kinds = (effects: readonly AgentEffect[]) => effects.map((effect) => effect.do);
const aHead: AnswerHead = { status: 200, headers: [["content-type", "text/event-stream"]], last: "last words" };
const held = (...entries: [number, number][]) => ({ epoch: "epoch-1", held: entries.map(([x, next]) => ({ x, next })) });

function welcomed() {
  const agent = new AgentExchanges();
  agent.welcome(held());
  return agent;
}

/** An agent that has begun exchange 1 and sent its head and `pieces` frames of one byte. */
function answering(pieces = 0) {
  const agent = welcomed();
  agent.request(aRequest);
  agent.head(1, aHead);
  for (let piece = 0; piece < pieces; piece += 1) agent.answerData(1, bytes(piece));
  return agent;
}

describe("a request", () => {
  test("[WP10] begins when its whole body is there", () => {
    const agent = welcomed();
    const request = { ...aRequest, bytes: 3 };
    expect(agent.request(request)).toEqual([]);
    expect(agent.data(1, 0, bytes(1, 2))).toEqual([]);
    expect([agent.size, agent.begun()]).toEqual([0, []]);
    expect(agent.data(1, 1, bytes(3))).toEqual([
      { do: "got", x: 1 },
      { do: "begin", request, body: bytes(1, 2, 3) },
    ]);
    expect(agent.begun()).toEqual([{ x: 1, next: 0 }]);
  });

  test("[WP10] that is repeated begins once: while its body comes, while it runs, and when it is over", () => {
    const agent = welcomed();
    const request = { ...aRequest, bytes: 1 };
    agent.request(request);
    expect(agent.request(request)).toEqual([]);
    agent.data(1, 0, bytes(1));
    expect(agent.request(request)).toEqual([{ do: "got", x: 1 }]);
    expect(agent.data(1, 0, bytes(1))).toEqual([]);
    agent.head(1, aHead);
    agent.end(1, true);
    expect(agent.ack(1, 2)).toEqual([]);
    expect([agent.request(request), agent.size]).toEqual([[], 0]);
  });

  test("[WP10] that was cancelled while its body came does not begin when it is repeated", () => {
    const agent = welcomed();
    agent.request({ ...aRequest, bytes: 1 });
    expect(agent.cancel(1, "client_gone")).toEqual([]);
    expect([agent.data(1, 0, bytes(1)), agent.request(aRequest)]).toEqual([[], []]);
  });

  test("[WP10] half received when the link is lost is received again from its beginning", () => {
    const agent = welcomed();
    const request = { ...aRequest, bytes: 2 };
    agent.request(request);
    agent.data(1, 0, bytes(1));
    agent.linkLost();
    agent.welcome(held());
    expect(agent.data(1, 1, bytes(2))).toEqual([]);
    agent.request(request);
    agent.data(1, 0, bytes(1));
    expect(kinds(agent.data(1, 1, bytes(2)))).toEqual(["got", "begin"]);
  });

  test.each<[string, number, number]>([
    ["a body frame ahead", 1, 1],
    ["more bytes than announced", 0, 3],
  ])("[WP5] with %s breaks the socket", (_what, seq, size) => {
    const agent = welcomed();
    agent.request({ ...aRequest, bytes: 2 });
    expect(kinds(agent.data(1, seq, new Uint8Array(size)))).toEqual(["break"]);
    expect(agent.size).toBe(0);
  });

  test("[WP5] that nobody asked for is ignored: data, ack and cancel of unknown numbers", () => {
    const agent = welcomed();
    expect([agent.data(9, 0, bytes(1)), agent.ack(9, 1), agent.cancel(9, "deadline")]).toEqual([[], [], []]);
  });

  test("[WP12] before the welcome is ignored", () => {
    expect(new AgentExchanges().request(aRequest)).toEqual([]);
  });

  test("[WP4] above twice the relay's limit breaks the socket", () => {
    const agent = welcomed();
    for (let x = 1; x <= 128; x += 1) expect(kinds(agent.request({ ...aRequest, x, bytes: x % 2 }))).not.toContain("break");
    expect(kinds(agent.request({ ...aRequest, x: 129 }))).toEqual(["break"]);
  });

  test("[WP10] of an earlier epoch says nothing about the same number in this one", () => {
    const agent = answering();
    agent.linkLost();
    expect(agent.welcome({ epoch: "epoch-2", held: [{ x: 1, next: 1 }] })).toEqual([{ do: "stop", x: 1, why: "forgotten" }]);
    expect(kinds(agent.request(aRequest))).toEqual(["got", "begin"]);
  });
});

describe("an answer", () => {
  test("[WP7] is numbered from its head to its end", () => {
    const agent = welcomed();
    agent.request(aRequest);
    expect(agent.head(1, aHead)).toEqual([{ do: "send-head", x: 1, head: aHead }]);
    expect(agent.answerData(1, bytes(7))).toEqual([{ do: "send-data", x: 1, seq: 1, bytes: bytes(7) }]);
    expect(agent.end(1, true)).toEqual([{ do: "send-end", x: 1, seq: 2, whole: true }]);
    expect([agent.end(1, false), agent.answerData(1, bytes(8))]).toEqual([[], []]);
  });

  test("[WP7] has room for 1 MiB, and again for what is acknowledged", () => {
    const agent = answering();
    for (let piece = 0; piece < 4; piece += 1) agent.answerData(1, new Uint8Array(256 * KIB));
    expect(agent.room(1)).toBe(0);
    expect(agent.ack(1, 3)).toEqual([{ do: "resume", x: 1 }]);
    expect(agent.room(1)).toBe(512 * KIB);
    expect(agent.room(2)).toBeUndefined();
  });

  test("[WP7] what arrived and was not read still counts after a reconnect, and is not sent again", () => {
    const agent = answering();
    for (let piece = 0; piece < 4; piece += 1) agent.answerData(1, new Uint8Array(256 * KIB));
    agent.linkLost();
    expect(kinds(agent.welcome(held([1, 4])))).toEqual(["send-data", "resume"]);
    expect(agent.room(1)).toBe(0);
    agent.ack(1, 5);
    expect(agent.room(1)).toBe(LIMITS.windowBytes);
  });

  test("[WP8] is over when its end is acknowledged, not before, also when the end arrived on an earlier socket", () => {
    const agent = answering(1);
    agent.end(1, true);
    agent.ack(1, 2);
    expect(agent.size).toBe(1);
    agent.linkLost();
    expect(kinds(agent.welcome(held([1, 3])))).toEqual(["resume"]);
    expect([agent.ack(1, 3), agent.size]).toEqual([[], 0]);
  });

  test("[WP5] an acknowledgement of what was never sent breaks the socket and releases nothing", () => {
    const agent = answering(1);
    expect(kinds(agent.ack(1, 3))).toEqual(["break"]);
    expect(kinds(agent.ack(1, 0xffff_ffff))).toEqual(["break"]);
    expect(agent.room(1)).toBe(LIMITS.windowBytes - 1);
  });

  test("[WP12] is kept and not sent until the welcome says where it goes on", () => {
    const agent = answering(2);
    agent.linkLost();
    expect([agent.answerData(1, bytes(9)), agent.end(1, true)]).toEqual([[], []]);
    expect(agent.begun()).toEqual([{ x: 1, next: 5 }]);
    expect(agent.welcome(held([1, 2]))).toEqual([
      { do: "send-data", x: 1, seq: 2, bytes: bytes(1) },
      { do: "send-data", x: 1, seq: 3, bytes: bytes(9) },
      { do: "send-end", x: 1, seq: 4, whole: true },
      { do: "resume", x: 1 },
    ]);
  });

  test("[WP12] that the relay does not name is stopped, and nothing more of it is sent", () => {
    const agent = answering(1);
    agent.linkLost();
    expect(agent.welcome(held())).toEqual([{ do: "stop", x: 1, why: "forgotten" }]);
    expect([agent.answerData(1, bytes(1)), agent.end(1, true), agent.room(1), agent.size]).toEqual([[], [], undefined, 0]);
  });

  test.each(["client_gone", "deadline"] as const)("[WP16] is stopped with the relay's reason, %s, once", (why) => {
    const agent = answering(1);
    expect(agent.cancel(1, why)).toEqual([{ do: "stop", x: 1, why }]);
    expect([agent.cancel(1, why), agent.request(aRequest)]).toEqual([[], []]);
  });

  test.each<[string, Partial<AnswerHead>, AnswerHead]>([
    ["last words above 64 KiB", { last: "a".repeat(LIMITS.headBytes + 1) }, { ...aHead, last: null }],
    ["a header above 16 KiB", { headers: [["a", "b".repeat(16_385)]] }, { status: 500, headers: [["content-type", "text/plain"]], last: null }],
    ["the status 101", { status: 101 }, { status: 500, headers: [["content-type", "text/plain"]], last: null }],
  ])("[WP5] with %s is made into one that a frame can carry", (_what, change, expected) => {
    const agent = welcomed();
    agent.request(aRequest);
    expect(agent.head(1, { ...aHead, ...change })).toEqual([{ do: "send-head", x: 1, head: expected }]);
    expect(decodeAgentFrame(encodeControl({ t: "head", x: 1, ...expected })).ok).toBe(true);
  });
});
