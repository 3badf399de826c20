/** Calls that wait for a click, by script: a desk whose cards a test brings and ends, and a page whose decisions it answers. */
import type { Page } from "playwright-core";
import type { ApprovalCard, ApprovalEnd, ApprovalOutcome } from "../../shared/approval.ts";
import type { DeskEvent, DeskSnapshot } from "../../shared/desk.ts";
import type { Desk } from "../../local-agent/desk/desk.ts";

export function exampleApproval(changes: Partial<ApprovalCard> = {}): ApprovalCard {
  const text = changes.text ?? "npm test -- --watch=false && git push";
  return {
    id: "approval-1",
    callId: "call-1",
    tool: "bash",
    client: "“Claude”",
    at: Date.now() - 2_000,
    text,
    totalChars: text.length,
    beside: "",
    ...changes,
  };
}

export interface ScriptedDesk {
  /** `desk` with what a test adds to it. */
  readonly desk: Desk;
  setApprovals(cards: readonly ApprovalCard[]): void;
  /** Takes the card off, as the desk does, and says how it ended. */
  endApproval(id: string, end: ApprovalEnd): void;
  publish(event: DeskEvent): void;
  changeSnapshot(changes: Partial<DeskSnapshot>): void;
}

export function scriptedDesk(real: Desk): ScriptedDesk {
  const listeners = new Set<(event: DeskEvent) => void>();
  let changes: Partial<DeskSnapshot> = {};
  let cards: readonly ApprovalCard[] = [];
  const publish = (event: DeskEvent): void => listeners.forEach((listener) => listener(event));
  const setApprovals = (next: readonly ApprovalCard[]): void => {
    cards = next;
    publish({ t: "approvals", approvals: [...next] });
  };
  const desk: Desk = {
    ...real,
    snapshot() {
      const shown = real.snapshot();
      return { ...shown, ...changes, approvals: [...shown.approvals, ...cards] };
    },
    subscribe(listener) {
      listeners.add(listener);
      const unsubscribe = real.subscribe(listener);
      return () => {
        listeners.delete(listener);
        unsubscribe();
      };
    },
  };
  return {
    desk,
    setApprovals,
    endApproval(id, end) {
      publish({ t: "approval_over", id, end });
      setApprovals(cards.filter((card) => card.id !== id));
    },
    publish,
    changeSnapshot: (more) => (changes = { ...changes, ...more }),
  };
}

/** Answers the page's decisions itself, and records them. `answer` may wait. */
export async function answerApprovals(
  page: Page,
  answer: (decision: Record<string, unknown>) => Promise<ApprovalOutcome["outcome"] | number> | ApprovalOutcome["outcome"] | number,
): Promise<Record<string, unknown>[]> {
  const decisions: Record<string, unknown>[] = [];
  await page.route("**/api/approve", async (route) => {
    const decision = route.request().postDataJSON() as Record<string, unknown>;
    decisions.push(decision);
    const outcome = await answer(decision);
    await route.fulfill(
      typeof outcome === "number" ? { status: outcome, json: { error: "The agent could not decide: scripted." } } : { json: { outcome } },
    );
  });
  return decisions;
}
