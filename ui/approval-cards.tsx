import { useEffect, useRef } from "preact/hooks";
import type { JSX } from "preact";
import { visibleLine } from "../shared/visible-text.ts";
import { ApprovalCardShown } from "./approval-card.tsx";
import { isWaiting, type Approval, type ApprovalChoice } from "./approvals-state.ts";
import { useSteady } from "./steady.ts";

export interface ApprovalCardsProps {
  readonly approvals: readonly Approval[];
  /** When any card of the page last came or changed its height. */
  readonly movedAt: number;
  /** Without the agent nothing can be decided. */
  readonly isLive: boolean;
  /** Nothing else waits that must keep its place. */
  readonly mayLeave: boolean;
  readonly onDecide: (id: string, decision: ApprovalChoice, reason?: string) => void;
  readonly onShowAll: (id: string) => void;
  readonly onDismiss: (id: string) => void;
}

export function ApprovalCards({ approvals, movedAt, isLive, mayLeave, onDecide, onShowAll, onDismiss }: ApprovalCardsProps): JSX.Element {
  const isSteady = useSteady(movedAt);
  const section = useRef<HTMLElement>(null);
  useLeaving(approvals, mayLeave, section, onDismiss);
  return (
    <section ref={section} id="approvals" class="requests" aria-label="Calls that wait for you" tabIndex={-1}>
      <p class="unseen" aria-live="polite">
        {announcement(approvals)}
      </p>
      {approvals.map((approval) => (
        <ApprovalCardShown
          key={approval.card.id}
          approval={approval}
          canDecide={isLive && isSteady}
          onDecide={(decision, reason) => onDecide(approval.card.id, decision, reason)}
          onShowAll={() => onShowAll(approval.card.id)}
          onDismiss={() => onDismiss(approval.card.id)}
        />
      ))}
    </section>
  );
}

/** Long enough to read what became of it. */
const READ_MS = 8_000;

/**
 * What the person decided on this page they need not dismiss as well. It stays while anything waits, so that nothing moves
 * under the pointer, and while a keyboard's focus is in it.
 */
function useLeaving(
  approvals: readonly Approval[],
  mayLeave: boolean,
  section: { readonly current: HTMLElement | null },
  onDismiss: (id: string) => void,
): void {
  useEffect(() => {
    if (!mayLeave || approvals.some(isWaiting)) return undefined;
    const decidedHere = approvals.filter(({ state }) => state.at === "over" && state.where === "here");
    if (decidedHere.length === 0) return undefined;
    const timer = setInterval(() => {
      if (!section.current?.querySelector(":focus-visible")) decidedHere.forEach(({ card }) => onDismiss(card.id));
    }, READ_MS);
    return () => clearInterval(timer);
  }, [approvals, mayLeave, section, onDismiss]);
}

/** For screen readers: who wants to run what; the command itself is read on the card. */
function announcement(approvals: readonly Approval[]): string {
  const waiting = approvals.filter(isWaiting).map(({ card }) => `${visibleLine(card.tool, 100)} of ${visibleLine(card.client, 100)}`);
  return waiting.length === 0 ? "" : `Waits for your approval: ${waiting.join(", ")}`;
}
