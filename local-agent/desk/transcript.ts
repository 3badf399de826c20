/** The latest part of the conversation, for the page: in order of arrival, bounded in number and memory. The store has the rest. */
import type { Asked, HumanEntry, Mark, Typed } from "../../shared/human/entry.ts";

export interface TranscriptLimits {
  readonly maxEntries: number;
  /** UTF-16 units of text over all entries. */
  readonly maxChars: number;
}

export interface Transcript {
  /** Those that are new or differ from what was known. An entry older than the bound is not kept. */
  upsert(entries: readonly HumanEntry[]): HumanEntry[];
  /**
   * Messages as they were when a call took them; those that change something here. The news of what became of them may have
   * come first: it is processed as it arrives, the answer that brought them a moment later.
   */
  took(messages: readonly Typed[]): HumanEntry[];
  /** Those that changed something here. */
  mark(marks: readonly Mark[]): Mark[];
  /** Place of the newest entry; null: there is none. */
  newest(): number | null;
  question(id: string): Asked | undefined;
  /** Newest first. */
  openQuestions(now: number): Asked[];
  /** Questions whose time is over become expired; these. */
  expire(now: number): Asked[];
  /** Place of the oldest entry that can still change; null: none can. */
  oldestUnsettled(): number | null;
  list(): HumanEntry[];
}

export function createTranscript(limits: TranscriptLimits): Transcript {
  /** By place, oldest first. */
  let entries: HumanEntry[] = [];
  const byId = new Map<string, HumanEntry>();
  let chars = 0;

  function put(entry: HumanEntry): boolean {
    const known = byId.get(entry.id);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(entry)) return false;
    if (known !== undefined) drop(known);
    entries.splice(placeOf(entry.n), 0, entry);
    byId.set(entry.id, entry);
    chars += sizeOf(entry);
    return true;
  }

  function drop(entry: HumanEntry): void {
    entries.splice(entries.indexOf(entry), 1);
    byId.delete(entry.id);
    chars -= sizeOf(entry);
  }

  /** New ones come last, so the end is looked at first. */
  function placeOf(n: number): number {
    return entries.findLastIndex((entry) => entry.n <= n) + 1;
  }

  /** Open questions stay whatever their age: a card must not vanish while it waits. Their number is bounded by the store. */
  function makeRoom(): void {
    if (entries.length <= limits.maxEntries && chars <= limits.maxChars) return;
    for (const entry of entries.filter((each) => !isOpen(each))) {
      drop(entry);
      if (entries.length <= limits.maxEntries && chars <= limits.maxChars) return;
    }
  }

  function upsert(list: readonly HumanEntry[]): HumanEntry[] {
    const changed = list.filter(put);
    makeRoom();
    return changed;
  }

  const openOnes = (): Asked[] => entries.filter(isOpen);

  return {
    upsert,
    took: (messages) => upsert(messages.filter((message) => !isOlder(message, byId.get(message.id)))),
    mark: (marks) =>
      marks.filter((mark) => {
        const entry = byId.get(mark.id);
        return entry?.kind === "typed" && put({ ...entry, state: mark.state, repeat: mark.repeat });
      }),
    newest: () => entries.at(-1)?.n ?? null,
    question(id) {
      const entry = byId.get(id);
      return entry?.kind === "asked" ? entry : undefined;
    },
    openQuestions: (now) =>
      openOnes()
        .filter((question) => question.expiresAt > now)
        .toReversed(),
    expire: (now) => {
      const over = openOnes()
        .filter((question) => question.expiresAt <= now)
        .map((question): Asked => ({ ...question, state: "expired" }));
      upsert(over);
      return over;
    },
    oldestUnsettled: () => entries.find((entry) => isOpen(entry) || (entry.kind === "typed" && entry.state !== "read"))?.n ?? null,
    list: () => [...entries],
  };
}

function isOpen(entry: HumanEntry): entry is Asked {
  return entry.kind === "asked" && entry.state === "open";
}

/** Nothing that was read is taken again, and a repeat stays one. */
function isOlder(taken: Typed, known: HumanEntry | undefined): boolean {
  return known?.kind === "typed" && (known.state === "read" || (known.repeat && !taken.repeat));
}

/** What an entry costs besides its text: names, ids, options. */
const OVERHEAD_CHARS = 300;

function sizeOf(entry: HumanEntry): number {
  return OVERHEAD_CHARS + entry.text.length;
}
