/** The timeline with what belongs to a conversation around it: the bar of questions that wait, the box, and what is read aloud. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { TimelineCall } from "../shared/desk.ts";
import type { HumanEntry } from "../shared/human/entry.ts";
import type { HistoryAnswer } from "../shared/human/page.ts";
import { visibleLine } from "../shared/visible-text.ts";
import { Composer } from "./composer.tsx";
import { conversationApi } from "./conversation-api.ts";
import { openQuestions, type Conversation } from "./conversation-state.ts";
import { questionElementId } from "./question-card.tsx";
import { clientLabel } from "./recipient.ts";
import { loadRichText } from "./rich-text.tsx";
import { Timeline } from "./timeline.tsx";
import { useNow } from "./use-now.ts";

export interface ConversationPaneProps {
  readonly secret: string;
  /** Null where clients cannot talk with the person: only what ran is shown. */
  readonly conversation: Conversation | null;
  readonly calls: readonly TimelineCall[];
  /** Those that wait for a click, by id. */
  readonly waitingCalls: ReadonlySet<string>;
  readonly isLive: boolean;
  readonly mayMovePage: boolean;
  readonly onEarlier: (history: HistoryAnswer) => void;
}

export function ConversationPane({ secret, conversation, calls, waitingCalls, isLive, mayMovePage, onEarlier }: ConversationPaneProps): JSX.Element {
  const api = useMemo(() => conversationApi(secret), [secret]);
  const first = conversation?.entries[0]?.n;
  const loadEarlier = useCallback(async () => {
    if (first === undefined) return undefined;
    const history = await api.history(first);
    if ("failed" in history) return history.failed;
    onEarlier(history);
    return undefined;
  }, [api, first, onEarlier]);
  const hasConversation = conversation !== null;
  useEffect(() => {
    if (hasConversation) void loadRichText();
  }, [hasConversation]);
  // Questions expire while nothing else happens.
  const tick = useNow(hasConversation ? 15_000 : null);
  const heardAt = useMemo(() => Date.now(), [conversation]);
  const now = Math.max(tick, heardAt);
  return (
    <>
      <Timeline
        conversation={conversation}
        calls={calls}
        waitingCalls={waitingCalls}
        api={api}
        isLive={isLive}
        now={now}
        mayMovePage={mayMovePage}
        onEarlier={loadEarlier}
      />
      {conversation === null ? null : (
        <>
          <Announcer conversation={conversation} />
          <div class="desk-end">
            <WaitingQuestions conversation={conversation} now={now} />
            <Composer conversation={conversation} api={api} now={now} />
          </div>
        </>
      )}
    </>
  );
}

function WaitingQuestions({ conversation, now }: { readonly conversation: Conversation; readonly now: number }): JSX.Element {
  const open = openQuestions(conversation, now);
  const [oldest] = open;
  return (
    <div class="questions-wait" role="status">
      {oldest === undefined ? null : (
        <button type="button" class="quiet" onClick={() => goToQuestion(oldest.id)}>
          {open.length === 1 ? "1 question waits" : `${open.length} questions wait`}
        </button>
      )}
    </div>
  );
}

/** The focus goes to the question as a whole, never to an answer. */
function goToQuestion(id: string): void {
  const card = document.getElementById(questionElementId(id));
  card?.scrollIntoView({ block: "center" });
  card?.focus({ preventScroll: true });
}

/** Characters of a message that are read aloud by themselves; the whole is in the timeline. */
const ANNOUNCED_CHARS = 400;

/** New words of clients, for screen readers; what was there when the page opened is not read aloud. */
function Announcer({ conversation }: { readonly conversation: Conversation }): JSX.Element {
  const { entries, clients } = conversation;
  const last = entries.at(-1)?.n ?? 0;
  const heard = useRef(last);
  const [words, setWords] = useState("");
  useEffect(() => {
    const fresh = entries.filter((entry) => entry.n > heard.current && entry.kind !== "typed").map((entry) => announced(entry, clients));
    heard.current = Math.max(heard.current, last);
    if (fresh.length > 0) setWords(fresh.slice(-3).join("\n"));
  }, [last]);
  return (
    <p class="unseen" role="status">
      {words}
    </p>
  );
}

function announced(entry: HumanEntry, clients: Conversation["clients"]): string {
  if (entry.kind === "typed") return "";
  const options = entry.kind === "asked" && entry.options.length > 0 ? ` Answers: ${entry.options.join("; ")}.` : "";
  return `${clientLabel(entry.client, clients)} ${entry.kind === "asked" ? "asks" : "says"}: ${visibleLine(entry.text, ANNOUNCED_CHARS)}${visibleLine(options)}`;
}
