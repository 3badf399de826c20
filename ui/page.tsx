/** The whole page: who may see it, and its layout. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { ApprovalCards } from "./approval-cards.tsx";
import { isWaiting, waitingCallIds } from "./approvals-state.ts";
import { AuthorizationCards } from "./authorization-cards.tsx";
import { ConnectionBanner, RelayBanner } from "./connection-banner.tsx";
import { ConversationPane } from "./conversation-pane.tsx";
import type { HistoryAnswer } from "../shared/human/page.ts";
import type { Revocation } from "../shared/authorization.ts";
import { askForGrants, connectToDesk, sendDecision, sendForget, sendRevocation, type DeskConnection } from "./desk-connection.ts";
import { EmptyState } from "./empty-state.tsx";
import { GetIn } from "./get-in.tsx";
import { InfoPanel } from "./info-panel.tsx";
import { INITIAL_PAGE, nextPage, type DeskView, type PageAction, type PageState } from "./page-state.ts";
import { FormCards } from "./form-cards.tsx";
import { createFrames, nextFrame } from "./frames.ts";
import { PageHeader } from "./page-header.tsx";
import { forgetSecret, takeSecret } from "./session-secret.ts";
import { useApprovalHandlers } from "./use-approval-handlers.ts";
import { useAlerts, type Alerts } from "./use-alerts.ts";
import { useTitle } from "./use-title.ts";
import { waitingClientOf } from "./waiting-client.tsx";
import type { DeskEvent } from "../shared/desk.ts";

export function Page(): JSX.Element {
  const [secret, setSecret] = useState(takeSecret);
  useEffect(() => {
    // `pimcp open` may bring a new secret to a tab that is already open.
    const onHashChange = (): void => setSecret((old) => takeSecret() ?? old);
    window.addEventListener("hashchange", onHashChange);
    return () => window.removeEventListener("hashchange", onHashChange);
  }, []);
  return secret === undefined ? <GetIn why="no_secret" /> : <OpenPage key={secret} secret={secret} />;
}

function OpenPage({ secret }: { readonly secret: string }): JSX.Element {
  const alerts = useAlerts();
  const { page, dispatch, resume } = useDesk(secret, alerts.onEvent);
  const decide = useCallback(
    (id: string, allow: boolean, code?: string) => {
      dispatch({ t: "sending", id, allow });
      void sendDecision(secret, code === undefined ? { id, allow } : { id, allow, code }).then((answer) =>
        dispatch({ t: "answered", id, answer, now: Date.now() }),
      );
    },
    [secret, dispatch],
  );
  const refreshGrants = useCallback(() => askForGrants(secret), [secret]);
  const forget = useCallback(() => sendForget(secret), [secret]);
  const revoke = useCallback((which: Revocation) => sendRevocation(secret, which), [secret]);
  const waitingCalls = useMemo(() => waitingCallIds(page.approvals), [page.approvals]);
  const approvalHandlers = useApprovalHandlers(secret, dispatch);
  const addEarlier = useCallback((history: HistoryAnswer) => dispatch({ t: "earlier", ...history }), [dispatch]);
  useTitle({
    access: page.cards.filter((card) => card.state.at === "waiting").length,
    approvals: page.approvals.filter(({ state }) => state.at === "waiting").length + (page.desk?.forms.length ?? 0),
    unseen: alerts.unseen,
  });

  if (page.pageLink.at === "refused") return <GetIn why="old_secret" />;
  if (page.desk === undefined) return <ConnectionBanner link={page.pageLink} onResume={resume} />;
  return (
    <Shell page={page} desk={page.desk} alerts={alerts} onResume={resume} onRefreshGrants={refreshGrants} onRevoke={revoke} onForget={forget}>
      <ApprovalCards
        approvals={page.approvals}
        movedAt={page.cardsMovedAt}
        isLive={page.pageLink.at === "live"}
        mayLeave={page.cards.every((card) => card.state.at === "over")}
        {...approvalHandlers}
      />
      <FormCards secret={secret} forms={page.desk.forms} movedAt={page.cardsMovedAt} isLive={page.pageLink.at === "live"} />
      <AuthorizationCards
        cards={page.cards}
        movedAt={page.cardsMovedAt}
        info={page.desk.info}
        isLive={page.pageLink.at === "live"}
        onDecide={decide}
        onDismiss={(id) => dispatch({ t: "dismiss", id, now: Date.now() })}
        onResize={() => dispatch({ t: "resized", now: Date.now() })}
      />
      {page.cards.length === 0 && page.approvals.length === 0 && page.desk.timeline.length === 0 && isSilent(page.desk) ? (
        <EmptyState info={page.desk.info} />
      ) : null}
      {page.cards.length === 0 && page.approvals.length === 0 && page.desk.timeline.length === 0 && page.desk.conversation === null ? null : (
        <ConversationPane
          secret={secret}
          conversation={page.desk.conversation}
          calls={page.desk.timeline}
          waitingCalls={waitingCalls}
          isLive={page.pageLink.at === "live"}
          mayMovePage={page.cards.every((card) => card.state.at === "over") && !page.approvals.some(isWaiting)}
          onEarlier={addEarlier}
        />
      )}
    </Shell>
  );
}

/** Nothing was said yet, and nobody who could say something is known. */
function isSilent({ conversation }: DeskView): boolean {
  return conversation === null || (conversation.entries.length === 0 && conversation.unsent.length === 0 && conversation.clients.length === 0);
}

/** Windows in which the info panel has a column of its own (layout.css). */
const BESIDE = "(min-width: 60rem)";

interface ShellProps {
  readonly page: PageState;
  readonly desk: DeskView;
  readonly alerts: Alerts;
  readonly onResume: () => void;
  readonly onRefreshGrants: () => Promise<string | undefined>;
  readonly onRevoke: (which: Revocation) => Promise<string | undefined>;
  readonly onForget: () => Promise<string | undefined>;
  readonly children: (JSX.Element | null)[];
}

function Shell({ page, desk, alerts, onResume, onRefreshGrants, onRevoke, onForget, children }: ShellProps): JSX.Element {
  const [isInfoOpen, setInfoOpen] = useState(() => window.matchMedia(BESIDE).matches);
  const cameFrom = useScrollToInfo(isInfoOpen);
  useEffect(() => {
    // In a narrow window the panel stands above all else: one that was open beside the timeline would hide what waits.
    const onChange = ({ matches }: MediaQueryListEvent): void => {
      if (!matches) setInfoOpen(false);
    };
    const wide = window.matchMedia(BESIDE);
    wide.addEventListener("change", onChange);
    return () => wide.removeEventListener("change", onChange);
  }, []);
  const waitingClient = page.pageLink.at === "live" ? waitingClientOf(desk.conversation) : null;
  const waiting = page.cards.filter((card) => card.state.at !== "over").length + page.approvals.filter(isWaiting).length + desk.forms.length;
  return (
    <div class={isInfoOpen ? "shell with-info" : "shell"}>
      <PageHeader
        pageLink={page.pageLink}
        relayLink={desk.link}
        waiting={waiting}
        waitingClient={waitingClient}
        alerts={alerts}
        isInfoOpen={isInfoOpen}
        onToggleInfo={() => {
          cameFrom.current = isInfoOpen ? cameFrom.current : window.scrollY;
          setInfoOpen(!isInfoOpen);
        }}
      />
      <ConnectionBanner link={page.pageLink} onResume={onResume} />
      <RelayBanner link={desk.link} pageLink={page.pageLink} human={desk.info.human} />
      {isInfoOpen ? (
        <InfoPanel
          info={desk.info}
          link={desk.link}
          pageLink={page.pageLink}
          waiting={waitingClient}
          grants={desk.grants}
          remembered={desk.remembered}
          onForget={onForget}
          onRefreshGrants={onRefreshGrants}
          onRevoke={onRevoke}
        />
      ) : null}
      <main>{children}</main>
    </div>
  );
}

/** On a phone the panel opens above what is read: it is scrolled to, and closing it leads back. On a desk the page does not scroll. */
function useScrollToInfo(isInfoOpen: boolean): { current: number | undefined } {
  const cameFrom = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (cameFrom.current === undefined) return;
    window.scrollTo({ top: isInfoOpen ? 0 : cameFrom.current, behavior: "instant" });
  }, [isInfoOpen]);
  return cameFrom;
}

function useDesk(
  secret: string,
  onEvent: (event: DeskEvent) => void,
): { page: PageState; dispatch: (action: PageAction) => void; resume: () => void } {
  const [page, dispatch] = useReducer(nextPage, INITIAL_PAGE);
  const connection = useRef<DeskConnection | undefined>(undefined);
  useEffect(() => {
    const frames = createFrames((events) => dispatch({ t: "events", events, now: Date.now() }), nextFrame);
    const opened = connectToDesk(secret, {
      onEvent(event) {
        onEvent(event);
        frames.add(event);
      },
      onLink(link) {
        if (link.at === "refused") forgetSecret();
        dispatch({ t: "page_link", link });
      },
    });
    connection.current = opened;
    return () => opened.close();
  }, [secret, onEvent]);
  return { page, dispatch, resume: () => connection.current?.resume() };
}
