/** One question: may this client work here? The title is where access would go, never what the client calls itself. */
import { useId } from "preact/hooks";
import { Fragment, type JSX } from "preact";
import type { PendingAuthorization } from "../shared/authorization.ts";
import {
  addressNote,
  describedAt,
  destinationNote,
  handedOver,
  isOpenedHere,
  openedIn,
  sameAddressAnswer,
  scopeList,
  scopeNote,
  separator,
  standing,
  titleAround,
} from "../shared/authorization-wording.ts";
import type { DeskInfo } from "../shared/desk.ts";
import { age, countdown } from "../shared/elapsed.ts";
import { CardOutcome } from "./card-outcome.tsx";
import { Fact } from "./fact.tsx";
import { Decision } from "./authorization-decision.tsx";
import type { Card } from "./page-state.ts";
import { StrangerText } from "./stranger-text.tsx";
import { useNow } from "./use-now.ts";
import { outcomeSentence } from "./wording.ts";

export interface AuthorizationCardProps {
  readonly card: Card;
  readonly info: DeskInfo;
  readonly canDecide: boolean;
  readonly onDecide: (allow: boolean, code?: string) => void;
  readonly onDismiss: () => void;
  /** The person opened or closed the details: what lies below has moved. */
  readonly onResize: () => void;
}

export function AuthorizationCard({ card, info, canDecide, onDecide, onDismiss, onResize }: AuthorizationCardProps): JSX.Element {
  const { authorization, state } = card;
  const now = useNow(state.at === "over" ? null : 1_000);
  const titleId = useId();
  const remaining = countdown(authorization.expiresAt, now);
  const title = titleAround(authorization);
  return (
    <article class={`card ${state.at}`} aria-labelledby={titleId}>
      <header>
        <p class="kicker">{state.at === "over" ? "Asked for access" : "Asks for access to this computer"}</p>
        {state.at === "over" ? null : <p class="expiry">{remaining === undefined ? "expired" : `expires in ${remaining}`}</p>}
        <h2 id={titleId}>
          {title.before}
          <StrangerText text={authorization.redirectHost} maxChars={300} />
          {title.after}
        </h2>
        <p class="caller">
          <Caller authorization={authorization} />
          {state.at === "over" ? null : <Standing authorization={authorization} />}
        </p>
      </header>
      {state.at === "over" ? (
        <CardOutcome outcome={state.outcome} where={state.where} sentence={outcomeSentence(state)} onDismiss={onDismiss} />
      ) : (
        <>
          {authorization.configured === "new" ? <NewAddress authorization={authorization} /> : null}
          <HandedOver authorization={authorization} info={info} />
          <Facts authorization={authorization} now={now} />
          <Decision authorization={authorization} state={state} canDecide={canDecide} hasExpired={remaining === undefined} onDecide={onDecide} />
          <Details authorization={authorization} onToggle={onResize} />
        </>
      )}
    </article>
  );
}

/** A name that a client chose is quoted, and cannot imitate the type of the host behind it; the client that was set up by hand is known by an id that was made here. */
function Caller({ authorization }: { readonly authorization: PendingAuthorization }): JSX.Element {
  if (authorization.configured === undefined) {
    const host = describedAt(authorization);
    return (
      <span>
        calls itself “<StrangerText text={authorization.clientName} maxChars={200} />”
        {host === undefined ? null : (
          <>
            , described at{" "}
            <strong>
              <StrangerText text={host} maxChars={300} />
            </strong>
          </>
        )}
      </span>
    );
  }
  return (
    <span>
      the client you set up by hand,{" "}
      <code>
        <StrangerText text={authorization.clientId} maxChars={100} />
      </code>
    </span>
  );
}

function Standing({ authorization }: { readonly authorization: PendingAuthorization }): JSX.Element {
  const { isKnown, words } = standing(authorization);
  return <span class={isKnown ? "badge" : "badge first"}>{words}</span>;
}

/** Nothing vouches for this address but the person who reads it: it stands there in full, before everything else. */
function NewAddress({ authorization }: { readonly authorization: PendingAuthorization }): JSX.Element {
  return (
    <section class="new-address" aria-label="New address">
      <code>
        <StrangerText text={authorization.redirectUri} />
      </code>
      <p>{addressNote(authorization)}</p>
    </section>
  );
}

function HandedOver({ authorization, info }: { readonly authorization: PendingAuthorization; readonly info: DeskInfo }): JSX.Element {
  const abilities = handedOver(info.tools);
  const about = authorization.configured === "new" ? undefined : addressNote(authorization);
  const notes = [destinationNote(authorization), about].filter((note) => note !== undefined);
  return (
    <div class="handed-over">
      <p>
        If you allow it, it can {abilities.length === 0 ? <strong>do nothing yet (no tool is offered)</strong> : null}
        {abilities.map(({ what, isInFolder }, index) => (
          <Fragment key={what}>
            {separator(index, abilities.length)}
            <strong>{what}</strong>
            {isInFolder ? <Folder path={info.root} /> : null}
          </Fragment>
        ))}
        . Access ends after 30 days without use, or when you remove it under Info.
      </p>
      {notes.length === 0 ? null : <p class="muted">{notes.join(" ")}</p>}
    </div>
  );
}

function Folder({ path }: { readonly path: string }): JSX.Element {
  return (
    <>
      {" in "}
      <code>
        <StrangerText text={path} />
      </code>
    </>
  );
}

/** What a person judges by. What only an expert reads is under Details. */
function Facts({ authorization, now }: { readonly authorization: PendingAuthorization; readonly now: number }): JSX.Element {
  const { opened } = authorization;
  const isHere = isOpenedHere(authorization);
  const scope = scopeNote(authorization);
  return (
    <dl class="facts">
      <Fact name="Opened">
        {isHere ? "on this computer, " : ""}
        <StrangerText text={openedIn(authorization)} maxChars={300} />
        {", "}
        {age(opened.at, now)}
      </Fact>
      {isHere ? null : (
        <Fact name="From">
          <StrangerText text={opened.address === "" ? "unknown" : opened.address} maxChars={100} />
          {" · "}same public address as this workstation:{" "}
          <span class={opened.sameAddress === false ? "differs" : ""}>{sameAddressAnswer(opened.sameAddress)}</span>
        </Fact>
      )}
      {scope === undefined ? null : (
        <Fact name="Scope">
          <StrangerText text={scope} />
        </Fact>
      )}
    </dl>
  );
}

/** Below the buttons, so that opening it moves none of its own card. */
function Details({ authorization, onToggle }: { readonly authorization: PendingAuthorization; readonly onToggle: () => void }): JSX.Element {
  return (
    <details class="details" onToggle={onToggle}>
      <summary>Details</summary>
      <dl class="facts">
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
        {isOpenedHere(authorization) ? (
          <Fact name="Opened from">
            <StrangerText text={authorization.opened.address} maxChars={100} />
          </Fact>
        ) : null}
      </dl>
    </details>
  );
}
