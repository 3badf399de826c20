import { useMemo, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { TimelineCall } from "../shared/desk.ts";
import { CallRow } from "./call-row.tsx";
import type { ConversationApi } from "./conversation-api.ts";
import { questionState, type Conversation } from "./conversation-state.ts";
import { EntryRow } from "./entry-row.tsx";
import { useFollowedEnd } from "./followed-end.ts";
import { memo } from "./memo.tsx";
import { clientLabel } from "./recipient.ts";
import { hasSeveralClients, hiddenNote } from "./shown-calls.ts";
import { keyOf, timelineItems, type TimelineFilter, type TimelineItem } from "./timeline-items.ts";
import { TimelineTools } from "./timeline-tools.tsx";
import { useNow } from "./use-now.ts";

export interface TimelineProps {
  readonly conversation: Conversation | null;
  readonly calls: readonly TimelineCall[];
  /** Those that wait for a click, by id. */
  readonly waitingCalls: ReadonlySet<string>;
  readonly api: ConversationApi;
  readonly isLive: boolean;
  readonly now: number;
  /** While a request waits above, the page must not move under the pointer. */
  readonly mayMovePage: boolean;
  /** Loads older entries; the sentence of a failure, if there was one. */
  readonly onEarlier: () => Promise<string | undefined>;
}

const Row = memo(CallRow);

/** What was said and what happened on this machine, oldest first; follows the end as long as the person stays there. */
export function Timeline({ conversation, calls, waitingCalls, api, isLive, now, mayMovePage, onEarlier }: TimelineProps): JSX.Element {
  const [filter, setFilter] = useState<TimelineFilter>({ calls: "all", search: "" });
  const shown = useMemo(() => timelineItems(conversation, calls, filter), [conversation, calls, filter]);
  const end = useFollowedEnd([shown], mayMovePage);
  const note = hiddenNote({ calls: shown.items.filter((item) => item.t === "call").map((item) => item.call), hidden: shown.hiddenCalls });
  return (
    <section class={conversation === null ? "timeline" : "timeline with-conversation"} aria-labelledby="timeline-title">
      <header>
        <h2 id="timeline-title">{conversation === null ? "What ran here" : "Conversation"}</h2>
        <TimelineTools filter={filter} hasConversation={conversation !== null} found={shown.found} onFilter={setFilter} />
      </header>
      <div
        ref={end.element}
        class="log"
        role="log"
        aria-label={conversation === null ? "Tool calls" : "Conversation and tool calls"}
        // Every tool row read aloud would drown what is said: that is announced apart.
        aria-live={conversation === null ? undefined : "off"}
        tabIndex={0}
      >
        <div>
          {shown.items.length === 0 && filter.search === "" ? (
            <p class="muted">{conversation === null ? "No tool call yet." : "Nothing was said yet."}</p>
          ) : null}
          {note === undefined ? null : <p class="muted">{note}</p>}
          {conversation === null ? null : <Earlier conversation={conversation} onEarlier={onEarlier} onBefore={end.holdPlace} />}
          <Items items={shown.items} conversation={conversation} calls={calls} waitingCalls={waitingCalls} api={api} isLive={isLive} now={now} />
        </div>
      </div>
      {end.below === "nothing" || conversation === null ? null : (
        <button type="button" class="to-end" onClick={end.goToEnd}>
          {end.below === "new" ? "New messages ↓" : "To the end ↓"}
        </button>
      )}
    </section>
  );
}

interface ItemsProps extends Pick<TimelineProps, "conversation" | "calls" | "waitingCalls" | "api" | "isLive" | "now"> {
  readonly items: readonly TimelineItem[];
}

function Items({ items, conversation, calls, waitingCalls, api, isLive, now }: ItemsProps): JSX.Element {
  const tick = useNow(calls.some((call) => call.state === "running") ? 500 : null);
  const showsClient = hasSeveralClients(calls);
  const answers = useMemo(() => answersOf(conversation), [conversation]);
  const labelOf = useLabels(conversation);
  return (
    <ol>
      {items.map((item) => {
        switch (item.t) {
          case "day":
            return (
              <li key={keyOf(item)} class="day">
                {new Date(item.at).toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long" })}
              </li>
            );
          case "call":
            // The clock concerns only what runs: other rows are not drawn again.
            return (
              <Row
                key={keyOf(item)}
                call={item.call}
                isAwaited={waitingCalls.has(item.call.callId)}
                now={item.call.state === "running" ? tick : item.call.startedAt}
                showsClient={showsClient}
              />
            );
          case "entry":
          case "unsent":
            return (
              <EntryRow
                key={keyOf(item)}
                entry={item.entry}
                isUnsent={item.t === "unsent"}
                label={labelOf(item.entry)}
                api={api}
                question={item.t === "entry" && item.entry.kind === "asked" ? questionState(item.entry, now) : undefined}
                answer={answers.get(item.entry.id)}
                isLive={isLive}
              />
            );
        }
      })}
    </ol>
  );
}

/** By question. */
function answersOf(conversation: Conversation | null): ReadonlyMap<string, string> {
  const all = [...(conversation?.entries ?? []), ...(conversation?.unsent ?? [])];
  return new Map(all.flatMap((entry) => (entry.kind === "typed" && entry.questionId !== null ? [[entry.questionId, entry.text] as const] : [])));
}

/** Whose words they are; for the person's own to whom they go, where several could be meant. */
function useLabels(conversation: Conversation | null): (entry: Extract<TimelineItem, { t: "entry" | "unsent" }>["entry"]) => string | undefined {
  const clients = conversation?.clients ?? [];
  return (entry) => {
    if (entry.kind !== "typed") return clientLabel(entry.client, clients);
    if (clients.length < 2) return undefined;
    return entry.to === null ? "to whichever app asks first" : `to ${clientLabel(entry.to, clients)}`;
  };
}

interface EarlierProps {
  readonly conversation: Conversation;
  readonly onEarlier: () => Promise<string | undefined>;
  readonly onBefore: () => void;
}

function Earlier({ conversation, onEarlier, onBefore }: EarlierProps): JSX.Element | null {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly problem?: string | undefined }>({ isBusy: false });
  if (!conversation.isLoaded) return <p class="muted">What was said before comes when the relay is reached.</p>;
  if (conversation.earlier === "none" || conversation.entries.length === 0) return null;
  const load = (): void => {
    setState({ isBusy: true });
    onBefore();
    void onEarlier().then((problem) => setState({ isBusy: false, problem }));
  };
  return (
    <p class="earlier">
      <button type="button" class="quiet" disabled={state.isBusy} onClick={load}>
        {state.isBusy ? "Loading …" : "Load earlier"}
      </button>
      <span class="problem" role="alert">
        {state.problem}
      </span>
    </p>
  );
}
