/** The one list of the page: what was said and what ran, in the order it happened. Pure. */
import type { TimelineCall } from "../shared/desk.ts";
import type { HumanEntry, NewSaid, NewTyped } from "../shared/human/entry.ts";
import type { Conversation } from "./conversation-state.ts";
import { shownCalls, type CallFilter } from "./shown-calls.ts";

export type TimelineItem =
  | { readonly t: "day"; readonly at: number }
  | { readonly t: "entry"; readonly entry: HumanEntry }
  /** Kept on this machine only, until the relay is back. */
  | { readonly t: "unsent"; readonly entry: NewSaid | NewTyped }
  | { readonly t: "call"; readonly call: TimelineCall };

export interface TimelineFilter {
  readonly calls: CallFilter;
  /** Words to look for; empty: everything. */
  readonly search: string;
}

export interface TimelineItems {
  readonly items: readonly TimelineItem[];
  /** Calls that the choice of calls hides. */
  readonly hiddenCalls: number;
  /** How many of how many the search leaves; undefined without a search. */
  readonly found: { readonly count: number; readonly of: number } | undefined;
}

/** Entries stand in the order of their arrival, calls in that of their start; between the two lists the clock decides. */
export function timelineItems(conversation: Conversation | null, calls: readonly TimelineCall[], filter: TimelineFilter): TimelineItems {
  const shown = shownCalls(calls, filter.calls);
  const all = merge(entryItems(conversation), shown.calls);
  const needle = folded(filter.search.trim());
  const items = needle === "" ? all : all.filter((item) => folded(wordsOf(item)).includes(needle));
  return {
    items: conversation === null ? items : withDays(items),
    hiddenCalls: shown.hidden,
    found: needle === "" ? undefined : { count: items.length, of: all.length },
  };
}

type Happening = Exclude<TimelineItem, { t: "day" }>;

function entryItems(conversation: Conversation | null): readonly Happening[] {
  if (conversation === null) return [];
  const kept = new Set(conversation.entries.map((entry) => entry.id));
  return [
    ...conversation.entries.map((entry): Happening => ({ t: "entry", entry })),
    ...conversation.unsent.filter((entry) => !kept.has(entry.id)).map((entry): Happening => ({ t: "unsent", entry })),
  ];
}

function merge(entries: readonly Happening[], calls: readonly TimelineCall[]): readonly Happening[] {
  const merged: Happening[] = [];
  let next = 0;
  for (const item of entries) {
    for (let call = calls[next]; call !== undefined && call.startedAt < timeOf(item); call = calls[++next]) merged.push({ t: "call", call });
    merged.push(item);
  }
  return [...merged, ...calls.slice(next).map((call): Happening => ({ t: "call", call }))];
}

function withDays(items: readonly Happening[]): readonly TimelineItem[] {
  let day: string | undefined;
  return items.flatMap((item): readonly TimelineItem[] => {
    const at = timeOf(item);
    const its = new Date(at).toDateString();
    if (its === day) return [item];
    day = its;
    return [{ t: "day", at }, item];
  });
}

function timeOf(item: TimelineItem): number {
  switch (item.t) {
    case "day":
      return item.at;
    case "entry":
    case "unsent":
      return item.entry.at;
    case "call":
      return item.call.startedAt;
  }
}

export function keyOf(item: TimelineItem): string {
  switch (item.t) {
    case "day":
      return `day ${item.at}`;
    case "entry":
    case "unsent":
      // The same key before and after the relay has it: the row stays.
      return `entry ${item.entry.id}`;
    case "call":
      return `call ${item.call.callId}`;
  }
}

function wordsOf(item: Happening): string {
  if (item.t === "call") return `${item.call.tool}\n${item.call.summary}\n${item.call.client}`;
  const { entry } = item;
  switch (entry.kind) {
    case "said":
      return `${entry.client.name}\n${entry.text}`;
    case "asked":
      return `${entry.client.name}\n${entry.text}\n${entry.options.join("\n")}`;
    case "typed":
      return entry.text;
  }
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
