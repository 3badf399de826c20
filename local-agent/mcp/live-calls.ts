/**
 * The calls that run now, so that `notifications/cancelled` can find one without a session (DESIGN §9). A client's own
 * ids are the only name it has for a call, and sessionless clients reuse them: only an unambiguous match is cancelled.
 */
import type { RpcId } from "../../shared/jsonrpc.ts";

export interface LiveCalls {
  /** Returns the function that removes the call again; calling it twice is harmless. */
  add(principalId: string, id: RpcId, cancel: (reason: unknown) => void): () => void;
  /** [MC14] Cancels the one live call of that principal and id. `none` and `ambiguous` cancel nothing. */
  cancel(principalId: string, id: RpcId, reason: unknown): "cancelled" | "none" | "ambiguous";
}

export function createLiveCalls(): LiveCalls {
  const live = new Map<string, Set<(reason: unknown) => void>>();
  return {
    add(principalId, id, cancel) {
      const key = keyOf(principalId, id);
      const calls = live.get(key) ?? new Set();
      live.set(key, calls.add(cancel));
      return () => {
        calls.delete(cancel);
        if (calls.size === 0 && live.get(key) === calls) live.delete(key);
      };
    },
    cancel(principalId, id, reason) {
      const calls = live.get(keyOf(principalId, id));
      const [only] = calls ?? [];
      if (only === undefined || calls === undefined) return "none";
      if (calls.size > 1) return "ambiguous";
      only(reason);
      return "cancelled";
    },
  };
}

/** The number 1 and the string "1" are different ids. */
function keyOf(principalId: string, id: RpcId): string {
  return JSON.stringify([principalId, id]);
}
