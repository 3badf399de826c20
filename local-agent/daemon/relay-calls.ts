/** Control calls on the link, in both directions, and what became of each [WP22]. Knows no socket. */
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import type { PendingAuthorization } from "../../shared/authorization.ts";
import type { Timers } from "../../shared/ports.ts";
import { RELAY_CALLS, type CallFrame, type ReplyFrame } from "../../shared/wire/frames.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import type { RelayHumanStore } from "./relay-human-store.ts";

/** No link, or no answer in time: what the relay did is not known. */
export class CallUnanswered extends Error {
  override readonly name = "CallUnanswered";
}

/** The relay answered that it will not, in its own words. */
export class CallRefused extends Error {
  override readonly name = "CallRefused";
}

export interface RelayCallsOptions {
  readonly timers: Timers;
  /** False: there is no link that was welcomed. */
  readonly send: (call: CallFrame) => boolean;
  readonly onPending: (pending: readonly PendingAuthorization[]) => void;
  readonly onGrantsChanged: () => void;
  readonly human: Pick<RelayHumanStore, "hear"> | undefined;
}

export interface RelayCalls {
  /** The result as it came. Rejects with `CallUnanswered` or `CallRefused`. */
  ask(method: string, params: Record<string, unknown>): Promise<unknown>;
  replied(reply: ReplyFrame): void;
  /** A call of the relay, and what to reply. */
  called(call: CallFrame): ReplyFrame;
  linkLost(): void;
}

export function createRelayCalls({ timers, send, ...hearers }: RelayCallsOptions): RelayCalls {
  const waiting = new Map<string, { replied(reply: ReplyFrame): void; failed(why: CallUnanswered): void }>();

  return {
    async ask(method, params) {
      const id = randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<ReplyFrame>();
      waiting.set(id, { replied: resolve, failed: reject });
      const cancelTimeout = timers.after(LIMITS.callMs, () => reject(new CallUnanswered("the relay did not answer in time")));
      try {
        if (!send({ t: "call", id, method, params })) throw new CallUnanswered("the relay is not connected right now");
        const reply = await promise;
        if (!reply.ok) throw new CallRefused(reply.message ?? "the relay refused");
        return reply.result;
      } finally {
        cancelTimeout();
        waiting.delete(id);
      }
    },
    replied: (reply) => waiting.get(reply.id)?.replied(reply),
    called: (call) =>
      isHeard(call, hearers) ? { t: "reply", id: call.id, ok: true, result: {} } : { t: "reply", id: call.id, ok: false, message: "unknown call" },
    linkLost() {
      for (const call of waiting.values()) call.failed(new CallUnanswered("the connection to the relay was lost"));
    },
  };
}

function isHeard({ method, params }: CallFrame, { onGrantsChanged, onPending, human }: Omit<RelayCallsOptions, "timers" | "send">): boolean {
  if (method === "grants.changed") {
    onGrantsChanged();
    return true;
  }
  if (method !== "authorization.changed") return human?.hear(method, params) ?? false;
  const changed = v.safeParse(RELAY_CALLS["authorization.changed"].params, params);
  if (changed.success) onPending(changed.output.pending);
  return changed.success;
}
