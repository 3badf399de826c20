/** Who listens to the adapter, and what was to be said before anybody did. */
import type { Adapter, AdapterEvent } from "./adapter.ts";

export interface Events {
  say(event: AdapterEvent): void;
  /** Kept for the first listener when there is none yet; said once. */
  notice(text: string): void;
  subscribe: Adapter["subscribe"];
}

const MAX_KEPT_NOTICES = 50;
/** A server that renames its tools at every listing has something new to warn of every time. */
const MAX_NOTICES = 200;
const NO_MORE = "There are more warnings about MCP servers; no more of them are shown.";

export function createEvents(): Events {
  const listeners = new Set<(event: AdapterEvent) => void>();
  const said = new Set<string>();
  const waiting: AdapterEvent[] = [];
  const say = (event: AdapterEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        // A listener's own fault is not the adapter's, and the others are told all the same.
      }
    }
  };
  return {
    say,
    notice(text) {
      if (said.has(text) || said.size >= MAX_NOTICES) return;
      said.add(text);
      const event: AdapterEvent = { t: "notice", level: "warning", text: said.size === MAX_NOTICES ? NO_MORE : text };
      if (listeners.size > 0) say(event);
      else if (waiting.length < MAX_KEPT_NOTICES) waiting.push(event);
    },
    subscribe(listener) {
      listeners.add(listener);
      for (const event of waiting.splice(0)) say(event);
      return () => void listeners.delete(listener);
    },
  };
}
