import { useId, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { ApprovalChoice, ApprovalState } from "./approvals-state.ts";
import type { AskedFor } from "./approval-wording.ts";
import { ignoreHeldKey } from "./held-key.ts";

interface ApprovalButtonsProps {
  readonly state: Exclude<ApprovalState, { at: "over" }>;
  readonly canDecide: boolean;
  /** The whole command is on the card. */
  readonly isWhole: boolean;
  readonly asks: AskedFor;
  readonly onDecide: (decision: ApprovalChoice, reason?: string) => void;
}

const MAX_REASON_CHARS = 2_000;

/** Deny comes first, nothing takes the focus, and there is no form that Enter could send: only the two Allow buttons allow. */
export function ApprovalButtons({ state, canDecide, isWhole, asks, onDecide }: ApprovalButtonsProps): JSX.Element {
  const [reason, setReason] = useState("");
  const denyButton = useRef<HTMLButtonElement>(null);
  const isBusy = state.at === "sending";
  const sent = isBusy ? state.decision : undefined;
  const canAllow = canDecide && isWhole && !isBusy;
  const typed = reason.trim();
  return (
    <div class="decision">
      {asks === "server" ? null : <Reason reason={reason} isBusy={isBusy} onReason={setReason} onEnter={() => denyButton.current?.focus()} />}
      <div class="buttons">
        <button
          ref={denyButton}
          type="button"
          class="deny"
          disabled={!canDecide || isBusy}
          onKeyDown={ignoreHeldKey}
          onClick={() => onDecide("deny", typed === "" ? undefined : typed)}
        >
          {sent === "deny" ? "Denying …" : "Deny"}
        </button>
        <button type="button" class="allow" disabled={!canAllow} onKeyDown={ignoreHeldKey} onClick={() => onDecide("once")}>
          {sent === "once" ? "Allowing …" : ALLOW[asks]}
        </button>
        {asks === "server" ? null : (
          <button type="button" disabled={!canAllow} onKeyDown={ignoreHeldKey} onClick={() => onDecide("sitting")}>
            {sent === "sitting" ? "Allowing …" : "Allow this exact command for the sitting"}
          </button>
        )}
        <p class="problem" role="alert">
          {state.at === "waiting" ? state.problem : undefined}
        </p>
      </div>
    </div>
  );
}

const ALLOW: Readonly<Record<AskedFor, string>> = { call: "Allow once", server: "Allow" };

interface ReasonProps {
  readonly reason: string;
  readonly isBusy: boolean;
  readonly onReason: (reason: string) => void;
  readonly onEnter: () => void;
}

function Reason({ reason, isBusy, onReason, onEnter }: ReasonProps): JSX.Element {
  const reasonId = useId();
  return (
    <div class="reason">
      <label for={reasonId}>If you deny, why (the agent reads it)</label>
      <input
        id={reasonId}
        type="text"
        autocomplete="off"
        placeholder="optional"
        maxLength={MAX_REASON_CHARS}
        value={reason}
        disabled={isBusy}
        onInput={(event) => onReason(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.isComposing) return;
          // Otherwise the same key press would click the button it has just moved to.
          event.preventDefault();
          onEnter();
        }}
      />
    </div>
  );
}
