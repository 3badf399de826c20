/** What was granted, as the relay said it last. The relay is asked when a page shows it, and when it says that something changed. */
import type { Grant, Revocation, RevocationOutcome } from "../../shared/authorization.ts";
import type { DeskEvent } from "../../shared/desk.ts";

export interface GrantsPort {
  /** Both reject when the relay cannot be reached or does not answer; each has its own deadline. */
  list(): Promise<readonly Grant[]>;
  revoke(which: Revocation): Promise<RevocationOutcome>;
}

export interface GrantedList {
  /** Null until it was asked for. */
  known(): Grant[] | null;
  refresh(): Promise<readonly Grant[]>;
  changed(): void;
  revoke(which: Revocation): Promise<RevocationOutcome>;
}

/** The relay gave no answer. Its message is for people. */
export class GrantsUnanswered extends Error {
  override readonly name = "GrantsUnanswered";
}

export function createGrantedList(port: GrantsPort, publish: (event: DeskEvent) => void): GrantedList {
  let known: readonly Grant[] | null = null;
  let asked = 0;
  let shown = 0;

  async function refresh(): Promise<readonly Grant[]> {
    const mine = ++asked;
    const grants = await answered(port.list(), "");
    // An answer that was overtaken would bring back what is gone.
    if (mine > shown) {
      shown = mine;
      known = grants;
      publish({ t: "grants", grants: [...grants] });
    }
    return grants;
  }

  /** Whoever looks again asks again, so a failure here is nobody's. */
  const refreshQuietly = (): Promise<unknown> => refresh().catch(() => undefined);

  return {
    known: () => (known === null ? null : [...known]),
    refresh,
    changed() {
      if (known !== null) void refreshQuietly();
    },
    async revoke(which) {
      const outcome = await answered(port.revoke(which), " Nothing is known to have been taken back: look at the list, and try again.");
      await refreshQuietly();
      return outcome;
    },
  };
}

async function answered<T>(answer: Promise<T>, consequence: string): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw new GrantsUnanswered(`The relay could not be asked: ${cause instanceof Error ? cause.message : "it gave no reason"}.${consequence}`, {
      cause,
    });
  }
}
