/**
 * How long one call may wait for the person (docs/spec/human.md). The wait ends before the client's own patience does: a
 * client that gives up first learns nothing, one that is told "call again" goes on.
 */

/** Below the limit of a minute that several clients have, the SDKs' default among them. */
const DEFAULT_MS = 45_000;
/** No wait is longer unless the person says so. Proxies cut an answer after about 100 s. */
const CAP_MS = 90_000;
/** A model's own wish is not taken below this: it would only ask more often. */
const LEAST_MS = 5000;

/**
 * Clients whose limit is known to be far above the cap, by the beginning of the name they give themselves. A false name
 * gains nothing: its caller waits longer, or gives up and calls again.
 */
const PATIENT_CLIENTS = [
  // Gives up after 300 s without a byte.
  "claude code",
  // Cuts a call after about 305 s.
  "cursor",
];

export interface WaitWish {
  /** `--block-ms`; null: not given. */
  readonly blockMs: number | null;
  readonly clientName: string;
  /** The call's own `timeout`, in seconds; null: none. */
  readonly timeoutS: number | null;
}

export interface WaitBudget {
  readonly budgetMs: number;
  /** Whether the call asked for another length than it gets. */
  readonly isClamped: boolean;
}

/** The wait in force for a client of which nothing is known, in milliseconds. */
export function defaultWaitMs(blockMs: number | null): number {
  return blockMs ?? DEFAULT_MS;
}

/** The wait in force for a client that is known to bear more, in milliseconds. */
export function patientWaitMs(blockMs: number | null): number {
  return blockMs ?? CAP_MS;
}

/** [HU37] [HU38] `timeout` only shortens. */
export function waitBudget({ blockMs, clientName, timeoutS }: WaitWish): WaitBudget {
  const most = isPatient(clientName) ? patientWaitMs(blockMs) : defaultWaitMs(blockMs);
  if (timeoutS === null) return { budgetMs: most, isClamped: false };
  const budgetMs = Math.min(most, Math.max(LEAST_MS, timeoutS * 1000));
  return { budgetMs, isClamped: budgetMs !== timeoutS * 1000 };
}

function isPatient(clientName: string): boolean {
  const name = clientName.trim().toLowerCase();
  return PATIENT_CLIENTS.some((known) => name === known || name.startsWith(`${known} `));
}
