/** What one use of a connection may do, and how its requests end: by the caller, by their deadline, or with the use itself. */
import { SdkError, SdkErrorCode, type Client, type Progress } from "@modelcontextprotocol/client";
import type { Deadlines } from "./deadlines.ts";
import type { RequestLimits, UpstreamFacts, UsedUpstream } from "./upstream-pool.ts";

/** The SDK's own default. */
export const REQUEST_MS = 60_000;

/** One for all: most uses end with nothing left to hear it, and making an error costs more than the rest of the end. */
const USE_ENDED = new Error("the use has ended");

/** The SDK's timer cannot be stopped while a person is asked: ours decides, and this one never comes. */
const NEVER_MS = 2_147_483_647;

interface UseScope {
  readonly upstream: Pick<UsedUpstream, "client" | "facts" | "requestOptions">;
  /** Ends what the use left running. */
  end(reason?: unknown): void;
}

export function createUseScope(
  connection: { readonly client: Client; readonly facts: UpstreamFacts },
  deadlines: Deadlines,
  use: { readonly signals: readonly AbortSignal[]; readonly timeoutMs: number | null },
): UseScope {
  const timeoutMs = use.timeoutMs ?? REQUEST_MS;
  const ends = new Set<(reason: unknown) => void>();
  const aborted = (): AbortSignal | undefined => use.signals.find((signal) => signal.aborted);
  const follow = (): void => end(aborted()?.reason);
  for (const signal of use.signals) signal.addEventListener("abort", follow, { once: true });

  const requestOptions = (onProgress?: (progress: Progress) => void): RequestLimits => {
    const own = new AbortController();
    const deadline = deadlines.start(timeoutMs, () => own.abort(timedOut(timeoutMs)));
    ends.add((reason) => {
      deadline.cancel();
      own.abort(reason);
    });
    if (aborted() !== undefined) own.abort(aborted()?.reason);
    const base = { signal: own.signal, timeout: NEVER_MS };
    if (onProgress === undefined) return base;
    const onprogress = (progress: Progress): void => {
      deadline.restart();
      onProgress(progress);
    };
    return { ...base, onprogress };
  };

  const end = (reason: unknown = USE_ENDED): void => {
    for (const signal of use.signals) signal.removeEventListener("abort", follow);
    for (const each of ends) each(reason);
    ends.clear();
  };

  return { upstream: { client: connection.client, facts: connection.facts, requestOptions }, end };
}

function timedOut(timeoutMs: number): SdkError {
  const message = `The server did not answer within ${timeoutMs} ms. Raise "requestTimeoutMs" of the server if it needs longer.`;
  return new SdkError(SdkErrorCode.RequestTimeout, message, { timeout: timeoutMs });
}
