/** One question: may this client work here? The title is where the key would go, never what the client calls itself. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import type { PendingAuthorization } from "../shared/authorization.ts";
import type { DeskInfo } from "../shared/desk.ts";
import type { Card, CardState } from "./page-state.ts";
import { StrangerText } from "./stranger-text.tsx";
import { useNow } from "./use-now.ts";
import { age, countdown, destinationNote, handedOver, outcomeSentence, runsCommands, sameAddressAnswer } from "./wording.ts";

export interface AuthorizationCardProps {
  readonly card: Card;
  readonly info: DeskInfo;
  readonly canDecide: boolean;
  readonly onDecide: (allow: boolean, code?: string) => void;
  readonly onPutAway: () => void;
}

export function AuthorizationCard({ card, info, canDecide, onDecide, onPutAway }: AuthorizationCardProps): JSX.Element {
  const { authorization, state } = card;
  const now = useNow(state.at === "over" ? null : 1_000);
  const titleId = useId();
  const remaining = countdown(authorization, now);
  return (
    <article class={`card ${state.at}`} aria-labelledby={titleId}>
      <header>
        <p class="kicker">{state.at === "over" ? "Asked for access" : "Asks for access to this computer"}</p>
        {state.at === "over" ? null : <p class="expiry">{remaining === undefined ? "expired" : `expires in ${remaining}`}</p>}
        <h2 id={titleId}>
          <StrangerText text={authorization.redirectHost} maxChars={300} />
        </h2>
        <p class="caller">
          <span>
            calls itself “<StrangerText text={authorization.clientName} maxChars={200} />”
          </span>
          <span class={authorization.allowedBefore ? "badge" : "badge first"}>
            {authorization.allowedBefore ? "allowed before" : "first time: never allowed before"}
          </span>
        </p>
      </header>
      {state.at === "over" ? (
        <Outcome state={state} onPutAway={onPutAway} />
      ) : (
        <>
          <HandedOver authorization={authorization} info={info} />
          <Facts authorization={authorization} now={now} />
          <Decision authorization={authorization} state={state} canDecide={canDecide} hasExpired={remaining === undefined} onDecide={onDecide} />
        </>
      )}
    </article>
  );
}

function HandedOver({ authorization, info }: { readonly authorization: PendingAuthorization; readonly info: DeskInfo }): JSX.Element {
  return (
    <div class="handed-over">
      <p>
        If you allow it, it can <strong>{handedOver(info.tools)}</strong> in{" "}
        <code>
          <StrangerText text={info.root} />
        </code>
        , until it has not been used for 30 days.
        {runsCommands(info.tools) ? " Commands run as you." : ""}
      </p>
      <p class="muted">{destinationNote(authorization.redirectUri)}</p>
    </div>
  );
}

function Facts({ authorization, now }: { readonly authorization: PendingAuthorization; readonly now: number }): JSX.Element {
  const { opened } = authorization;
  return (
    <dl class="facts">
      <Fact name="Opened">
        <StrangerText text={[opened.browser, opened.country].filter((part) => part !== "").join(", ") || "unknown browser"} maxChars={300} />
        {", "}
        {age(opened.at, now)}
      </Fact>
      <Fact name="From address">
        <StrangerText text={opened.address === "" ? "unknown" : opened.address} maxChars={100} />
      </Fact>
      <Fact name="Same public address as this workstation">
        <span class={opened.sameAddress === false ? "differs" : ""}>{sameAddressAnswer(opened.sameAddress)}</span>
      </Fact>
      <Fact name="Redirect address">
        <code>
          <StrangerText text={authorization.redirectUri} />
        </code>
      </Fact>
      <Fact name="Client id">
        <code>
          <StrangerText text={authorization.clientId} />
        </code>
      </Fact>
      <Fact name="Scope asked">
        <StrangerText text={scopeList(authorization.scopeAsked)} />
      </Fact>
      <Fact name="Scope granted">
        <StrangerText text={scopeList(authorization.scopeGranted)} />
      </Fact>
    </dl>
  );
}

function scopeList(scope: readonly string[]): string {
  return scope.length === 0 ? "none" : scope.join(", ");
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface DecisionProps {
  readonly authorization: PendingAuthorization;
  readonly state: Exclude<CardState, { at: "over" }>;
  readonly canDecide: boolean;
  readonly hasExpired: boolean;
  readonly onDecide: (allow: boolean, code?: string) => void;
}

/** Deny comes first, nothing takes the focus, and there is no form that Enter could send: only Allow itself allows. */
function Decision({ authorization, state, canDecide, hasExpired, onDecide }: DecisionProps): JSX.Element {
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

/** A key that was held down since before the button had the focus is not a decision. */
function ignoreHeldKey(event: KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}

interface OutcomeProps {
  readonly state: Extract<CardState, { at: "over" }>;
  readonly onPutAway: () => void;
}

/** Takes the focus when the person decided here: the button they used is gone. */
function Outcome({ state, onPutAway }: OutcomeProps): JSX.Element {
  const sentence = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (state.where === "here") sentence.current?.focus({ preventScroll: true });
  }, [state.where]);
  return (
    <div class="outcome">
      <p ref={sentence} class={`sentence ${state.outcome}`} role="status" tabIndex={-1}>
        {outcomeSentence(state)}
      </p>
      <button type="button" class="quiet" onClick={onPutAway}>
        Put away
      </button>
    </div>
  );
}
