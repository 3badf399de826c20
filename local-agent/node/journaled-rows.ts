/**
 * The rows of the conversation in memory, and every change of them in a journal: one transaction is one line, so after a
 * crash it happened or it did not. Images are files beside it.
 */
import * as v from "valibot";
import { EntryId, HumanEntry, type Typed } from "../../shared/human/entry.ts";
import { MemoryRows, type MemoryRowsContent } from "../../shared/human/memory-rows.ts";
import { waitsAs, type HumanRows, type ImagePart, type ImageUse, type Unplaced, type WaitsAs } from "../../shared/human/queue-rows.ts";
import type { ImageFiles } from "./image-files.ts";
import type { Journal } from "./journal-file.ts";

const place = v.pipe(v.number(), v.integer(), v.minValue(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What one line says, in order. */
const Change = v.variant("op", [
  v.object({ op: v.literal("put"), entry: HumanEntry }),
  v.object({ op: v.literal("settled"), upTo: v.number() }),
  v.object({ op: v.literal("part"), id: EntryId, part: count, parts: count, at: v.number(), n: v.nullable(place) }),
  v.object({ op: v.literal("use"), id: EntryId, n: place }),
  v.object({ op: v.literal("drop"), id: EntryId }),
]);
type Change = v.InferOutput<typeof Change>;

/** The journal is rewritten when it is as large as this and twice what it was after the last time. */
const REWRITE_BYTES = 4 * 1024 * 1024;

export class JournaledRows implements HumanRows {
  readonly #journal: Journal;
  readonly #images: ImageFiles;
  #rows: MemoryRows;
  #kept = 0;
  /** Of the transaction that is under way; null outside of one. */
  #changes: Change[] | null = null;

  constructor(journal: Journal, images: ImageFiles) {
    this.#journal = journal;
    this.#images = images;
    this.#rows = new MemoryRows(replay(journal.found));
    this.#kept = journal.bytes();
    images.keepOnly(new Set(this.#rows.content.parts.map(({ id }) => id)));
  }

  transaction<T>(work: () => T): T {
    const { entries, parts } = this.#rows.content;
    const before: MemoryRowsContent = { entries: [...entries], parts: [...parts] };
    const changes: Change[] = [];
    this.#changes = changes;
    try {
      const result = work();
      if (changes.length > 0) this.#journal.append(changes, true);
      return result;
    } catch (error) {
      // Nothing of it is on the disk, so nothing of it happened.
      this.#rows = new MemoryRows(before);
      throw error;
    } finally {
      this.#changes = null;
      this.#sweep();
    }
  }

  get(id: string): HumanEntry | undefined {
    return this.#rows.get(id);
  }

  answerTo(questionId: string): Typed | undefined {
    return this.#rows.answerTo(questionId);
  }

  waitingAnswers(principalId: string): readonly Typed[] {
    return this.#rows.waitingAnswers(principalId);
  }

  insert(entry: Unplaced): number {
    const n = this.#rows.insert(entry);
    this.#change({ op: "put", entry: { ...entry, n } });
    return n;
  }

  update(entry: HumanEntry): void {
    this.#rows.update(entry);
    this.#change({ op: "put", entry });
  }

  waiting(as: WaitsAs, forClient?: string): Iterable<HumanEntry> {
    return this.#rows.waiting(as, forClient);
  }

  count(as: WaitsAs, forClient?: string): number {
    return this.#rows.count(as, forClient);
  }

  waitingClients(): readonly string[] {
    return this.#rows.waitingClients();
  }

  latest(before: number | null): Iterable<HumanEntry> {
    return this.#rows.latest(before);
  }

  dropSettled(n: number): void {
    this.#rows.dropSettled(n);
    this.#change({ op: "settled", upTo: n });
  }

  images(): readonly ImageUse[] {
    return this.#rows.images();
  }

  putPart({ id, part, parts, data, at }: ImagePart): void {
    if (this.#rows.part(id, part) !== undefined) return;
    this.#images.write(id, part, data);
    this.#rows.putPart({ id, part, parts, data: "", at });
    this.#change({ op: "part", id, part, parts, at, n: null });
  }

  part(id: string, part: number): ImagePart | undefined {
    const known = this.#rows.part(id, part);
    const data = known === undefined ? undefined : this.#images.read(id, part);
    return known === undefined || data === undefined ? undefined : { ...known, data };
  }

  useImage(id: string, n: number): void {
    this.#rows.useImage(id, n);
    this.#change({ op: "use", id, n });
  }

  dropImage(id: string): void {
    const parts = this.#rows.part(id, 0)?.parts ?? 0;
    this.#rows.dropImage(id);
    this.#change({ op: "drop", id });
    this.#images.drop(id, parts);
  }

  #change(change: Change): void {
    if (this.#changes === null) this.#journal.append([change], true);
    else this.#changes.push(change);
  }

  #sweep(): void {
    if (this.#journal.bytes() < Math.max(REWRITE_BYTES, 2 * this.#kept)) return;
    this.#kept = this.#journal.bytes();
    const { entries, parts } = this.#rows.content;
    const puts = entries.map((entry): Change[] => [{ op: "put", entry }]);
    const pieces = parts.map(({ id, part, parts: all, at, n }): Change[] => [{ op: "part", id, part, parts: all, at, n }]);
    try {
      this.#journal.rewrite([...puts, ...pieces]);
      this.#kept = this.#journal.bytes();
    } catch {
      // A full disk: the longer journal says the same, and this is tried again when it has grown to twice its size.
    }
  }
}

/** A line that cannot be read is left out: what else is there is still the person's. */
function replay(lines: readonly unknown[]): MemoryRowsContent {
  const entries = new Map<number, HumanEntry>();
  const parts = new Map<string, MemoryRowsContent["parts"][number]>();
  for (const line of lines) {
    const changes = v.safeParse(v.array(Change), line);
    if (changes.success) for (const change of changes.output) apply(change, entries, parts);
  }
  return { entries: [...entries.values()].toSorted((a, b) => a.n - b.n), parts: [...parts.values()] };
}

function apply(change: Change, entries: Map<number, HumanEntry>, parts: Map<string, MemoryRowsContent["parts"][number]>): void {
  switch (change.op) {
    case "put":
      entries.set(change.entry.n, change.entry);
      return;
    case "settled":
      for (const [n, entry] of entries) if (n <= change.upTo && waitsAs(entry) === null) entries.delete(n);
      return;
    case "part": {
      const { id, part, parts: all, at, n } = change;
      parts.set(`${id}.${part}`, { id, part, parts: all, at, n, data: "" });
      return;
    }
    case "use": {
      const first = parts.get(`${change.id}.0`);
      if (first !== undefined) parts.set(`${change.id}.0`, { ...first, n: change.n });
      return;
    }
    case "drop":
      for (const [key, part] of parts) if (part.id === change.id) parts.delete(key);
  }
}
