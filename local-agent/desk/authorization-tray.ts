/** Authorizations that wait for the person. Holds "decided at most once" on this side of the link; the relay holds it on its own. */
import type { AuthorizationDecision, DecisionOutcome, PendingAuthorization } from "../../shared/authorization.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import type { Timers } from "../../shared/ports.ts";

export interface AuthorizationTray {
  set(list: readonly PendingAuthorization[]): void;
  list(): PendingAuthorization[];
  decide(decision: AuthorizationDecision): Promise<DecisionOutcome>;
}

export interface TrayOptions {
  readonly decide: (decision: AuthorizationDecision) => Promise<DecisionOutcome>;
  readonly timers: Timers;
  readonly deadlineMs: number;
  readonly publish: (event: DeskEvent) => void;
}

/** A decision whose answer is not known: nothing may be assumed granted, and the person may try again. */
export class DecisionUnanswered extends Error {
  override readonly name = "DecisionUnanswered";
}

/** More ids than the relay lets wait at once, so that a list sent before a decision cannot bring its card back. */
const REMEMBERED_DECISIONS = 100;

export function createAuthorizationTray(options: TrayOptions): AuthorizationTray {
  let waiting: readonly PendingAuthorization[] = [];
  const deciding = new Set<string>();
  const decided = new Set<string>();

  function settle(id: string, outcome: DecisionOutcome["outcome"]): void {
    if (decided.has(id)) return;
    decided.add(id);
    for (const oldest of decided) {
      if (decided.size <= REMEMBERED_DECISIONS) break;
      decided.delete(oldest);
    }
    waiting = waiting.filter((authorization) => authorization.id !== id);
    options.publish({ t: "decided", id, outcome });
    options.publish({ t: "authorizations", authorizations: [...waiting] });
  }

  function ask(decision: AuthorizationDecision): Promise<DecisionOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<DecisionOutcome>();
    const unanswered = (why: string, cause?: unknown): void =>
      reject(new DecisionUnanswered(`${why} Nothing is known to be allowed; if the card still waits, decide again.`, { cause }));
    const cancel = options.timers.after(options.deadlineMs, () =>
      unanswered(`The relay did not answer within ${Math.round(options.deadlineMs / 1000)} s.`),
    );
    options.decide(decision).then(
      (answer) => {
        cancel();
        // Also when the deadline has passed: what the relay did is what the pages must show.
        settle(decision.id, answer.outcome);
        resolve(answer);
      },
      (cause: unknown) => {
        cancel();
        unanswered("The relay could not be reached.", cause);
      },
    );
    return promise;
  }

  return {
    set(list) {
      waiting = list.filter((authorization) => !decided.has(authorization.id));
      options.publish({ t: "authorizations", authorizations: [...waiting] });
    },
    list: () => [...waiting],
    async decide(decision) {
      const isWaiting = waiting.some((authorization) => authorization.id === decision.id);
      if (!isWaiting || deciding.has(decision.id)) return { outcome: "gone" };
      deciding.add(decision.id);
      try {
        return await ask(decision);
      } finally {
        deciding.delete(decision.id);
      }
    },
  };
}
