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
  readonly onDecide: (id: string, decision: ApprovalChoice, reason?: string) => void;
  readonly onShowAll: (id: string) => void;
  readonly onDismiss: (id: string) => void;
}

export function ApprovalCards({ approvals, movedAt, isLive, onDecide, onShowAll, onDismiss }: ApprovalCardsProps): JSX.Element {
  const isSteady = useSteady(movedAt);
  return (
    <section id="approvals" class="requests" aria-label="Calls that wait for you" tabIndex={-1}>
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

/** For screen readers: who wants to run what; the command itself is read on the card. */
function announcement(approvals: readonly Approval[]): string {
  const waiting = approvals.filter(isWaiting).map(({ card }) => `${visibleLine(card.tool, 100)} of ${visibleLine(card.client, 100)}`);
  return waiting.length === 0 ? "" : `Waits for your approval: ${waiting.join(", ")}`;
}
