/**
 * Sessions of legacy clients over HTTP. The id says everything that serving needs and is sealed, so that a session outlives the agent
 * that opened it; what is kept here besides is lost with it and does no harm (a log level, subscriptions, that it was ended).
 */
import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS, type LoggingLevel } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { askable } from "./caller.ts";
import type { AskableCapabilities } from "./passage.ts";
import type { Seal } from "./seal.ts";

export interface Subscription {
  /** Rejects when the upstream refuses. */
  readonly begun: Promise<void>;
  stop(): void;
}

export interface Session {
  /** Unlike the id it may be a key in memory: nobody can send it. */
  readonly key: string;
  readonly version: string;
  readonly capabilities: AskableCapabilities;
  logLevel: LoggingLevel | null;
  /** What the client waits to hear of, by URI. */
  readonly subscriptions: Map<string, Subscription>;
  /** Changes that no running call could tell: told by the next one. */
  readonly untold: Set<string>;
}

export type FoundSession =
  | { readonly at: "session"; readonly session: Session }
  /** Not in the form of ours: served as if there were none. */
  | { readonly at: "none" }
  /** Forged, another client's, too old, or ended. */
  | { readonly at: "refused" };

export interface Sessions {
  /** A new id for the client that initializes with these parameters. */
  begin(principalId: string, params: JsonObject): string;
  find(principalId: string, id: string | null): FoundSession;
  end(principalId: string, id: string | null): void;
  /** Sessions of which something is remembered. */
  known(principalId: string): readonly Session[];
  close(): void;
}

const PREFIX = "pimcp-1.";
/** A client that comes back later initializes again. */
const LIFE_MS = 30 * 24 * 60 * 60_000;
const MAX_REMEMBERED = 256;
const MAX_ENDED = 4096;

export function createSessions(seal: Seal, newKey: () => string): Sessions {
  const remembered = new Map<string, { readonly principalId: string; readonly session: Session }>();
  const ended = new Set<string>();

  const read = (principalId: string, id: string): Session | null => {
    const content = seal.open("session", [principalId], id.slice(PREFIX.length));
    const key = content?.["k"];
    const version = content?.["v"];
    if (typeof key !== "string" || typeof version !== "string" || ended.has(key)) return null;
    const held = remembered.get(key)?.session;
    const session = held ?? { key, version, capabilities: askable(content?.["c"]), logLevel: null, subscriptions: new Map(), untold: new Set() };
    // The one used last is forgotten last.
    remembered.delete(key);
    remembered.set(key, { principalId, session });
    if (remembered.size > MAX_REMEMBERED) forgetOldest();
    return session;
  };
  const forget = (key: string): void => {
    for (const subscription of remembered.get(key)?.session.subscriptions.values() ?? []) subscription.stop();
    remembered.delete(key);
  };
  const forgetOldest = (): void => {
    const [oldest] = remembered.keys();
    if (oldest !== undefined) forget(oldest);
  };

  return {
    begin(principalId, params) {
      const asked = params["protocolVersion"];
      const v = typeof asked === "string" && SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION;
      const c = askable(isJsonObject(params["capabilities"]) ? params["capabilities"] : {}) as JsonObject;
      return `${PREFIX}${seal.seal("session", [principalId], { k: newKey(), v, c }, LIFE_MS)}`;
    },
    find(principalId, id) {
      if (id === null || !id.startsWith(PREFIX)) return { at: "none" };
      const session = read(principalId, id);
      return session === null ? { at: "refused" } : { at: "session", session };
    },
    end(principalId, id) {
      if (id === null || !id.startsWith(PREFIX)) return;
      const session = read(principalId, id);
      if (session === null) return;
      forget(session.key);
      ended.add(session.key);
      const [first] = ended;
      if (ended.size > MAX_ENDED && first !== undefined) ended.delete(first);
    },
    known: (principalId) => [...remembered.values()].filter((held) => held.principalId === principalId).map(({ session }) => session),
    close() {
      for (const key of remembered.keys()) forget(key);
    },
  };
}
