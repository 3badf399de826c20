/**
 * Calls that wait for the person (`--approve`). In memory only: whatever ends the agent refuses them. Nothing here allows a call
 * but an allowing click on its own card, or an earlier click for the very same call of the same client; no wait ends in a yes.
 */
import type { ApprovalAnswer, ApprovalCard, ApprovalDecision, ApprovalGate, ApprovalOutcome, ApprovalRequest } from "../../shared/approval.ts";
import { AUDIT_ARGS_CHARS, type AuditTrail, type CallAudit } from "../../shared/audit.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import { canonicalJson } from "../../shared/json.ts";
import type { Clock, Log, Timers } from "../../shared/ports.ts";
import type { ShownCall } from "./approval-card.ts";
import { deniedText, endedWhy, withdrawnText } from "./approval-texts.ts";
import { clientLabel } from "./client-label.ts";
import { sha256 } from "./sha256.ts";
import { createSittingMemory, type SittingMemory } from "./sitting-memory.ts";
import { createWaitingCalls, type CallFacts, type WaitingCall } from "./waiting-calls.ts";

export interface ApprovalsOptions {
  /** Names of the tools whose calls wait. */
  readonly guarded: readonly string[];
  /** Whether the audit trail has the arguments themselves. */
  readonly auditFull: boolean;
  readonly audit: AuditTrail;
  /** Mints ids of cards; unique, unguessable. */
  readonly newId: () => string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly publish: (event: DeskEvent) => void;
}

export interface Approvals extends ApprovalGate {
  /** Oldest first. */
  list(): ApprovalCard[];
  /**
   * Decides one card, once: any later decision (double click, second page) is `gone`. Rejects with `DecisionUnrecorded` when an
   * allowing one could not be written down; the call is refused then.
   */
  decide(decision: ApprovalDecision): Promise<ApprovalOutcome>;
  /** What was allowed for the sitting. */
  readonly sitting: Pick<SittingMemory, "count" | "forget">;
  /** What a card is about, uncut; null: it waits no longer. */
  whole(id: string): ShownCall | null;
  /** Refuses every waiting call, or those of some clients. @param why a clause: "the agent ends" */
  withdrawAll(why: string, isTheirs?: (principalId: string) => boolean): void;
  /** `withdrawAll`, and every call that comes before `resume`. */
  suspend(why: string): void;
  resume(): void;
}

/** An allowing decision that could not be written down: a sentence for the person. */
export class DecisionUnrecorded extends Error {
  override readonly name = "DecisionUnrecorded";
}

/** A connection that its client closed is noticed at the second write, and after the way there and back. */
const PROBE_MS = 50;
const LEAVING_MS = 150;

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { audit, timers } = options;
  const guarded = new Set(options.guarded);
  const sitting = createSittingMemory(options);
  /** One decision is taken of each. */
  const deciding = new WeakSet<WaitingCall>();
  let suspended: string | null = null;

  /** For what allows nothing: it is told if it can be. */
  const note = (facts: CallFacts, more: Pick<CallAudit, "event" | "reasonChars" | "why">): void =>
    void audit.record({ ...facts, ...more }).catch(() => options.log.event("error", "audit.failed", { event: more.event }));
  const calls = createWaitingCalls({ newId: options.newId, now: () => options.clock.now(), publish: options.publish, note });

  function whyNot(request: ApprovalRequest): ApprovalAnswer | undefined {
    const why = request.signal.aborted ? endedWhy(request.signal.reason) : suspended;
    return why === null ? undefined : { allowed: false, text: withdrawnText(request.tool, why) };
  }

  /** Written down before anything is run. */
  async function passRemembered(request: ApprovalRequest, facts: CallFacts): Promise<ApprovalAnswer> {
    try {
      await audit.record({ ...facts, event: "approval.passed" });
    } catch {
      return { allowed: false, text: withdrawnText(request.tool, UNRECORDED) };
    }
    return whyNot(request) ?? { allowed: true };
  }

  async function allow(call: WaitingCall, how: "once" | "sitting"): Promise<ApprovalOutcome> {
    await giveTimeToLeave(call.request, timers);
    if (!calls.isOpen(call)) return GONE;
    try {
      await audit.record({ ...call.facts, event: `approval.allowed_${how}` });
    } catch (cause) {
      calls.withdraw(call, UNRECORDED);
      const said = cause instanceof Error ? cause.message : String(cause);
      throw new DecisionUnrecorded(`The call was refused, because your decision could not be recorded: ${said}`, { cause });
    }
    if (!calls.isOpen(call)) return GONE;
    if (how === "sitting") sitting.add(call.request);
    calls.end(call, "allowed", { allowed: true });
    return { outcome: "allowed" };
  }

  function deny(call: WaitingCall, reason: string | undefined): ApprovalOutcome {
    note(call.facts, { event: "approval.denied", reasonChars: reason?.length ?? 0 });
    calls.end(call, "denied", { allowed: false, text: deniedText(call.request.tool, reason) });
    return { outcome: "denied" };
  }

  function withdrawAll(why: string, isTheirs: (principalId: string) => boolean = () => true): void {
    for (const call of calls.all()) if (isTheirs(call.request.principalId)) calls.withdraw(call, why);
  }

  return {
    guards: (tool) => guarded.has(tool),
    async ask(request) {
      const refusal = whyNot(request);
      if (refusal !== undefined) return refusal;
      const facts = factsOf(request, options.auditFull);
      return sitting.has(request) ? passRemembered(request, facts) : calls.raise(request, facts);
    },
    list: () => calls.all().map(({ card }) => card),
    async decide({ id, decision, reason }) {
      const call = calls.get(id);
      if (call === undefined || deciding.has(call)) return GONE;
      deciding.add(call);
      return decision === "deny" ? deny(call, reason) : allow(call, decision);
    },
    sitting,
    whole: (id) => calls.get(id)?.whole ?? null,
    withdrawAll,
    suspend(why) {
      suspended = why;
      withdrawAll(why);
    },
    resume: () => void (suspended = null),
  };
}

const GONE: ApprovalOutcome = { outcome: "gone" };
/** A clause. */
const UNRECORDED = "the decision could not be written to this machine's audit log";

/** A client that left a moment ago is noticed only by writing: its command must not run for nobody. */
async function giveTimeToLeave(request: ApprovalRequest, timers: Timers): Promise<void> {
  for (const restMs of [PROBE_MS, LEAVING_MS]) {
    request.probe();
    await untilOver(request, restMs, timers);
  }
}

/** Rests until the call is over, at most that long. */
function untilOver({ signal }: ApprovalRequest, restMs: number, timers: Timers): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  const cancel = timers.after(restMs, resolve);
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  return promise.finally(() => {
    cancel();
    signal.removeEventListener("abort", onAbort);
  });
}

function factsOf(request: ApprovalRequest, full: boolean): CallFacts {
  const { tool, callId, principalId: principal, args } = request;
  const canonical = canonicalJson(args);
  const facts = { tool, callId, principal, client: clientLabel(request), argsSha256: sha256(canonical) };
  if (!full) return facts;
  return canonical.length <= AUDIT_ARGS_CHARS ? { ...facts, args } : { ...facts, argsHead: canonical.slice(0, AUDIT_ARGS_CHARS) };
}
