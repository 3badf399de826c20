/**
 * What changed at upstreams, to the clients whose connections saw it: to modern ones on the streams they listen on, to legacy ones on
 * the stream of a call that runs, since they have no other; what a session could not be told its next call is.
 */
import { InMemoryServerEventBus, type ServerEvent, type ServerEventBus } from "@modelcontextprotocol/server";
import { parseJson } from "../../../shared/json.ts";
import type { Session } from "./sessions.ts";
import type { Change } from "./upstream-link.ts";

export interface Changes {
  publish(principalId: string, change: Change): void;
  /** For the streams of a modern client. */
  bus(principalId: string): ServerEventBus;
  /** A stream that a legacy client reads now; the returned function says that it ends. `tell`: false when it could not be told. */
  announce(principalId: string, session: Session | null, tell: (change: Change) => boolean): () => void;
}

const MAX_UNTOLD = 64;

interface Announcer {
  readonly principalId: string;
  readonly session: Session | null;
  readonly tell: (change: Change) => boolean;
}

/** @param sessionsOf a client's sessions of which something is remembered */
export function createChanges(sessionsOf: (principalId: string) => readonly Session[]): Changes {
  const buses = new Map<string, InMemoryServerEventBus>();
  const announcers = new Set<Announcer>();
  return {
    publish(principalId, change) {
      const event = eventOf(change);
      if (event !== null) buses.get(principalId)?.publish(event);
      const told = new Set<string>();
      for (const announcer of announcers) {
        if (announcer.principalId !== principalId || !concerns(announcer.session, change)) continue;
        if (announcer.tell(change) && announcer.session !== null) told.add(announcer.session.key);
      }
      for (const session of sessionsOf(principalId)) {
        if (!told.has(session.key) && concerns(session, change) && session.untold.size < MAX_UNTOLD) session.untold.add(JSON.stringify(change));
      }
    },
    bus(principalId) {
      const bus = buses.get(principalId) ?? new InMemoryServerEventBus();
      buses.set(principalId, bus);
      return bus;
    },
    announce(principalId, session, tell) {
      const announcer = { principalId, session, tell };
      announcers.add(announcer);
      for (const untold of session?.untold ?? []) if (tell(parseJson(untold) as unknown as Change)) session?.untold.delete(untold);
      return () => void announcers.delete(announcer);
    },
  };
}

function concerns(session: Session | null, change: Change): boolean {
  return change.kind !== "resource" || session?.subscriptions.has(change.uri) === true;
}

function eventOf(change: Change): ServerEvent | null {
  // The notification went with revision 2026-07-28.
  if (change.kind === "visited") return null;
  return change.kind === "resource" ? { kind: "resource_updated", uri: change.uri } : { kind: `${change.kind}_list_changed` };
}

export function notificationOf(change: Change): { readonly method: string; readonly params: Record<string, string> } {
  if (change.kind === "visited") return { method: "notifications/elicitation/complete", params: { elicitationId: change.elicitationId } };
  return change.kind === "resource"
    ? { method: "notifications/resources/updated", params: { uri: change.uri } }
    : { method: `notifications/${change.kind}/list_changed`, params: {} };
}
