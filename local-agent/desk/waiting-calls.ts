/** The calls that wait, and their cards. Each is over once: it was decided, or withdrawn with everything that it stood for. */
import type { ApprovalAnswer, ApprovalCard, ApprovalEnd, ApprovalRequest } from "../../shared/approval.ts";
import type { CallAudit } from "../../shared/audit.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import { headOf, wholeCall, type ShownCall } from "./approval-card.ts";
import { endedWhy, tooManyText, withdrawnText } from "./approval-texts.ts";

const MAX_OPEN = 50;
const MAX_OPEN_PER_CLIENT = 10;

/** What the audit trail has of every call. */
export type CallFacts = Pick<CallAudit, "tool" | "callId" | "principal" | "client" | "argsSha256" | "args" | "argsHead">;

export interface WaitingCall {
  readonly card: ApprovalCard;
  readonly request: ApprovalRequest;
  readonly whole: ShownCall;
  readonly facts: CallFacts;
  /** Resolves the call's question; the first time counts. */
  readonly answer: (answer: ApprovalAnswer) => void;
  readonly onAbort: () => void;
}

export interface WaitingCallsOptions {
  readonly newId: () => string;
  readonly now: () => number;
  readonly publish: (event: DeskEvent) => void;
  /** What becomes of a call is told here before anybody is answered. */
  readonly note: (facts: CallFacts, more: Pick<CallAudit, "event" | "why">) => void;
}

export interface WaitingCalls {
  /** Raises a card, or refuses at once when too many wait. */
  raise(request: ApprovalRequest, facts: CallFacts): Promise<ApprovalAnswer>;
  get(id: string): WaitingCall | undefined;
  isOpen(call: WaitingCall): boolean;
  end(call: WaitingCall, end: ApprovalEnd, answer: ApprovalAnswer): void;
  /** @param why a clause */
  withdraw(call: WaitingCall, why: string): void;
  all(): readonly WaitingCall[];
}

export function createWaitingCalls(options: WaitingCallsOptions): WaitingCalls {
  const { publish, note } = options;
  const open = new Map<string, WaitingCall>();
  const isOpen = (call: WaitingCall): boolean => open.get(call.card.id) === call;
  const showAll = (): void => publish({ t: "approvals", approvals: [...open.values()].map(({ card }) => card) });

  function end(call: WaitingCall, how: ApprovalEnd, answer: ApprovalAnswer): void {
    if (!isOpen(call)) return;
    open.delete(call.card.id);
    call.request.signal.removeEventListener("abort", call.onAbort);
    publish({ t: "approval_over", id: call.card.id, end: how });
    showAll();
    call.answer(answer);
  }

  function withdraw(call: WaitingCall, why: string): void {
    if (!isOpen(call)) return;
    note(call.facts, { event: "approval.withdrawn", why });
    end(call, "withdrawn", { allowed: false, text: withdrawnText(call.request.tool, why) });
  }

  /** A client that asks without end may not bury what others ask. */
  function noRoom({ tool, principalId }: ApprovalRequest): ApprovalAnswer | undefined {
    if (open.size >= MAX_OPEN) return { allowed: false, text: tooManyText(tool, MAX_OPEN, "all") };
    const own = [...open.values()].filter(({ request }) => request.principalId === principalId);
    return own.length < MAX_OPEN_PER_CLIENT ? undefined : { allowed: false, text: tooManyText(tool, MAX_OPEN_PER_CLIENT, "client") };
  }

  return {
    raise(request, facts) {
      const refusal = noRoom(request);
      if (refusal !== undefined) return Promise.resolve(refusal);
      const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
      const whole = wholeCall(request);
      const card = { id: options.newId(), callId: request.callId, tool: request.tool, client: facts.client, at: options.now(), ...headOf(whole) };
      const onAbort = (): void => withdraw(call, endedWhy(request.signal.reason));
      const call: WaitingCall = { card, request, whole, facts, answer: resolve, onAbort };
      open.set(card.id, call);
      request.signal.addEventListener("abort", onAbort, { once: true });
      note(facts, { event: "approval.asked" });
      showAll();
      return promise;
    },
    get: (id) => open.get(id),
    isOpen,
    end,
    withdraw,
    all: () => [...open.values()],
  };
}
