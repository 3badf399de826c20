/**
 * The desk: what waits for the person and what their page shows, in memory. Owns no socket and no file; the daemon
 * feeds it, the page's server reads it. Everything here ends with the agent, so an open question fails closed.
 */
import type {
  AuthorizationDecision,
  DecisionOutcome,
  Grant,
  PendingAuthorization,
  Revocation,
  RevocationOutcome,
} from "../../shared/authorization.ts";
import type { CallFinished, CallProgressed, CallStarted } from "../../shared/call-events.ts";
import type { DeskEvent, DeskInfo, DeskSnapshot, LinkState } from "../../shared/desk.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import type { ApprovalsOptions } from "./approvals.ts";
import { createAuthorizationTray } from "./authorization-tray.ts";
import { createCallTimeline } from "./call-timeline.ts";
import { createDeskCards, type DeskCards } from "./desk-cards.ts";
import { createGrantedList, type GrantsPort } from "./granted-list.ts";
import type { PageConversation } from "./page-conversation.ts";
import { isRevoked } from "./revoked-clients.ts";
import type { ServerTrustOptions } from "./server-trust.ts";

export interface DeskOptions {
  readonly info: DeskInfo;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Carries a decision to the relay. May reject when the relay cannot be reached; nothing is granted then. */
  readonly decide: (decision: AuthorizationDecision) => Promise<DecisionOutcome>;
  /** The relay's list of what was granted. */
  readonly grants: GrantsPort;
  /** Absent without `--human`. */
  readonly conversation?: PageConversation | undefined;
  /** Which calls wait for the person, and where their decisions are written down. */
  readonly approvals: Pick<ApprovalsOptions, "guarded" | "auditFull" | "audit" | "newId" | "log">;
  /** The project whose MCP servers wait for the person, and what they allowed earlier. */
  readonly trust: Pick<ServerTrustOptions, "root" | "memory">;
  readonly decideDeadlineMs?: number;
  readonly maxCalls?: number;
  /** UTF-16 units of output kept over all calls. */
  readonly maxTotalChars?: number;
}

export interface Desk {
  /** Null without `--human`. */
  readonly conversation: PageConversation | null;
  /** What waits for a yes or no. A link that is not open refuses all calls. */
  readonly cards: DeskCards;
  callStarted(call: CallStarted): void;
  callProgressed(progress: CallProgressed): void;
  callFinished(end: CallFinished): void;
  /** The whole list as the relay has it now; an authorization missing from it waits no longer. */
  setAuthorizations(list: readonly PendingAuthorization[]): void;
  setLink(link: LinkState): void;
  /** What is wrong with the relay, beside the warnings of the start; null: nothing. */
  setRelayWarning(message: string | null): void;
  snapshot(): DeskSnapshot;
  /** Events after this moment, in order, called synchronously; a listener must not throw. Returns the unsubscriber. */
  subscribe(listener: (event: DeskEvent) => void): () => void;
  /**
   * Decides one authorization, once: a second decision (double click, second page) is `gone`. Rejects with a sentence for
   * people when the relay gave no answer; the authorization then still waits.
   */
  decide(decision: AuthorizationDecision): Promise<DecisionOutcome>;
  /** Asks the relay what is granted now; every page hears it. Rejects with `GrantsUnanswered`. */
  refreshGrants(): Promise<readonly Grant[]>;
  /** The relay said that there is a new one. */
  grantsChanged(): void;
  /** Takes grants back, withdraws what their clients wait to be allowed, and then asks what is left. Rejects with `GrantsUnanswered`. */
  revoke(which: Revocation): Promise<RevocationOutcome>;
  /** What a client says is `shown` while a page is open. The returned function says that it was closed; harmless when repeated. */
  pageOpened(): () => void;
  /** Whether a page shows what is said and what waits; never without `--human`. */
  isPageOpen(): boolean;
}

/** They are entries of the conversation already. */
const CONVERSING_TOOLS: ReadonlySet<string> = new Set(["human_say", "human_ask", "human_wait"]);

export function createDesk(options: DeskOptions): Desk {
  const { info, decideDeadlineMs = 20_000, maxCalls = 1_000, maxTotalChars = 4_000_000 } = options;
  const timeline = createCallTimeline({ maxCalls, maxTotalChars });
  const listeners = new Set<(event: DeskEvent) => void>();
  let relayWarning: string | null = null;
  let link: LinkState = { at: "connecting", since: options.clock.now() };
  const publish = (event: DeskEvent): void => listeners.forEach((listener) => listener(event));
  const tray = createAuthorizationTray({ decide: options.decide, timers: options.timers, deadlineMs: decideDeadlineMs, publish });
  const { clock, timers } = options;
  const cards = createDeskCards({ approvals: { ...options.approvals, clock, timers }, trust: options.trust }, publish);
  const { approvals } = cards;
  const granted = createGrantedList(options.grants, publish);
  const conversation = options.conversation ?? null;
  conversation?.subscribe(publish);

  const snapshot = (): DeskSnapshot => ({
    info: relayWarning === null ? info : { ...info, warnings: [...info.warnings, relayWarning] },
    link,
    authorizations: tray.list(),
    grants: granted.known(),
    timeline: timeline.list(),
    approvals: cards.list(),
    forms: cards.forms.list(),
    remembered: approvals.sitting.count(),
    conversation: conversation?.view() ?? null,
  });

  return {
    conversation,
    pageOpened: () => conversation?.pageOpened() ?? (() => {}),
    isPageOpen: () => conversation?.isPageOpen() ?? false,
    cards,
    callStarted(call) {
      conversation?.sawClient({ principalId: call.principalId, name: call.client }, call.at);
      if (conversation !== null && CONVERSING_TOOLS.has(call.tool)) return;
      publish({ t: "call", call: timeline.start(call) });
    },
    callProgressed({ callId, delta }) {
      if (delta !== "" && timeline.progress(callId, delta) !== undefined) publish({ t: "output", callId, delta });
    },
    callFinished(end) {
      const call = timeline.finish(end);
      if (call !== undefined) publish({ t: "call", call });
    },
    setAuthorizations: (list) => tray.set(list),
    setLink(next) {
      link = next;
      if (link.at === "open") approvals.resume();
      else approvals.suspend("the connection to the relay was lost");
      publish({ t: "link", link });
    },
    setRelayWarning(message) {
      if (message === relayWarning) return;
      relayWarning = message;
      publish({ t: "snapshot", snapshot: snapshot() });
    },
    snapshot,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    decide: (decision) => tray.decide(decision),
    refreshGrants: () => granted.refresh(),
    grantsChanged: () => granted.changed(),
    revoke(which) {
      // Whatever the relay answers: nobody is to be asked for a client that they want gone.
      approvals.withdrawAll("the person takes back this client's access", isRevoked(which));
      return granted.revoke(which);
    },
  };
}
