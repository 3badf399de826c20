/** The rows of the conversation in memory. */
import type { HumanEntry, Typed } from "./entry.ts";
import { clientOf, waitsAs, type HumanRows, type ImagePart, type ImageUse, type Unplaced, type WaitsAs } from "./queue-rows.ts";

/** As data, for whoever writes it down: entries by place, and the parts of images. */
export interface MemoryRowsContent {
  readonly entries: readonly HumanEntry[];
  readonly parts: readonly (ImagePart & { readonly n: number | null })[];
}

export class MemoryRows implements HumanRows {
  readonly #entries: HumanEntry[];
  readonly #byId: Map<string, HumanEntry>;
  readonly #parts: Map<string, ImagePart & { n: number | null }>;

  constructor(content: MemoryRowsContent = { entries: [], parts: [] }) {
    this.#entries = [...content.entries];
    this.#byId = new Map(content.entries.map((entry) => [entry.id, entry]));
    this.#parts = new Map(content.parts.map((part) => [keyOf(part.id, part.part), part]));
  }

  get content(): MemoryRowsContent {
    return { entries: this.#entries, parts: [...this.#parts.values()] };
  }

  /** Nothing here fails half-way. */
  transaction<T>(work: () => T): T {
    return work();
  }

  get(id: string): HumanEntry | undefined {
    return this.#byId.get(id);
  }

  answerTo(questionId: string): Typed | undefined {
    return this.#entries.filter((entry) => entry.kind === "typed").find((entry) => entry.questionId === questionId);
  }

  waitingAnswers(principalId: string): readonly Typed[] {
    return this.#entries.filter(
      (entry) => entry.kind === "typed" && entry.questionId !== null && entry.to?.principalId === principalId && waitsAs(entry) !== null,
    ) as Typed[];
  }

  insert(entry: Unplaced): number {
    const n = (this.#entries.at(-1)?.n ?? 0) + 1;
    const placed = { ...entry, n };
    this.#entries.push(placed);
    this.#byId.set(placed.id, placed);
    return n;
  }

  update(entry: HumanEntry): void {
    const at = this.#entries.findIndex((other) => other.n === entry.n);
    if (at < 0) return;
    this.#entries[at] = entry;
    this.#byId.set(entry.id, entry);
  }

  waiting(as: WaitsAs, forClient?: string): Iterable<HumanEntry> {
    return this.#entries.filter((entry) => waitsAs(entry) === as && isFor(entry, forClient));
  }

  count(as: WaitsAs, forClient?: string): number {
    let count = 0;
    for (const entry of this.#entries) if (waitsAs(entry) === as && isFor(entry, forClient)) count += 1;
    return count;
  }

  waitingClients(): readonly string[] {
    const clients = this.#entries.filter((entry) => waitsAs(entry) !== null).map(clientOf);
    return [...new Set(clients)].filter((client) => client !== null);
  }

  latest(before: number | null): Iterable<HumanEntry> {
    return this.#entries.filter((entry) => before === null || entry.n < before).toReversed();
  }

  dropSettled(n: number): void {
    const kept = this.#entries.filter((entry) => entry.n > n || waitsAs(entry) !== null);
    this.#entries.splice(0, this.#entries.length, ...kept);
    this.#byId.clear();
    for (const entry of kept) this.#byId.set(entry.id, entry);
  }

  images(): readonly ImageUse[] {
    const first = [...this.#parts.values()].filter(({ part }) => part === 0);
    return first.map(({ id, at, n }) => ({ id, at, usedBy: this.#usedBy(n) })).toSorted((one, other) => one.at - other.at);
  }

  putPart(part: ImagePart): void {
    const key = keyOf(part.id, part.part);
    if (!this.#parts.has(key)) this.#parts.set(key, { ...part, n: null });
  }

  part(id: string, part: number): ImagePart | undefined {
    return this.#parts.get(keyOf(id, part));
  }

  useImage(id: string, n: number): void {
    const first = this.#parts.get(keyOf(id, 0));
    if (first !== undefined) this.#parts.set(keyOf(id, 0), { ...first, n });
  }

  dropImage(id: string): void {
    for (const [key, part] of this.#parts) if (part.id === id) this.#parts.delete(key);
  }

  #usedBy(n: number | null): ImageUse["usedBy"] {
    if (n === null) return "none";
    const entry = this.#entries.find((each) => each.n === n);
    if (entry === undefined) return "gone";
    return waitsAs(entry) === null ? "settled" : "waiting";
  }
}

function isFor(entry: HumanEntry, client: string | undefined): boolean {
  const owner = clientOf(entry);
  return client === undefined || owner === null || owner === client;
}

function keyOf(id: string, part: number): string {
  return `${id}:${part}`;
}
