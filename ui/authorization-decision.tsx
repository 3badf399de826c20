import { useId, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { PendingAuthorization } from "../shared/authorization.ts";
import { ignoreHeldKey } from "./held-key.ts";
import type { CardState } from "./page-state.ts";

interface DecisionProps {
  readonly authorization: PendingAuthorization;
  readonly state: Exclude<CardState, { at: "over" }>;
  readonly canDecide: boolean;
  readonly hasExpired: boolean;
  readonly onDecide: (allow: boolean, code?: string) => void;
}

/** Deny comes first, nothing takes the focus, and there is no form that Enter could send: only Allow itself allows. */
export function Decision({ authorization, state, canDecide, hasExpired, onDecide }: DecisionProps): JSX.Element {
  const [code, setCode] = useState("");
  const allowButton = useRef<HTMLButtonElement>(null);
  const codeId = useId();
  const typed = code.trim();
  const isBusy = state.at === "sending";
  const canAllow = canDecide && !isBusy && !hasExpired && (!authorization.codeRequired || typed !== "");
  return (
    <div class="decision">
      <p class="question">Did you start this just now, in that app?</p>
      {authorization.codeRequired ? (
        <div class="code">
          <label for={codeId}>The code its waiting page shows</label>
          <input
            id={codeId}
            type="text"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck={false}
            maxLength={32}
            value={code}
            disabled={isBusy}
            aria-describedby={`${codeId}-hint`}
            onInput={(event) => setCode(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              // Otherwise the same key press would click the button it has just moved to.
              event.preventDefault();
              allowButton.current?.focus();
            }}
          />
          <p id={`${codeId}-hint`} class="muted">
            One try: a wrong code ends the request.
          </p>
        </div>
      ) : null}
      <div class="buttons">
        <button type="button" class="deny" disabled={!canDecide || isBusy} onClick={() => onDecide(false)}>
          {isBusy && !state.allow ? "Denying …" : "Deny"}
        </button>
        <button
          ref={allowButton}
          type="button"
          class="allow"
          disabled={!canAllow}
          onKeyDown={ignoreHeldKey}
          onClick={() => onDecide(true, authorization.codeRequired ? typed : undefined)}
        >
          {isBusy && state.allow ? "Allowing …" : "Allow"}
        </button>
        <p class="problem" role="alert">
          {state.at === "waiting" ? state.problem : undefined}
        </p>
      </div>
    </div>
  );
}
