/**
 * The adapter of a Pi extension instance: made when something asks for it, one at a time, and ended with the session. Whatever came
 * from an earlier session is fenced off by its number.
 */
import type { Adapter } from "../adapter/adapter.ts";

export type AdapterState =
  | { readonly at: "none" }
  | { readonly at: "starting"; readonly adapter: Promise<Adapter> }
  | { readonly at: "ready"; readonly adapter: Adapter }
  /** The next use tries again. */
  | { readonly at: "failed"; readonly cause: string };

export interface SessionAdapter {
  state(): AdapterState;
  /** The adapter of now; made if there is none. Rejects with why it could not be made; then the next use tries again. */
  get(): Promise<Adapter>;
  /** Ends it. One that is still being made is ended as soon as it is. */
  end(): Promise<void>;
}

const MAX_CAUSE_CHARS = 1000;

/** @param onReady runs once for each adapter that was made and is still wanted */
export function createSessionAdapter(make: () => Promise<Adapter>, onReady: (adapter: Adapter) => void): SessionAdapter {
  let state: AdapterState = { at: "none" };
  let generation = 0;

  async function start(): Promise<Adapter> {
    const mine = generation;
    try {
      const adapter = await make();
      if (mine !== generation) {
        await adapter.close();
        throw new Error("the Pi session has ended");
      }
      state = { at: "ready", adapter };
      onReady(adapter);
      return adapter;
    } catch (error) {
      const cause = (error instanceof Error ? error.message : String(error)).slice(0, MAX_CAUSE_CHARS);
      if (mine === generation) state = { at: "failed", cause };
      throw error;
    }
  }

  return {
    state: () => state,
    get() {
      if (state.at === "ready") return Promise.resolve(state.adapter);
      if (state.at === "starting") return state.adapter;
      const adapter = start();
      if (state.at === "none" || state.at === "failed") state = { at: "starting", adapter };
      return adapter;
    },
    async end() {
      generation++;
      const before = state;
      state = { at: "none" };
      if (before.at === "ready") await before.adapter.close();
      if (before.at === "starting") await before.adapter.then((adapter) => adapter.close()).catch(() => {});
    },
  };
}
