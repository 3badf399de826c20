/** Answers the `human.*` calls from a queue: for whoever keeps one, which is the relay or an agent without one. */
import * as v from "valibot";
import { HUMAN_PARAMS, type HumanMethod } from "./calls.ts";
import { HUMAN_LIMITS } from "./limits.ts";
import type { HumanQueue } from "./queue.ts";

export interface QueueHost {
  readonly queue: HumanQueue;
  /** Whether this exchange can still carry words. */
  readonly isOpen: (x: number) => boolean;
  readonly delay: (ms: number) => Promise<unknown>;
}

export function isHumanMethod(method: string): method is HumanMethod {
  return Object.hasOwn(HUMAN_PARAMS, method);
}

/** Rejects with a `RangeError` that carries a sentence when the parameters cannot be. */
export async function answerHumanCall(method: HumanMethod, params: unknown, host: QueueHost): Promise<unknown> {
  if (method === "human.take") {
    const given = read(method, params);
    await untilFree(host, given.principalId, given.x);
    // Nobody would ever say whether the answer of an exchange that is over arrived.
    if (given.x !== null && !host.isOpen(given.x)) return { messages: [], left: 0 };
    return host.queue.calls[method](given);
  }
  // Whether its earlier answer was heard decides whether a question is a new one.
  if (method === "human.ask") await untilFree(host, read(method, params).entry.client.principalId, null);
  return answer(method, params, host);
}

function answer<M extends HumanMethod>(method: M, params: unknown, { queue }: QueueHost): unknown {
  return queue.calls[method](read(method, params));
}

function read<M extends HumanMethod>(method: M, params: unknown): v.InferOutput<(typeof HUMAN_PARAMS)[M]> {
  const given = v.safeParse(HUMAN_PARAMS[method], params);
  if (!given.success) throw new RangeError(`${method}: ${v.getDotPath(given.issues[0]) ?? "parameters"}: ${given.issues[0].message.slice(0, 200)}`);
  return given.output;
}

async function untilFree({ queue, delay }: QueueHost, principalId: string, x: number | null): Promise<void> {
  const free = queue.free(principalId, x);
  if (free !== undefined) await Promise.race([free, delay(HUMAN_LIMITS.settleMs)]);
}
