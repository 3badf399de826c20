/** One question: may this call run? What would run stands there whole, before the buttons. */
import { useId } from "preact/hooks";
import type { JSX } from "preact";
import type { ApprovalCard } from "../shared/approval.ts";
import { age } from "../shared/elapsed.ts";
import { ApprovalButtons } from "./approval-buttons.tsx";
import { fateSentence, serverKicker, serverWhy } from "./approval-wording.ts";
import { isWhole, type Approval, type ApprovalChoice, type ApprovalState } from "./approvals-state.ts";
import { CardOutcome } from "./card-outcome.tsx";
import { CommandText, useRevealed } from "./command-text.tsx";
import { StrangerText } from "./stranger-text.tsx";
import { useNow } from "./use-now.ts";

export interface ApprovalCardProps {
  readonly approval: Approval;
  readonly canDecide: boolean;
  readonly onDecide: (decision: ApprovalChoice, reason?: string) => void;
  readonly onShowAll: () => void;
  readonly onDismiss: () => void;
}

export function ApprovalCardShown({ approval, canDecide, onDecide, onShowAll, onDismiss }: ApprovalCardProps): JSX.Element {
  const { card, state } = approval;
  const now = useNow(state.at === "over" ? null : 1_000);
  const titleId = useId();
  if (state.at === "over") return <OverCard card={card} state={state} titleId={titleId} onDismiss={onDismiss} />;
  return (
    <article class={`card approval ${state.at}`} aria-labelledby={titleId}>
      <header>
        <p class="kicker">{card.server === undefined ? "Waits for you before it runs" : serverKicker(card.server.name)}</p>
        <p class="expiry">asked {age(card.at, now)}</p>
        <h2 id={titleId}>
          <code>
            <StrangerText text={card.tool} maxChars={100} />
          </code>
        </h2>
        <p class="caller">
          <span>
            {card.server === undefined ? "asked by" : "configured by"}{" "}
            <StrangerText text={card.server === undefined ? card.client : card.server.files.join(", ")} maxChars={400} />
          </span>
        </p>
        {card.server === undefined ? null : <p class="why-asked">{serverWhy(card.server.name)}</p>}
      </header>
      <Command approval={approval} onShowAll={onShowAll} />
      <ApprovalButtons
        state={state}
        canDecide={canDecide}
        isWhole={isWhole(approval)}
        asks={card.server === undefined ? "call" : "server"}
        onDecide={onDecide}
      />
    </article>
  );
}

interface OverCardProps {
  readonly state: Extract<ApprovalState, { at: "over" }>;
  readonly onDismiss: () => void;
  readonly card: ApprovalCard;
  readonly titleId: string;
}

/** Nothing is decided by it any more: one line, so that what waits and what is said keep their room. The timeline has the rest. */
function OverCard({ card, state, titleId, onDismiss }: OverCardProps): JSX.Element {
  return (
    <article class="card approval over" aria-labelledby={titleId}>
      <p class="ran">
        <code id={titleId}>
          <StrangerText text={card.tool} maxChars={100} />
        </code>{" "}
        <code class="summary">
          <StrangerText text={card.text} maxChars={200} />
        </code>
      </p>
      <CardOutcome outcome={state.fate} where={state.where} sentence={fateSentence(state, card.server?.name)} onDismiss={onDismiss} />
    </article>
  );
}

function Command({ approval, onShowAll }: Pick<ApprovalCardProps, "approval" | "onShowAll">): JSX.Element {
  const { card, whole } = approval;
  const command = useRevealed(card.text);
  const beside = useRevealed(card.beside);
  const warnings = [...new Set([...command.warnings, ...beside.warnings])];
  return (
    <div class="command-shown">
      {warnings.length === 0 ? null : (
        <ul class="warnings">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <CommandText pieces={command.pieces} label="What would run" />
      {isWhole(approval) ? null : (
        <p class="rest">
          <span>Only the beginning is shown: {card.text.length.toLocaleString("en")} characters.</span>{" "}
          <button type="button" class="quiet" disabled={whole.at === "loading"} onClick={onShowAll}>
            {whole.at === "loading" ? "Loading …" : `Show all ${card.totalChars.toLocaleString("en")} characters`}
          </button>
          <span role="alert" class="problem">
            {whole.at === "failed" ? whole.why : undefined}
          </span>
        </p>
      )}
      {card.beside === "" ? null : (
        <CommandText pieces={beside.pieces} label={card.server === undefined ? "Its other arguments" : "The whole entry"} />
      )}
    </div>
  );
}
