import { describe, expect, test } from "vitest";
import type { HeadFrame } from "../../../../shared/wire/frames.ts";
import { LIMITS } from "../../../../shared/wire/limits.ts";
import { RelayExchanges, type NewRequest, type RelayEffect } from "../../../../shared/wire/relay-exchanges.ts";

const request: NewRequest = {
  method: "POST",
  path: "/mcp",
  headers: [],
  principal: { id: "grant:1", kind: "grant", name: "client", scope: [] },
};
const NOTHING = new Uint8Array(0);
const KIB = 1024;
const t0 = 1_000_000;
const text = (value: string) => new TextEncoder().encode(value);
const kinds = (effects: readonly RelayEffect[]) => effects.map((effect) => effect.do);
const hello = (instance: string, begun: number[] = [], epoch = "epoch-1") => ({ instance, epoch, begun: begun.map((x) => ({ x, next: 0 })) });
const head = (x: number, last: string | null = "last words", type = "text/event-stream"): HeadFrame => ({
  t: "head",
  x,
  status: 200,
  headers: [["content-type", type]],
  last,
});

/** A relay whose agent is there; its first exchange is number 101. */
function linked(instance = "a") {
  const relay = new RelayExchanges("epoch-1", 100);
  relay.linkUp(hello(instance), t0);
  return relay;
}

function opened(relay: RelayExchanges, body = NOTHING, now = t0) {
  const result = relay.open(request, body, now);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/** An exchange that has its head and `pieces` of data, in a relay whose agent is there. */
function answering(...pieces: string[]) {
  const relay = linked();
  const { x } = opened(relay);
  relay.got(x, t0);
  relay.head(head(x), t0);
  for (const [index, piece] of pieces.entries()) relay.data(x, index + 1, text(piece), t0);
  return { relay, x };
}

describe("bounds", () => {
  const of = (id: string) => ({ ...request, principal: { ...request.principal, id } });

  test("[WP4] the sixty-fifth exchange is refused until one ends", () => {
    const relay = linked();
    const results = ["a", "b"].flatMap((id) => Array.from({ length: 32 }, () => relay.open(of(id), NOTHING, t0)));
    expect(results.every((result) => result.ok)).toBe(true);
    expect(relay.open(of("c"), NOTHING, t0)).toEqual({ ok: false, error: "too_many" });
    const [first] = results;
    if (first?.ok === true) relay.clientGone(first.value.x);
    expect(relay.open(of("c"), NOTHING, t0).ok).toBe(true);
  });

  test("[WP4] the thirty-third exchange of one client is refused while others get theirs", () => {
    const relay = linked();
    for (let n = 0; n < 32; n++) expect(relay.open(of("a"), NOTHING, t0).ok).toBe(true);
    expect(relay.open(of("a"), NOTHING, t0)).toEqual({ ok: false, error: "too_many" });
    expect(relay.open(of("b"), NOTHING, t0).ok).toBe(true);
  });

  test("[WP4] request bodies above 32 MiB in all are refused until a head comes", () => {
    const relay = linked();
    const body = new Uint8Array(LIMITS.requestBytes);
    const numbers = Array.from({ length: 8 }, () => opened(relay, body).x);
    expect(relay.heldBytes).toBe(32 * KIB * KIB);
    expect(relay.open(request, new Uint8Array(1), t0)).toEqual({ ok: false, error: "too_much_held" });
    expect(relay.open(request, NOTHING, t0).ok).toBe(true);
    relay.got(numbers[0]!, t0);
    expect(relay.open(request, new Uint8Array(1), t0).ok).toBe(false);
    relay.head(head(numbers[0]!), t0);
    expect(relay.open(request, body, t0).ok).toBe(true);
  });

  test.each<[string, Partial<NewRequest>, number]>([
    ["a body above 4 MiB", {}, LIMITS.requestBytes + 1],
    ["a header above 16 KiB", { headers: [["mcp-name", "a".repeat(16_385)]] }, 0],
    ["201 headers", { headers: Array.from({ length: 201 }, (): [string, string] => ["mcp-a", "b"]) }, 0],
    ["a path above 16 KiB", { path: `/mcp?${"a".repeat(16_384)}` }, 0],
  ])("[WP4] %s is refused, because the agent would end the socket for it", (_what, change, bytes) => {
    const relay = linked();
    expect(relay.open({ ...request, ...change }, new Uint8Array(bytes), t0)).toEqual({ ok: false, error: "not_a_frame" });
    expect([relay.size, relay.heldBytes]).toEqual([0, 0]);
  });

  test("[WP4] numbers go on at 1 after 4294967295 and pass over those that are open", () => {
    const relay = new RelayExchanges("epoch-1", 0xffff_fffd, { at: "up", instance: "a" });
    expect([opened(relay).x, opened(relay).x, opened(relay).x]).toEqual([0xffff_fffe, 0xffff_ffff, 1]);
    const again = new RelayExchanges("epoch-1", 0xffff_ffff, { at: "up", instance: "a" });
    expect(opened(again).x).toBe(1);
  });
});

describe("delivery", () => {
  test("[WP6] a body follows its request in numbered pieces of 256 KiB", () => {
    const { effects } = opened(linked(), new Uint8Array(600 * KIB));
    expect(effects.map((effect) => (effect.do === "request-data" ? [effect.seq, effect.bytes.byteLength] : effect.do))).toEqual([
      "request",
      [0, 256 * KIB],
      [1, 256 * KIB],
      [2, 88 * KIB],
    ]);
  });

  test("[WP10] the same instance gets again what it did not begin, and goes on with what it did", () => {
    const relay = linked();
    const [lost, begun, answered] = [opened(relay).x, opened(relay).x, opened(relay).x];
    relay.got(answered, t0);
    relay.head(head(answered), t0);
    relay.data(answered, 1, text("a"), t0);
    relay.linkLost("unannounced", t0);
    const { held, effects } = relay.linkUp(hello("a", [begun, answered]), t0 + 1);
    expect(held).toEqual([
      { x: begun, next: 0 },
      { x: answered, next: 2 },
    ]);
    expect(effects).toEqual([
      { do: "request", frame: { t: "request", x: lost, bytes: 0, ...request } },
      { do: "ack", x: answered, next: 1 },
    ]);
  });

  test("[WP10] what the agent said it had begun and no longer lists is not delivered again", () => {
    const relay = linked();
    const { x } = opened(relay, text("body"));
    relay.got(x, t0);
    const { held, effects } = relay.linkUp(hello("a"), t0);
    expect(held).toEqual([]);
    expect(effects).toEqual([{ do: "fail", x, failure: { why: "agent_lost", afterHead: false, last: null, body: text("body") } }]);
  });

  test("[WP10] a list of another epoch says nothing", () => {
    const relay = linked();
    const { x } = opened(relay);
    const { held, effects } = relay.linkUp(hello("a", [x], "epoch-0"), t0);
    expect([held, kinds(effects)]).toEqual([[], ["request"]]);
  });

  test("[WP11] another instance never gets what was put on a socket, even if it lists it", () => {
    const relay = linked("a");
    const { x } = opened(relay, text("body"));
    const { held, effects } = relay.linkUp(hello("b", [x]), t0);
    expect(held).toEqual([]);
    expect(effects).toEqual([{ do: "fail", x, failure: { why: "agent_restarted", afterHead: false, last: null, body: text("body") } }]);
  });

  test("[WP11] another instance gets what was never put on a socket", () => {
    const relay = linked("a");
    relay.linkLost("unannounced", t0);
    const { x, effects: none } = opened(relay);
    expect(none).toEqual([]);
    const { effects } = relay.linkUp(hello("b"), t0 + 1);
    expect(effects).toEqual([{ do: "request", frame: { t: "request", x, bytes: 0, ...request } }]);
  });

  test("[WP12] an answer whose instance was replaced ends with its last words", () => {
    const { relay, x } = answering("data: a\n\n");
    const { effects } = relay.linkUp(hello("b"), t0);
    expect(effects).toEqual([{ do: "fail", x, failure: { why: "agent_restarted", afterHead: true, last: "last words", body: NOTHING } }]);
  });

  test("[WP8] [WP12] an answer that is complete outlives its agent while its client reads", () => {
    const { relay, x } = answering("a");
    relay.end(x, 2, true, t0);
    expect(relay.linkUp(hello("b"), t0)).toEqual({ held: [], effects: [] });
    expect(relay.linkLost("announced", t0)).toEqual([]);
    expect([relay.size, kinds(relay.closed(x)), relay.size]).toEqual([1, ["ack"], 0]);
  });
});

describe("without a link", () => {
  test("[WP14] nothing waits before the first hello", () => {
    expect(new RelayExchanges("epoch-1", 0).accepts(t0)).toBe(false);
  });

  test("[WP14] requests wait in the first ten seconds after an unannounced loss, each for ten seconds", () => {
    const relay = linked();
    relay.linkLost("unannounced", t0);
    expect([relay.accepts(t0 + 9_999), relay.accepts(t0 + 10_000)]).toEqual([true, false]);
    const { x } = opened(relay, text("body"), t0 + 9_000);
    expect(relay.tick(t0 + 18_999)).toEqual([]);
    expect(relay.tick(t0 + 19_000)).toEqual([{ do: "fail", x, failure: { why: "away", afterHead: false, last: null, body: text("body") } }]);
    expect([relay.size, relay.heldBytes]).toEqual([0, 0]);
  });

  test("[WP14] a close that follows, or comes twice, does not start the wait again", () => {
    const relay = linked();
    relay.linkLost("unannounced", t0);
    relay.linkLost("unannounced", t0 + 5_000);
    expect(relay.accepts(t0 + 10_000)).toBe(false);
    const left = linked();
    left.linkLost("announced", t0);
    left.linkLost("unannounced", t0);
    expect(left.accepts(t0)).toBe(false);
  });

  test("[WP14] [WP15] after bye everything open ends at once", () => {
    const relay = linked();
    const sent = opened(relay, text("body")).x;
    const answered = opened(relay).x;
    relay.head(head(answered), t0);
    const effects = relay.linkLost("announced", t0);
    expect(effects).toEqual([
      { do: "fail", x: sent, failure: { why: "agent_lost", afterHead: false, last: null, body: text("body") } },
      { do: "fail", x: answered, failure: { why: "agent_lost", afterHead: true, last: "last words", body: NOTHING } },
    ]);
    expect([relay.size, relay.accepts(t0)]).toEqual([0, false]);
  });
});

describe("an answer", () => {
  test("[WP13] is passed on in order, each frame once", () => {
    const { relay, x } = answering("a");
    expect(relay.head(head(x), t0)).toEqual([]);
    expect(relay.data(x, 1, text("a"), t0)).toEqual([]);
    expect(relay.data(x, 2, text("b"), t0)).toEqual([{ do: "write", x, seq: 2, bytes: text("b") }]);
    expect(kinds(relay.end(x, 3, true, t0))).toEqual(["finish"]);
    expect(relay.end(x, 3, true, t0)).toEqual([]);
  });

  test("[WP13] with a gap breaks the socket and goes on where it was", () => {
    const { relay, x } = answering("a");
    expect(kinds(relay.data(x, 3, text("c"), t0))).toEqual(["break"]);
    relay.linkLost("unannounced", t0);
    expect(relay.linkUp(hello("a", [x]), t0).held).toEqual([{ x, next: 2 }]);
    expect(kinds(relay.data(x, 2, text("b"), t0))).toEqual(["write"]);
  });

  test.each<[string, (relay: RelayExchanges, x: number) => RelayEffect[]]>([
    ["data", (relay, x) => relay.data(x, 0, text("a"), t0)],
    ["an end", (relay, x) => relay.end(x, 0, true, t0)],
  ])("[WP13] that begins with %s breaks the socket, and its head is still wanted", (_what, receive) => {
    const relay = linked();
    const { x } = opened(relay);
    expect(kinds(receive(relay, x))).toEqual(["break"]);
    expect(relay.linkUp(hello("a", [x]), t0).held).toEqual([{ x, next: 0 }]);
    expect(kinds(relay.head(head(x), t0))).toEqual(["head"]);
  });

  test("[WP13] to a request that was never sent breaks the socket", () => {
    const relay = linked();
    relay.linkLost("unannounced", t0);
    const { x } = opened(relay);
    expect(kinds(relay.head(head(x), t0))).toEqual(["break"]);
  });

  test("[WP13] after its end, or to nobody's request, breaks the socket or changes nothing", () => {
    const { relay, x } = answering();
    relay.end(x, 1, true, t0);
    expect(kinds(relay.data(x, 2, text("b"), t0))).toEqual(["break"]);
    expect([relay.got(7, t0), relay.head(head(7), t0), relay.data(7, 0, text("a"), t0), relay.end(7, 0, true, t0)]).toEqual([[], [], [], []]);
  });

  test("[WP7] that overruns its window breaks the socket, and the frame too much is still wanted", () => {
    const { relay, x } = answering();
    const piece = new Uint8Array(256 * KIB);
    for (const seq of [1, 2, 3, 4]) expect(kinds(relay.data(x, seq, piece, t0))).toEqual(["write"]);
    expect(kinds(relay.data(x, 5, new Uint8Array(1), t0))).toEqual(["break"]);
    expect(relay.linkUp(hello("a", [x]), t0).held).toEqual([{ x, next: 5 }]);
    relay.consumed(x, 1, piece.byteLength, t0);
    expect(kinds(relay.data(x, 5, new Uint8Array(1), t0))).toEqual(["write"]);
  });

  test("[WP7] is acknowledged in lots of 128 KiB or 32 frames", () => {
    const { relay, x } = answering(...Array<string>(40).fill("a"));
    const acks = Array.from({ length: 40 }, (_, index) => relay.consumed(x, index + 1, 1, t0)).flat();
    expect(acks).toEqual([{ do: "ack", x, next: 32 }]);
    relay.data(x, 41, new Uint8Array(128 * KIB), t0);
    expect(relay.consumed(x, 41, 128 * KIB, t0)).toEqual([{ do: "ack", x, next: 42 }]);
  });

  test("[WP7] an acknowledgement that may have been lost is said again on the next socket", () => {
    const { relay, x } = answering("a", "b");
    relay.consumed(x, 1, 1, t0);
    expect(relay.linkUp(hello("a", [x]), t0)).toEqual({ held: [{ x, next: 3 }], effects: [{ do: "ack", x, next: 2 }] });
  });

  test("[WP8] is settled when its client has read to the end, not when the end arrives", () => {
    const { relay, x } = answering("a");
    relay.end(x, 2, true, t0);
    expect([relay.consumed(x, 1, 1, t0), relay.size]).toEqual([[], 1]);
    expect(relay.closed(x)).toEqual([{ do: "ack", x, next: 3 }]);
    expect([relay.closed(x), relay.size]).toEqual([[], 0]);
  });

  test("[WP15] that broke in the agent is acknowledged and ends with its last words", () => {
    const { relay, x } = answering("a");
    expect(relay.end(x, 2, false, t0)).toEqual([
      { do: "ack", x, next: 3 },
      { do: "fail", x, failure: { why: "broken_answer", afterHead: true, last: "last words", body: NOTHING } },
    ]);
    expect(relay.tick(t0 + LIMITS.lifeMs)).toEqual([]);
  });
});

describe("a client that goes away", () => {
  test("[WP16] is told to the agent, once", () => {
    const { relay, x } = answering("a");
    expect(relay.clientGone(x)).toEqual([{ do: "cancel", x, why: "client_gone" }]);
    expect([relay.clientGone(x), relay.consumed(x, 1, 1, t0), relay.size]).toEqual([[], [], 0]);
  });

  test("[WP16] takes with it a request that nobody has seen", () => {
    const relay = linked();
    relay.linkLost("unannounced", t0);
    const { x } = opened(relay, text("body"));
    expect([relay.clientGone(x), relay.heldBytes]).toEqual([[], 0]);
    expect(relay.linkUp(hello("a"), t0).effects).toEqual([]);
  });
});

describe("deadlines", () => {
  test("[WP17] [WP16] ninety seconds of silence end an exchange before its agent is told", () => {
    const relay = linked();
    const { x } = opened(relay, text("body"));
    expect(relay.tick(t0 + 89_999)).toEqual([]);
    expect(relay.tick(t0 + 90_000)).toEqual([
      { do: "fail", x, failure: { why: "deadline", afterHead: false, last: null, body: text("body") } },
      { do: "cancel", x, why: "deadline" },
    ]);
  });

  test.each<[string, (relay: RelayExchanges, x: number, now: number) => unknown]>([
    ["a got", (relay, x, now) => relay.got(x, now)],
    ["a frame", (relay, x, now) => relay.data(x, 1, text("a"), now)],
    ["a new link", (relay, x, now) => relay.linkUp(hello("a", [x]), now)],
    ["a lost link", (relay, _x, now) => relay.linkLost("unannounced", now)],
  ])("[WP17] %s starts the count anew", (_what, happen) => {
    const { relay, x } = answering();
    happen(relay, x, t0 + 80_000);
    expect(relay.tick(t0 + 169_999).filter((effect) => effect.do === "fail")).toEqual([]);
    expect(kinds(relay.tick(t0 + 170_000))).toContain("fail");
  });

  test("[WP17] a client that reads starts the count anew, one that does not read ends its exchange", () => {
    const { relay, x } = answering("a");
    relay.consumed(x, 1, 1, t0 + 80_000);
    expect(relay.tick(t0 + 169_999)).toEqual([]);
    expect(kinds(relay.tick(t0 + 170_000))).toEqual(["fail", "cancel"]);
  });

  test("[WP17] frames that are repeated or break the protocol do not keep an exchange alive", () => {
    const { relay, x } = answering("a");
    relay.data(x, 1, text("a"), t0 + 80_000);
    relay.data(x, 9, text("a"), t0 + 80_000);
    expect(kinds(relay.tick(t0 + 90_000))).toEqual(["fail", "cancel"]);
  });

  test("[WP17] nothing lives longer than an hour", () => {
    const { relay, x } = answering();
    for (let minute = 1; minute < 60; minute += 1) {
      relay.data(x, minute, text("a"), t0 + minute * 60_000);
      relay.consumed(x, minute, 1, t0 + minute * 60_000);
      expect(relay.tick(t0 + minute * 60_000)).toEqual([]);
    }
    expect(kinds(relay.tick(t0 + LIMITS.lifeMs))).toEqual(["fail", "cancel"]);
  });

  test("[WP17] without a link the failure says that the agent was lost, and nobody is told to cancel", () => {
    const { relay, x } = answering("a");
    relay.linkLost("unannounced", t0);
    expect(relay.tick(t0 + 90_000)).toEqual([{ do: "fail", x, failure: { why: "agent_lost", afterHead: true, last: "last words", body: NOTHING } }]);
  });
});

describe("comments", () => {
  const comments = (relay: RelayExchanges, now: number) => kinds(relay.tick(now)).filter((kind) => kind === "comment").length;

  test("[WP17] are written every fifteen seconds while the link is away", () => {
    const { relay } = answering("data: a\n\n");
    relay.linkLost("unannounced", t0);
    expect([14_999, 15_000, 16_000, 29_999, 30_000].map((ms) => comments(relay, t0 + ms))).toEqual([0, 1, 0, 0, 1]);
  });

  test("[WP17] are not written while the link is up", () => {
    const { relay } = answering("data: a\n\n");
    expect(comments(relay, t0 + 60_000)).toBe(0);
  });

  test.each(["data: a", "data: a\n", "data: \n\nb", "\n", "\r\n\r\n"])("[WP17] are not written after %j", (piece) => {
    const { relay } = answering(piece);
    relay.linkLost("unannounced", t0);
    expect(comments(relay, t0 + 60_000)).toBe(0);
  });

  test("[WP17] are not written into an answer that is no event stream, nor after its end", () => {
    const relay = linked();
    const json = opened(relay).x;
    relay.head(head(json, null, "application/json"), t0);
    relay.data(json, 1, text("{}\n\n"), t0);
    const ended = opened(relay).x;
    relay.head(head(ended), t0);
    relay.data(ended, 1, text("data: a\n\n"), t0);
    relay.end(ended, 2, true, t0);
    relay.linkLost("unannounced", t0);
    expect(comments(relay, t0 + 60_000)).toBe(0);
  });
});
