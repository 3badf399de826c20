/**
 * The adapter of a Pi extension instance: made when something asks for it, one at a time, and ended with the session. Whatever came
 * from an earlier session is fenced off by its number.
 */
import type { Timers } from "../../shared/ports.ts";
import type { Adapter } from "../adapter/adapter.ts";

type AdapterState =
  | { readonly at: "none" }
  | { readonly at: "starting"; readonly adapter: Promise<Adapter> }
  | { readonly at: "ready"; readonly adapter: Adapter }
  /** The next use tries again. */
  | { readonly at: "failed"; readonly cause: string };

export interface SessionAdapter {
  state(): AdapterState;
  /**
   * The adapter of now; made if there is none. Rejects with why it could not be made, or with that it takes too long; then the next use
   * tries again, or waits on.
   */
  get(): Promise<Adapter>;
  /** Ends it. One that is still being made is ended as soon as it is, and not waited for longer than a moment. */
  end(): Promise<void>;
}

/** It is still being started; nothing has failed. */
export class StartTimeout extends Error {}

/** It was ended before it was there; nothing has failed, and whoever ended it knows what comes instead. */
export class StartOutlived extends Error {}

export interface SessionAdapterParts {
  readonly make: () => Promise<Adapter>;
  /** Runs once for each adapter that was made and is still wanted. What it returns runs before that adapter is ended. */
  readonly onReady: (adapter: Adapter) => () => void;
  readonly timers: Timers;
}

const MAX_CAUSE_CHARS = 1000;
/** A call does not wait longer for a start that hangs, such as on a home directory that does not answer. */
const START_MS = 30_000;
/** Nor does the end of a session: Pi waits for it. */
const END_MS = 5_000;

export function createSessionAdapter({ make, onReady, timers }: SessionAdapterParts): SessionAdapter {
  let state: AdapterState = { at: "none" };
  let generation = 0;
  let leave = (): void => {};

  async function start(): Promise<Adapter> {
    const mine = generation;
    try {
      const adapter = await make();
      if (mine !== generation) {
        await adapter.close();
        throw new StartOutlived("the Pi session has ended");
      }
      try {
        leave = onReady(adapter);
      } catch (error) {
        // One that Pi could not be told of would run on beside the next one.
        await adapter.close();
        throw error;
      }
      state = { at: "ready", adapter };
      return adapter;
    } catch (error) {
      const cause = (error instanceof Error ? error.message : String(error)).slice(0, MAX_CAUSE_CHARS);
      if (mine === generation) state = { at: "failed", cause };
      throw error instanceof StartOutlived ? error : new Error(cause, { cause: error });
    }
  }

  function startOnce(): Promise<Adapter> {
    if (state.at === "starting") return state.adapter;
    const adapter = start();
    // Whoever waits is told; without anybody it is in the state.
    adapter.catch(() => {});
    state = { at: "starting", adapter };
    return adapter;
  }

  return {
    state: () => state,
    get: () => (state.at === "ready" ? Promise.resolve(state.adapter) : within(startOnce(), timers)),
    async end() {
      generation++;
      const before = state;
      state = { at: "none" };
      leave();
      leave = () => {};
      if (before.at === "ready") await before.adapter.close();
      if (before.at === "starting")
        await atMost(
          END_MS,
          before.adapter.then((adapter) => adapter.close()).catch(() => {}),
          timers,
        );
    },
  };
}

async function atMost(ms: number, ending: Promise<void>, timers: Timers): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(ms, resolve);
  await Promise.race([ending, late]);
  cancel();
}

async function within(starting: Promise<Adapter>, timers: Timers): Promise<Adapter> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = timers.after(START_MS, () => reject(new StartTimeout(`they are still being started after ${START_MS / 1000} s; try again later`)));
  try {
    return await Promise.race([starting, late]);
  } finally {
    cancel();
  }
}
