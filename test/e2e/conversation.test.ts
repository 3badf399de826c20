/**
 * A remote agent and a person who talk through the real relay while everything between them dies, at points chosen by a
 * seeded generator: the agent is killed and started again, the link is cut, the object is evicted between exchanges, the
 * relay restarts during them, and the page is opened anew.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { callTool } from "../support/agent-requests.ts";
import { freePort } from "../support/free-port.ts";
import { personAt, type Person } from "../support/person.ts";
import { newHome, type Pimcp } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";
import { LAST, listen, seeded, wordsOf } from "../support/talking-client.ts";
import { waitUntil } from "../support/wait-until.ts";

const TURNS = 30;
const SEED = Number(process.env["CONVERSATION_SEED"] ?? "20261130");

test(`[EE30] every word of ${TURNS} turns arrives, in order, whatever dies between (seed ${SEED})`, { timeout: 300_000 }, async () => {
  const random = seeded(SEED);
  await using relay = await startRelayApart();
  await using home = newHome();
  const args = ["--human", "--block-ms", "4000", "--ui-port", String(await freePort())];
  let agent: Pimcp = await relay.dial(home, { args });
  const endpoint = { url: agent.url, token: agent.token };
  const person = personAt(() => agent.pageUrl());
  const between = betweenExchanges();
  let evictions = 0;
  const disturbances: Record<string, () => Promise<void>> = {
    "the agent is killed": async () => {
      await agent.kill9();
      await sleep(random() * 500);
      agent = await relay.dial(home, { args });
    },
    "the link is cut": async () => relay.proxy.cut(),
    "the network is away": async () => {
      relay.proxy.refuse(true);
      relay.proxy.cut();
      await sleep(random() * 1500);
      relay.proxy.refuse(false);
    },
    // An object with an open exchange is not evicted, so the remote agent makes room for it.
    "the object is evicted": () => between.run(async () => void (evictions += await relay.worker.hibernate().then(always(1), always(0)))),
    "the relay restarts": () => relay.worker.redeploy(),
    "the page is opened anew": async () => void (await person.shows().catch(() => undefined)),
  };
  const over = new AbortController();
  const happened: string[] = [];
  const disturbing = disturb(disturbances, random, over.signal, happened);
  const typing = type(person, random);
  const heard = await listen(endpoint, TURNS, () => between.now());
  const typed = await typing;
  over.abort();
  between.close();
  await disturbing;

  expect(Object.keys(disturbances).filter((what) => !happened.includes(what))).toEqual([]);
  expect(evictions).toBeGreaterThan(0);
  const words = heard.filter((word) => !word.isRepeat).map((word) => word.text);
  const all = heard.map((word) => word.text);
  // Each word's first arrival is in order, marked as a repeat or not: it may be marked when nobody knows that the first try failed.
  expect([...new Set(all)]).toEqual(typed);
  // What came twice says so the second time.
  expect(words).toEqual([...new Set(words)]);
  expect(all.length - typed.length).toBeLessThanOrEqual(TURNS / 3);
  const marks = (await person.conversation()).entries.filter((entry) => entry.kind === "typed").map((entry) => entry.state);
  expect(new Set(marks)).toEqual(new Set(["read"]));
  await agent.stop();
});

interface BetweenExchanges {
  /** Runs it once the remote agent has no call open; after `close` at once. */
  run(step: () => Promise<void>): Promise<void>;
  /** The remote agent has none now. */
  now(): Promise<void>;
  close(): void;
}

function betweenExchanges(): BetweenExchanges {
  let waiting: (() => Promise<void>) | undefined;
  let isClosed = false;
  const now = async (): Promise<void> => {
    const step = waiting;
    waiting = undefined;
    await step?.();
  };
  return {
    run(step) {
      if (isClosed) return step();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting = () => step().then(resolve, reject);
      return promise;
    },
    now,
    close() {
      isClosed = true;
      void now();
    },
  };
}

const always =
  <T>(value: T) =>
  (): T =>
    value;

/** The person: answers what is asked, and now and then says two or three things unasked. Returns everything in order. */
async function type(person: Person, random: () => number): Promise<string[]> {
  const typed: string[] = [];
  const answered = new Set<string>();
  const say = async (send: (text: string) => Promise<string>, text: string): Promise<void> => {
    typed.push(text);
    await send(text);
  };
  while (typed.length < TURNS * 1.5) {
    const [question] = (await person.openQuestions().catch(() => [])).filter(({ id }) => !answered.has(id));
    if (question !== undefined) {
      answered.add(question.id);
      // What was said unasked meanwhile may have answered it already: then this is one more message.
      await say((text) => person.answer(question.id, text).catch(() => person.say(text)), `w${typed.length + 1}`);
    }
    if (random() < 0.25) for (let more = Math.ceil(random() * 3); more > 0; more--) await say((text) => person.say(text), `w${typed.length + 1}`);
    await sleep(50 + random() * 400);
  }
  await say((text) => person.say(text), LAST);
  return typed;
}

/** Until it is aborted, and at least until everything has happened once. */
async function disturb(what: Record<string, () => Promise<void>>, random: () => number, over: AbortSignal, happened: string[]): Promise<void> {
  const names = Object.keys(what);
  const left = names.toSorted(() => random() - 0.5);
  while (!over.aborted) {
    await sleep(300 + random() * 1200);
    const name = left.pop() ?? names[Math.floor(random() * names.length)] ?? "";
    happened.push(name);
    await what[name]?.();
  }
}

test("[EE31] what the person wrote while nobody listened is handed over together, and read marks follow", async () => {
  await using relay = await startRelayApart();
  await using home = newHome();
  await using agent = await relay.dial(home, { args: ["--human"] });
  const person = personAt(() => agent.pageUrl());
  await person.say("w1");
  await person.say("w2");
  expect((await person.conversation()).entries.map((entry) => (entry.kind === "typed" ? entry.state : entry.kind))).toEqual(["queued", "queued"]);
  const result = await callTool(agent, "human_wait", {});
  expect(wordsOf(result).map((word) => word.text)).toEqual(["w1", "w2"]);
  await waitUntil("both are read", async () =>
    (await person.conversation()).entries.every((entry) => entry.kind === "typed" && entry.state === "read"),
  );
});
