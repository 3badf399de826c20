/** What is known here of the conversation, and every change of it told to the pages. */
import type { ConversationView, DeskEvent } from "../../shared/desk.ts";
import type { HumanClient, HumanEntry, Mark, Typed } from "../../shared/human/entry.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { createSeenClients, type SeenClients } from "./seen-clients.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

export interface ConversationMirror {
  readonly transcript: Transcript;
  readonly clients: SeenClients;
  /** What the store keeps now; its questions that this answers are answered. */
  readonly learn: (entries: readonly HumanEntry[]) => void;
  readonly mark: (marks: readonly Mark[]) => void;
  /** Entries that `transcript` took in already. */
  readonly changed: (entries: readonly HumanEntry[]) => void;
  readonly sawClient: (client: HumanClient, at: number) => void;
  readonly publishRest: () => void;
  readonly expire: () => void;
  readonly close: () => void;
}

export interface MirrorPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly publish: (event: DeskEvent) => void;
  readonly rest: () => Omit<ConversationView, "entries">;
  /** A message waits for a client. */
  readonly onQueued: (message: Typed) => void;
  readonly maxEntries: number;
  readonly maxChars: number;
}

/** A timer beyond 2^31 ms would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createConversationMirror(ports: MirrorPorts): ConversationMirror {
  const { clock, timers, publish } = ports;
  const transcript = createTranscript(ports);
  const clients = createSeenClients();
  let cancelExpiry = (): void => {};
  const publishRest = (): void => publish({ t: "conversation", ...ports.rest() });

  function changed(entries: readonly HumanEntry[]): void {
    for (const entry of entries) publish({ t: "entry", entry });
    if (entries.length === 0) return;
    watchExpiry();
    const saw = entries.filter((entry) => entry.kind !== "typed").map((entry) => clients.saw(entry.client, entry.at));
    if (saw.includes(true)) publishRest();
  }

  /** The store closes a question with its answer, and says so only when it is asked. */
  function answeredBy(entry: HumanEntry): HumanEntry[] {
    const question = entry.kind === "typed" && entry.questionId !== null ? transcript.question(entry.questionId) : undefined;
    return question?.state === "open" || question?.state === "expired" ? [{ ...question, state: "answered" }] : [];
  }

  function watchExpiry(): void {
    cancelExpiry();
    const now = clock.now();
    const next = Math.min(...transcript.openQuestions(now).map((question) => question.expiresAt));
    cancelExpiry = Number.isFinite(next) ? timers.after(Math.min(next - now, LONGEST_TIMER_MS), expire) : () => {};
  }

  function expire(): void {
    for (const entry of transcript.expire(clock.now())) publish({ t: "entry", entry });
    watchExpiry();
  }

  return {
    transcript,
    clients,
    changed,
    publishRest,
    expire,
    learn(entries) {
      const news = transcript.upsert(entries);
      changed(news);
      changed(transcript.upsert(news.flatMap(answeredBy)));
      for (const entry of news) if (entry.kind === "typed" && entry.state === "queued") ports.onQueued(entry);
    },
    mark(list) {
      const marks = transcript.mark(list);
      if (marks.length > 0) publish({ t: "marks", marks });
    },
    sawClient(client, at) {
      if (clients.saw(client, at)) publishRest();
    },
    close: () => cancelExpiry(),
  };
}
