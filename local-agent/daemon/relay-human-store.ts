/** The conversation as the relay keeps it: its calls over the link, and its news. Exists before the link, which serves it. */
import * as v from "valibot";
import { HUMAN_NEWS, HUMAN_RESULTS } from "../../shared/human/call-results.ts";
import type { HumanMethod, HumanParams, HumanResult } from "../../shared/human/calls.ts";
import { StoreUnreachable, type HumanNews, type HumanStore } from "../../shared/human/store.ts";
import { CallRefused, CallUnanswered, type RelayCalls } from "./relay-calls.ts";

export interface RelayHumanStore extends HumanStore {
  /** The link stands: calls go there. */
  welcomed(calls: Pick<RelayCalls, "ask">): void;
  linkLost(): void;
  /** A call of the relay; false when it is none of the conversation's. */
  hear(method: string, params: unknown): boolean;
}

type State =
  | { readonly at: "away" }
  | { readonly at: "linked"; readonly calls: Pick<RelayCalls, "ask"> }
  /** It is from before there were conversations; another may stand in its place after the next welcome. */
  | { readonly at: "outdated" };

const AWAY = "The relay cannot be reached right now, and it keeps the conversation: try again in a moment.";
export const OUTDATED_RELAY =
  "The relay is older than this agent and cannot keep a conversation, so clients cannot talk with you: update it with npm run deploy.";

/** `onOutdated` is called once for each such relay that welcomes the agent. */
export function createRelayHumanStore(onOutdated: (message: string) => void): RelayHumanStore {
  const listeners = new Set<(news: HumanNews) => void>();
  let state: State = { at: "away" };

  const tell = (news: HumanNews): void => listeners.forEach((listener) => listener(news));

  function giveUp(calls: Pick<RelayCalls, "ask">): void {
    // An answer from before the link changed says nothing of the relay that is there now.
    if (state.at !== "linked" || state.calls !== calls) return;
    state = { at: "outdated" };
    tell({ t: "unreachable" });
    onOutdated(OUTDATED_RELAY);
  }

  return {
    async ask<M extends HumanMethod>(method: M, params: HumanParams<M>): Promise<HumanResult<M>> {
      if (state.at !== "linked") throw new StoreUnreachable(state.at === "away" ? AWAY : OUTDATED_RELAY);
      const { calls } = state;
      try {
        return read(method, await calls.ask(method, { ...params }));
      } catch (cause) {
        if (cause instanceof CallUnanswered) throw new StoreUnreachable(AWAY, { cause });
        if (!isUnknownCall(cause)) throw cause;
        giveUp(calls);
        throw new StoreUnreachable(OUTDATED_RELAY, { cause });
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      // Not before whoever subscribes has finished making itself, and not twice.
      if (state.at === "linked") queueMicrotask(() => listeners.has(listener) && state.at === "linked" && listener({ t: "reachable" }));
      return () => listeners.delete(listener);
    },
    welcomed(calls) {
      state = { at: "linked", calls };
      tell({ t: "reachable" });
    },
    linkLost() {
      const wasLinked = state.at === "linked";
      state = { at: "away" };
      if (wasLinked) tell({ t: "unreachable" });
    },
    hear(method, params) {
      const news = readNews(method, params);
      if (news !== undefined) tell(news);
      return news !== undefined;
    },
  };
}

/** How every relay refuses what it does not know; the words are part of deployed ones. */
function isUnknownCall(error: unknown): boolean {
  return error instanceof CallRefused && error.message.includes("knows no call");
}

function read<M extends HumanMethod>(method: M, result: unknown): HumanResult<M> {
  return v.parse<(typeof HUMAN_RESULTS)[M]>(HUMAN_RESULTS[method], result);
}

function readNews(method: string, params: unknown): HumanNews | undefined {
  if (method === "human.marks") {
    const marks = v.safeParse(HUMAN_NEWS["human.marks"], params);
    return marks.success ? { t: "marks", marks: marks.output.marks } : undefined;
  }
  const entries = method === "human.entries" ? v.safeParse(HUMAN_NEWS["human.entries"], params) : undefined;
  return entries?.success === true ? { t: "entries", entries: entries.output.entries } : undefined;
}
