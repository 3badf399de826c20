/** Which news deserve a sound, and which were heard before. Pure. */
import type { DeskEvent, DeskSnapshot } from "../shared/desk.ts";
import type { HumanEntry } from "../shared/human/entry.ts";

/** Also the sound: what is asked of the person has one, and what a client said has three. */
export type AlertKind = "question" | "message" | "done" | "error";

export interface Alert {
  readonly id: string;
  readonly kind: AlertKind;
  readonly about: "access" | "approval" | "form" | "conversation";
  /** What the client calls itself; empty where the page has a card that says more. */
  readonly from: string;
}

/** What the page has heard of. Made by the first snapshot: what was there before the page is no news. */
export interface AlertMemory {
  readonly isPrimed: boolean;
  /** Place of the latest entry. */
  readonly latest: number;
  /** Whether the older conversation was there once: until then, entries that arrive are old ones. */
  readonly isLoaded: boolean;
  /** Cards, the latest last. */
  readonly cards: readonly string[];
}

export interface Heard {
  readonly memory: AlertMemory;
  readonly alerts: readonly Alert[];
}

export const NOTHING_HEARD: AlertMemory = { isPrimed: false, latest: 0, isLoaded: false, cards: [] };

/** Far more than can wait at once. */
const MAX_CARDS = 1_000;

/** Also after a connection was lost: the snapshot that follows brings what the page has missed. */
export function hear(memory: AlertMemory, event: DeskEvent, now: number): Heard {
  if (event.t === "snapshot") return hearSnapshot(memory, event.snapshot, now);
  if (event.t === "authorizations") return hearCards(memory, event.authorizations, "access");
  if (event.t === "approvals") return hearCards(memory, event.approvals, "approval");
  if (event.t === "forms") return hearCards(memory, event.forms, "form");
  if (event.t === "entry") return hearEntries(memory, [event.entry], now);
  if (event.t === "conversation" && event.isLoaded) return { memory: { ...memory, isLoaded: true }, alerts: [] };
  return { memory, alerts: [] };
}

/** The one that a single sound stands for. */
export function mostUrgent(alerts: readonly Alert[]): Alert | undefined {
  const order: readonly AlertKind[] = ["question", "error", "done", "message"];
  return alerts.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))[0];
}

/** For a notification: who, and that there is something. What was said stays on the page, because a lock screen shows this. */
export function alertSentence({ kind, about, from }: Alert): string {
  if (about === "access") return "An app asks for access to this computer.";
  if (about === "approval") return "A call waits for your approval.";
  if (about === "form") return "An MCP server asks you something.";
  const who = `“${from}”`;
  if (kind === "question") return `${who} asks you something.`;
  if (kind === "done") return `${who} says it is done.`;
  return kind === "error" ? `${who} reports a problem.` : `${who} wrote to you.`;
}

function hearSnapshot(memory: AlertMemory, snapshot: DeskSnapshot, now: number): Heard {
  const access = hearCards(memory, snapshot.authorizations, "access");
  const approvals = hearCards(access.memory, snapshot.approvals, "approval");
  const forms = hearCards(approvals.memory, snapshot.forms, "form");
  const { conversation } = snapshot;
  const entries = conversation === null ? { memory: forms.memory, alerts: [] } : hearEntries(forms.memory, conversation.entries, now);
  const heard = { ...entries.memory, isPrimed: true, isLoaded: memory.isLoaded || conversation === null || conversation.isLoaded };
  // A store that began anew counts anew.
  const newest = conversation?.entries.at(-1)?.n ?? 0;
  const restarted = conversation?.isLoaded === true && newest < memory.latest ? { ...heard, latest: newest } : heard;
  return { memory: restarted, alerts: memory.isPrimed ? [...access.alerts, ...approvals.alerts, ...forms.alerts, ...entries.alerts] : [] };
}

function hearCards(memory: AlertMemory, cards: readonly { readonly id: string }[], about: "access" | "approval" | "form"): Heard {
  const fresh = cards.map(({ id }) => `${about} ${id}`).filter((id) => !memory.cards.includes(id));
  if (fresh.length === 0) return { memory, alerts: [] };
  return {
    memory: { ...memory, cards: [...memory.cards, ...fresh].slice(-MAX_CARDS) },
    alerts: fresh.map((id): Alert => ({ id, kind: "question", about, from: "" })),
  };
}

function hearEntries(memory: AlertMemory, entries: readonly HumanEntry[], now: number): Heard {
  const fresh = entries.filter((entry) => entry.n > memory.latest);
  const latest = fresh.reduce((latest, entry) => Math.max(latest, entry.n), memory.latest);
  return { memory: { ...memory, latest }, alerts: memory.isLoaded ? fresh.flatMap((entry) => alertOf(entry, now)) : [] };
}

function alertOf(entry: HumanEntry, now: number): Alert[] {
  if (entry.kind === "typed") return [];
  const { id, client } = entry;
  if (entry.kind === "said") return [{ id, kind: entry.category, about: "conversation", from: client.name }];
  return entry.state === "open" && entry.expiresAt > now ? [{ id, kind: "question", about: "conversation", from: client.name }] : [];
}
