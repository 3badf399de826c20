/** A fake of `HumanChannel`: a test plays the person; the time of its waits is moved by hand. */
import type { HumanChannel, OpenQuestion, SayOutcome, WaitOrder, WaitOutcome } from "../../shared/human/channel.ts";
import type { HumanImage, Typed } from "../../shared/human/entry.ts";
import type { Timers } from "../../shared/ports.ts";

export const QUESTION: OpenQuestion = { questionId: "0123456789abcdef0123456789abcdef", expiresAt: Date.UTC(2026, 10, 30, 12) };

export const ASKED_AT = Date.UTC(2026, 10, 29, 12);

type Order = Parameters<HumanChannel["say"]>[0] | Parameters<HumanChannel["ask"]>[0];

export interface ScriptedHuman {
  readonly channel: HumanChannel;
  /** What was said and asked. */
  readonly orders: Order[];
  readonly waits: WaitOrder[];
  readonly released: number[];
  readonly withdrawn: string[];
  /** Ends the wait that is running. */
  readonly hears: (outcome: WaitOutcome) => void;
}

export interface HumanScript {
  readonly timers: Timers;
  readonly say?: () => Promise<SayOutcome>;
  readonly ask?: () => Promise<OpenQuestion | "too_many">;
  readonly question?: HumanChannel["question"];
  readonly image?: (image: HumanImage) => Promise<string | null>;
}

export function scriptedHuman({ timers, ...script }: HumanScript): ScriptedHuman {
  const orders: Order[] = [];
  const waits: WaitOrder[] = [];
  const released: number[] = [];
  const withdrawn: string[] = [];
  let hears: (outcome: WaitOutcome) => void = () => {};
  const channel: HumanChannel = {
    say: (order) => (orders.push(order), script.say?.() ?? Promise.resolve("shown")),
    ask: (order) => (orders.push(order), script.ask?.() ?? Promise.resolve(QUESTION)),
    wait(order) {
      waits.push(order);
      return new Promise((resolve) => {
        hears = resolve;
        timers.after(order.budgetMs, () => resolve({ at: "no_message", why: "budget" }));
        const stop = (): void => resolve({ at: "no_message", why: "ended" });
        if (order.signal.aborted) stop();
        else order.signal.addEventListener("abort", stop, { once: true });
      });
    },
    release: (x) => (released.push(x), Promise.resolve()),
    withdraw: (_client, questionId) => (withdrawn.push(questionId), Promise.resolve()),
    question: script.question ?? (() => Promise.resolve({ state: "open", askedAt: ASKED_AT, expiresAt: QUESTION.expiresAt, answer: null })),
    image: script.image ?? (() => Promise.resolve("aGk=")),
  };
  return { channel, orders, waits, released, withdrawn, hears: (outcome) => hears(outcome) };
}

let n = 0;

export function typed(text: string, more: Partial<Typed> = {}): Typed {
  n += 1;
  const id = n.toString(16).padStart(32, "0");
  return {
    kind: "typed",
    id,
    n,
    at: Date.UTC(2026, 10, 30, 9, 30, n % 60),
    text,
    images: [],
    // An answer goes to the asker.
    to: (more.questionId ?? null) === null ? null : { principalId: "grant:asker", name: "asker" },
    questionId: null,
    state: "delivered",
    repeat: false,
    ...more,
  };
}

export function heard(...messages: readonly Typed[]): WaitOutcome {
  return { at: "messages", messages, left: 0 };
}
