import type { JSX } from "preact";
import type { LinkState } from "../shared/desk.ts";
import { AlertsToggle } from "./alerts-toggle.tsx";
import type { PageLink } from "./desk-connection.ts";
import { isAllWell, pageLinkWords, relayLinkWords, type LinkWords } from "./link-wording.ts";
import type { Alerts } from "./use-alerts.ts";
import { WaitingClient, type LabelledWaiting } from "./waiting-client.tsx";

export interface PageHeaderProps {
  readonly pageLink: PageLink;
  readonly relayLink: LinkState;
  readonly waiting: number;
  readonly waitingClient: LabelledWaiting | null;
  readonly alerts: Alerts;
  readonly isInfoOpen: boolean;
  readonly onToggleInfo: () => void;
}

export function PageHeader({ pageLink, relayLink, waiting, waitingClient, alerts, isInfoOpen, onToggleInfo }: PageHeaderProps): JSX.Element {
  return (
    <header class="top">
      <h1 class="wordmark">pi-relay</h1>
      {waiting > 0 ? (
        <a class="waiting" href="#requests" onClick={goToRequests}>
          {waiting === 1 ? "1 request waits" : `${waiting} requests wait`}
        </a>
      ) : null}
      <WaitingClient waiting={waitingClient} />
      <div class="links" role="status">
        {isAllWell(relayLink, pageLink) ? (
          <LinkLight words={{ tone: "good", label: "Connected" }} />
        ) : (
          <>
            <LinkLight name="Page to agent" words={pageLinkWords(pageLink)} />
            <LinkLight name="Agent to relay" words={relayLinkWords(relayLink, pageLink)} />
          </>
        )}
      </div>
      <AlertsToggle alerts={alerts} />
      <button type="button" class="quiet" aria-expanded={isInfoOpen} aria-controls="info" onClick={onToggleInfo}>
        Info
      </button>
    </header>
  );
}

function LinkLight({ name, words }: { readonly name?: string; readonly words: LinkWords }): JSX.Element {
  return (
    <span class={`light ${words.tone}`}>
      {name === undefined ? null : <span class="name">{name}</span>} {words.label}
    </span>
  );
}

/** Scrolls without touching the address: its fragment is where the secret arrives. */
function goToRequests(event: Event): void {
  event.preventDefault();
  const requests = document.querySelector<HTMLElement>(".requests:has(.card)");
  requests?.focus();
  requests?.scrollIntoView({ block: "start" });
}
