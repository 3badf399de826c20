/**
 * The rules of the conversation (docs/spec/human.md, HU1 to HU29), over rows that somebody else keeps. Synchronous:
 * between two calls nothing is half done. What is on its way to a client is leased in memory only, so whoever makes the
 * queue again finds nothing leased, and gives back what its predecessor had handed out.
 */
import type { Asked, HumanClient, HumanEntry, Mark, NewSaid, NewTyped, Typed } from "./entry.ts";
import type { HumanMethod, HumanParams, HumanResult } from "./calls.ts";
import { HUMAN_LIMITS } from "./limits.ts";
import type { HumanRows, Unplaced } from "./queue-rows.ts";
import type { HumanNews } from "./store.ts";

export type QueueNews = Extract<HumanNews, { t: "marks" | "entries" }>;

export interface HumanQueueOptions {
  readonly rows: HumanRows;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What changed without being asked. Called synchronously; must not throw. */
  readonly onNews: (news: QueueNews) => void;
  /** Whether this client may still call: words to one that may not would wait for ever. */
  readonly isClient: (principalId: string) => boolean;
}

export interface HumanQueue {
  /** A `RangeError` carries a sentence about parameters that cannot be. */
  readonly calls: { readonly [M in HumanMethod]: (params: HumanParams<M>) => HumanResult<M> };
  /** Words of a client that nobody on the workstation could take. */
  sayWhileAway(entry: NewSaid): void;
  /** The exchange is over: its answer left whole, or not. Every exchange may be reported, repeatedly too. */
  settled(x: number, whole: boolean): void;
  /** Resolves when no exchange but `x` has words of this client on their way; undefined: none has. */
  free(principalId: string, x: number | null): Promise<unknown> | undefined;
  /** Withdraws the questions of clients that lost their access, and lets whoever asks first have the words for them. */
  revokeGone(): void;
  /** Deletes images that nobody names. Returns when to call again (ms since the epoch); undefined: never. */
  sweep(): number | undefined;
}

interface Lease {
  readonly principalId: string;
  readonly ids: readonly string[];
  readonly over: PromiseWithResolvers<void>;
}

/** Sweeping costs, so it happens once in so many entries. */
const SWEEP_EVERY = 50;

/** Gives back, as repeats, what an earlier queue over these rows had handed out. */
export function createHumanQueue({ rows, now, onNews, isClient }: HumanQueueOptions): HumanQueue {
  const leases = new Map<number, Lease>();
  const leasesOf = (principalId: string, except: number | null) =>
    [...leases].filter(([x, lease]) => x !== except && lease.principalId === principalId);

  /** [HU8] [HU9] */
  const settled = (x: number, whole: boolean): void => {
    const lease = leases.get(x);
    if (lease === undefined) return;
    leases.delete(x);
    const marks = rows.transaction(() =>
      settle(
        rows,
        lease.ids.map((id) => rows.get(id)),
        whole,
      ),
    );
    lease.over.resolve();
    onNews({ t: "marks", marks });
  };

  const takeFor = (principalId: string, x: number | null): Typed[] => {
    // Waiting was in vain: what comes next must not overtake what is on its way.
    for (const [other] of leasesOf(principalId, x)) settled(other, false);
    const ids = x === null ? undefined : leases.get(x)?.ids;
    if (ids !== undefined) return ids.map((id) => rows.get(id)).filter((entry) => entry?.kind === "typed");
    const messages = rows.transaction(() => take(rows, principalId, x));
    if (x !== null && messages.length > 0) leases.set(x, { principalId, ids: messages.map(({ id }) => id), over: Promise.withResolvers<void>() });
    return messages;
  };

  rows.transaction(() => settle(rows, rows.waiting("delivered"), false));
  return {
    calls: {
      "human.append": ({ entry }) => rows.transaction(() => append(rows, entry, isClient)),
      "human.ask": ({ entry }) => rows.transaction(() => ask(rows, entry, now())),
      // A call that waits since before its client lost its access is not whoever asks first.
      "human.take": ({ principalId, x }) =>
        isClient(principalId) ? { messages: takeFor(principalId, x), left: rows.count("queued", principalId) } : { messages: [], left: 0 },
      "human.release": ({ x }) => {
        settled(x, false);
        return {};
      },
      "human.withdraw": (params) => withdraw(rows, params, onNews),
      "human.question": ({ principalId, id }) => {
        const question = questionOf(rows, principalId, id);
        if (question === undefined) return { question: null, answer: null };
        return { question: isOver(question, now()) ? { ...question, state: "expired" } : question, answer: rows.answerTo(id) ?? null };
      },
      "human.image.put": (params) => rows.transaction(() => putImage(rows, params, now())),
      "human.image.get": ({ id, part }) => {
        const { data, parts } = rows.part(id, part) ?? { data: "", parts: 0 };
        return { data, parts };
      },
      "human.history": ({ before }) => history(rows, before),
    },
    sayWhileAway(entry) {
      rows.transaction(() => insert(rows, { ...entry, whileAway: true }));
    },
    settled,
    free(principalId, x) {
      const earlier = leasesOf(principalId, x);
      return earlier.length === 0 ? undefined : Promise.all(earlier.map(([, lease]) => lease.over.promise));
    },
    revokeGone() {
      for (const principalId of rows.waitingClients()) {
        if (isClient(principalId)) continue;
        for (const [x] of leasesOf(principalId, null)) settled(x, false);
        rows.transaction(() => revoke(rows, principalId, (entries) => onNews({ t: "entries", entries })));
      }
    },
    sweep: () => rows.transaction(() => sweepImages(rows, now())),
  };
}

function withdraw(rows: HumanRows, { principalId, id }: HumanParams<"human.withdraw">, onNews: (news: QueueNews) => void): Record<string, never> {
  const question = questionOf(rows, principalId, id);
  if (question?.state !== "open") return {};
  const withdrawn: Asked = { ...question, state: "withdrawn" };
  rows.transaction(() => rows.update(withdrawn));
  onNews({ t: "entries", entries: [withdrawn] });
  return {};
}

function questionOf(rows: HumanRows, principalId: string, id: string): Asked | undefined {
  const entry = rows.get(id);
  return entry?.kind === "asked" && entry.client.principalId === principalId ? entry : undefined;
}

/** Makes messages that are on their way `read`, or `queued` again; whatever else they are is left alone. */
function settle(rows: HumanRows, entries: Iterable<HumanEntry | undefined>, whole: boolean): Mark[] {
  const marks: Mark[] = [];
  for (const entry of entries) {
    if (entry?.kind !== "typed" || entry.state !== "delivered") continue;
    const mark: Mark = whole ? { id: entry.id, state: "read", repeat: entry.repeat } : { id: entry.id, state: "queued", repeat: true };
    rows.update({ ...entry, ...mark });
    marks.push(mark);
  }
  return marks;
}

/** [HU1] Places an entry, and forgets the oldest settled ones now and then. */
function insert<E extends Unplaced>(rows: HumanRows, entry: E): E & { n: number } {
  const n = rows.insert(entry);
  if (n % SWEEP_EVERY === 0) rows.dropSettled(n - HUMAN_LIMITS.history);
  return { ...entry, n };
}

function known<K extends HumanEntry["kind"]>(rows: HumanRows, { id, kind }: { id: string; kind: K }): Extract<HumanEntry, { kind: K }> | undefined {
  const entry = rows.get(id);
  if (entry !== undefined && entry.kind !== kind) throw new RangeError(`the id ${id} is that of an entry of another kind`);
  return entry as Extract<HumanEntry, { kind: K }> | undefined;
}

function append(rows: HumanRows, entry: NewSaid | NewTyped, isClient: (principalId: string) => boolean): HumanResult<"human.append"> {
  const before = known(rows, entry);
  if (before !== undefined) return { outcome: "known", entry: before };
  if (entry.kind === "said") return { outcome: "kept", entry: insert(rows, { ...entry, whileAway: false }) };
  const asked = entry.questionId === null ? undefined : questionBy(rows, entry.questionId);
  const living = (client: HumanClient | null | undefined): HumanClient | null => (client && isClient(client.principalId) ? client : null);
  const asker = living(asked?.client);
  const question = asker === null ? undefined : asked;
  if (question?.state === "answered") return { outcome: "answered" };
  if (rows.count("queued") >= HUMAN_LIMITS.queued) return { outcome: "full" };
  return { outcome: "kept", entry: keep(rows, { ...entry, questionId: asked?.id ?? null, to: asker ?? living(entry.to) }, question) };
}

function keep(rows: HumanRows, entry: NewTyped, question: Asked | undefined): Typed {
  const typed = insert(rows, { ...entry, state: "queued" as const, repeat: false });
  for (const image of entry.images) rows.useImage(image.id, typed.n);
  // Also a question that had expired: its late answer is delivered like any other.
  if (question !== undefined) rows.update({ ...question, state: "answered" });
  return typed;
}

function questionBy(rows: HumanRows, id: string): Asked | undefined {
  const question = rows.get(id);
  return question?.kind === "asked" ? question : undefined;
}

function ask(rows: HumanRows, entry: HumanParams<"human.ask">["entry"], now: number): HumanResult<"human.ask"> {
  const open: Asked[] = [];
  for (const question of rows.waiting("open")) {
    if (question.kind !== "asked") continue;
    if (isOver(question, now)) rows.update({ ...question, state: "expired" });
    else open.push(question);
  }
  const again = known(rows, entry) ?? open.find((other) => isSame(other, entry)) ?? answeredUnheard(rows, entry);
  if (again !== undefined) return { outcome: "attached", entry: again };
  const own = open.filter(({ client }) => client.principalId === entry.client.principalId);
  if (own.length >= HUMAN_LIMITS.openPerClient || open.length >= HUMAN_LIMITS.open) return { outcome: "too_many" };
  return { outcome: "asked", entry: insert(rows, { ...entry, expiresAt: now + HUMAN_LIMITS.questionLifeMs, state: "open" as const }) };
}

/** [HU5] A delivered answer is never found here: a new "Continue?" must not get an old yes. */
function answeredUnheard(rows: HumanRows, entry: HumanParams<"human.ask">["entry"]): Asked | undefined {
  return rows
    .waitingAnswers(entry.client.principalId)
    .map(({ questionId }) => rows.get(questionId ?? ""))
    .find((question): question is Asked => question?.kind === "asked" && isSame(question, entry));
}

function isSame(question: Asked, { client, text, options }: HumanParams<"human.ask">["entry"]): boolean {
  return question.client.principalId === client.principalId && question.text === text && JSON.stringify(question.options) === JSON.stringify(options);
}

function isOver(question: Asked, now: number): boolean {
  return question.state === "open" && question.expiresAt <= now;
}

/** [HU7] */
function take(rows: HumanRows, principalId: string, x: number | null): Typed[] {
  const messages: Typed[] = [];
  let chars = 0;
  let imageBytes = 0;
  for (const entry of rows.waiting("queued", principalId)) {
    if (entry.kind !== "typed") continue;
    chars += JSON.stringify(entry).length;
    for (const { bytes } of entry.images) imageBytes += bytes;
    if (messages.length > 0 && (chars > HUMAN_LIMITS.batchChars || imageBytes > HUMAN_LIMITS.batchImageBytes)) break;
    messages.push({ ...entry, state: x === null ? "read" : "delivered" });
  }
  for (const message of messages) rows.update(message);
  return messages;
}

function history(rows: HumanRows, before: number | null): HumanResult<"human.history"> {
  const entries: HumanEntry[] = [];
  let chars = 0;
  for (const entry of rows.latest(before)) {
    chars += JSON.stringify(entry).length;
    const isFull = entries.length === HUMAN_LIMITS.historyPage || (entries.length > 0 && chars > HUMAN_LIMITS.batchChars);
    if (isFull) return { entries: entries.toReversed(), more: true };
    entries.push(entry);
  }
  return { entries: entries.toReversed(), more: false };
}

/**
 * [HU14] An answer stays known as one: whoever gets it must not take a "yes" to somebody else's question for one to its own.
 * Tells in pieces, because all of it may not fit one frame, nor into memory.
 */
function revoke(rows: HumanRows, principalId: string, tell: (entries: HumanEntry[]) => void): void {
  let changed: HumanEntry[] = [];
  let chars = 0;
  const change = (entry: HumanEntry) => {
    rows.update(entry);
    const size = JSON.stringify(entry).length;
    if (chars + size > HUMAN_LIMITS.batchChars && changed.length > 0) {
      tell(changed);
      changed = [];
      chars = 0;
    }
    changed.push(entry);
    chars += size;
  };
  for (const entry of rows.waiting("open", principalId)) if (entry.kind === "asked") change({ ...entry, state: "withdrawn" });
  for (const entry of rows.waiting("queued", principalId)) {
    if (entry.kind === "typed" && entry.to !== null) change({ ...entry, to: null });
  }
  if (changed.length > 0) tell(changed);
}

function putImage(rows: HumanRows, { image: { id }, part, parts, data }: HumanParams<"human.image.put">, now: number): Record<string, never> {
  if (part >= parts) throw new RangeError(`part ${part} of ${parts} parts`);
  if (part > 0 && rows.part(id, 0)?.parts !== parts) throw new RangeError("an image begins with its part 0, and keeps its number of parts");
  if (part === 0 && rows.part(id, 0) === undefined) makeRoom(rows);
  rows.putPart({ id, part, parts, data, at: now });
  return {};
}

function makeRoom(rows: HumanRows): void {
  const images = rows.images();
  if (images.length < HUMAN_LIMITS.images) return;
  const read = images.find(({ usedBy }) => usedBy === "settled" || usedBy === "gone");
  if (read === undefined) throw new RangeError(`${HUMAN_LIMITS.images} images wait for a client: send this one when some have been read`);
  rows.dropImage(read.id);
}

function sweepImages(rows: HumanRows, now: number): number | undefined {
  let due: number | undefined;
  for (const { id, at, usedBy } of rows.images()) {
    const end = at + HUMAN_LIMITS.imageLifeMs;
    if (usedBy === "gone" || (usedBy === "none" && end <= now)) rows.dropImage(id);
    else if (usedBy === "none") due ??= end;
  }
  return due;
}
