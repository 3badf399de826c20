/** The conversation as the tools of a client use it. */
import type { AskedQuestion, HumanChannel } from "../../shared/human/channel.ts";
import type { Asked, HumanClient, HumanEntry, NewAsked } from "../../shared/human/entry.ts";
import { StoreUnreachable, type HumanStore } from "../../shared/human/store.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { getImage } from "./image-pieces.ts";
import type { Waiting } from "./waiting.ts";
import type { WordKeeper } from "./word-keeper.ts";

export interface ChannelPorts {
  readonly store: HumanStore;
  readonly keeper: WordKeeper;
  readonly waiting: Waiting;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly isPageOpen: () => boolean;
  readonly learn: (entries: readonly HumanEntry[]) => void;
  readonly sawClient: (client: HumanClient, at: number) => void;
}

/** A cut link is back within seconds, and a client's call that fails costs a turn. */
const PATIENCE_MS = 20_000;
const ASK_AGAIN_MS = 500;

const DISK_FULL = "Too much waits on the workstation for the relay to come back: nothing was kept. Say it again later.";

export function createChannel(ports: ChannelPorts): HumanChannel {
  const { store, keeper, clock, timers } = ports;

  /** `run` must be harmless when repeated. */
  async function patiently<T>(run: () => Promise<T>): Promise<T> {
    const until = clock.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await run();
      } catch (cause) {
        if (!(cause instanceof StoreUnreachable) || clock.now() + ASK_AGAIN_MS >= until) throw cause;
      }
      await pause(ASK_AGAIN_MS, timers);
    }
  }

  return {
    async say({ client, category, text }) {
      const at = clock.now();
      ports.sawClient(client, at);
      const kept = await keeper.keep({ kind: "said", id: ports.newId(), at, client, category, text });
      if (kept.outcome === "unsent") return "unsent";
      if (!("entry" in kept)) throw new StoreUnreachable(DISK_FULL);
      ports.learn([kept.entry]);
      return ports.isPageOpen() ? "shown" : "page_closed";
    },
    async ask({ client, text, options }) {
      const at = clock.now();
      ports.sawClient(client, at);
      const entry: NewAsked = { kind: "asked", id: ports.newId(), at, client, text, options: [...options] };
      const asked = await patiently(async () => {
        // What was said before the question must not be read after it.
        await keeper.caughtUp(PATIENCE_MS);
        return store.ask("human.ask", { entry });
      });
      if (asked.outcome === "too_many") return "too_many";
      ports.learn([asked.entry]);
      return { questionId: asked.entry.id, expiresAt: asked.entry.expiresAt };
    },
    wait(order) {
      ports.sawClient(order.client, clock.now());
      return ports.waiting.wait(order);
    },
    release: (x) => ports.waiting.release(x),
    async question({ principalId }, id) {
      const { question, answer } = await patiently(() => store.ask("human.question", { principalId, id }));
      if (question === null) return null;
      const { at: askedAt, expiresAt } = question;
      return { state: stateNow(question, clock.now()), askedAt, expiresAt, answer };
    },
    async withdraw({ principalId }, id) {
      await patiently(() => store.ask("human.withdraw", { principalId, id }));
    },
    image: ({ id }) => patiently(() => getImage(store, id)),
  };
}

function stateNow({ state, expiresAt }: Asked, now: number): AskedQuestion["state"] {
  if (state === "expired") return "over";
  return state === "open" && expiresAt <= now ? "over" : state;
}

function pause(ms: number, timers: Timers): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  timers.after(ms, resolve);
  return promise;
}
