import { useId, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { Asked } from "../shared/human/entry.ts";
import type { AnswerAnswer } from "../shared/human/page.ts";
import { HUMAN_LIMITS } from "../shared/human/limits.ts";
import { visibleBlock } from "../shared/visible-text.ts";
import { useAnswerDraft } from "./answer-draft.ts";
import { textBytes } from "./composer-state.ts";
import type { ConversationApi } from "./conversation-api.ts";
import type { QuestionState } from "./conversation-state.ts";
import { CopyButton } from "./copy-button.tsx";
import { newEntryId } from "./entry-id.ts";
import { RichText } from "./rich-text.tsx";
import { isSendKey } from "./send-key.ts";

export interface QuestionCardProps {
  readonly question: Asked;
  readonly state: QuestionState;
  /** What was answered; undefined also when that is not on this page. */
  readonly answer: string | undefined;
  readonly asker: string;
  readonly api: ConversationApi;
  readonly isLive: boolean;
}

/** The element that the bar of waiting questions leads to. */
export function questionElementId(questionId: string): string {
  return `question-${questionId}`;
}

/** Its options are buttons, any other answer can be written. Nothing in it takes the focus by itself. */
export function QuestionCard({ question, state, answer, asker, api, isLive }: QuestionCardProps): JSX.Element {
  const [draft, setDraft] = useAnswerDraft(question.id);
  const sending = useAnswering(question.id, api, () => setDraft(""));
  const titleId = useId();
  const isOpen = state === "open" && sending.at !== "over";
  return (
    <article id={questionElementId(question.id)} class={`bubble question-card ${state}`} tabIndex={-1} aria-labelledby={titleId}>
      <p id={titleId} class="unseen">{`Question of ${asker}`}</p>
      <RichText text={question.text} />
      {question.options.length === 0 ? null : (
        <ul class="options" aria-label="Answers to choose from">
          {question.options.map((option, index) => (
            <li key={index}>
              <button
                type="button"
                class={answer === option ? "option chosen" : "option"}
                disabled={!isOpen || !isLive || sending.at === "sending"}
                onClick={() => sending.send(option)}
              >
                <bdi>{visibleBlock(option)}</bdi>
                {answer === option ? <span class="unseen"> (your answer)</span> : null}
              </button>
            </li>
          ))}
        </ul>
      )}
      {isOpen ? (
        <OwnAnswer
          text={draft}
          isBusy={sending.at === "sending" || !isLive}
          hasOptions={question.options.length > 0}
          onText={setDraft}
          onSend={sending.send}
        />
      ) : null}
      {isOpen || sending.at === "sending" || draft.trim() === "" || draft === answer ? null : <Unsent text={draft} onDiscard={() => setDraft("")} />}
      <p class="question-end muted" role="status">
        {sending.at === "sending" ? "Sending …" : endSentence(state, question, answer, sending.at === "over" ? sending.outcome : undefined)}
      </p>
      <p class="problem" role="alert">
        {sending.at === "idle" ? sending.problem : undefined}
      </p>
    </article>
  );
}

type Answering =
  | { readonly at: "idle"; readonly problem?: string }
  | { readonly at: "sending" }
  | { readonly at: "over"; readonly outcome: Exclude<AnswerAnswer["outcome"], "full"> };

/** One answer at a time. The same answer sent again after a failure is the same message. */
function useAnswering(questionId: string, api: ConversationApi, onKept: () => void): Answering & { readonly send: (text: string) => void } {
  const [state, setState] = useState<Answering>({ at: "idle" });
  const tried = useRef<{ readonly id: string; readonly text: string } | undefined>(undefined);
  const isBusy = useRef(false);
  const send = (text: string): void => {
    // The second click of a double click comes before the buttons are drawn anew.
    if (isBusy.current) return;
    isBusy.current = true;
    const message = tried.current?.text === text ? tried.current : { id: newEntryId(), text };
    tried.current = message;
    setState({ at: "sending" });
    void api.answer({ ...message, questionId }).then((outcome) => {
      if (outcome === "kept" || outcome === "known" || outcome === "unsent") onKept();
      if (typeof outcome !== "object" && outcome !== "full") return setState({ at: "over", outcome });
      isBusy.current = false;
      setState({
        at: "idle",
        problem: typeof outcome === "object" ? outcome.failed : "Too many messages wait already, so this answer was not taken. Try again later.",
      });
    });
  };
  return { ...state, send };
}

function endSentence(
  state: QuestionState,
  question: Asked,
  answer: string | undefined,
  outcome: Exclude<AnswerAnswer["outcome"], "full"> | undefined,
): string | undefined {
  if (outcome === "answered") return "Already answered, so this answer was not sent.";
  if (outcome === "over") return "This question is over, so the answer was not sent.";
  if (state === "expired") return "Expired without an answer.";
  if (state === "withdrawn") return "Withdrawn: the app took it back, or lost its access.";
  if (state === "answered") {
    return answer === undefined || question.options.length === 0 || question.options.includes(answer) ? "Answered." : "Answered in other words.";
  }
  return outcome === "unsent" ? "Your answer is safe here and is sent when the relay is back." : undefined;
}

/** The question was over before these words were sent; they are the person's all the same. */
function Unsent({ text, onDiscard }: { readonly text: string; readonly onDiscard: () => void }): JSX.Element {
  return (
    <div class="unsent-answer">
      <p class="muted">What you had written was not sent:</p>
      <p class="as-written" dir="auto">
        {visibleBlock(text)}
      </p>
      <CopyButton text={text} label="Copy what you had written" />
      <button type="button" class="quiet" onClick={onDiscard}>
        Discard
      </button>
    </div>
  );
}

interface OwnAnswerProps {
  readonly text: string;
  readonly isBusy: boolean;
  readonly hasOptions: boolean;
  readonly onText: (text: string) => void;
  readonly onSend: (text: string) => void;
}

function OwnAnswer({ text, isBusy, hasOptions, onText, onSend }: OwnAnswerProps): JSX.Element {
  const canSend = !isBusy && text.trim() !== "" && textBytes(text) <= HUMAN_LIMITS.textBytes;
  return (
    <div class="own-answer">
      <textarea
        rows={1}
        aria-label={hasOptions ? "Another answer" : "Your answer"}
        placeholder={hasOptions ? "Another answer" : "Your answer"}
        dir="auto"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (!isSendKey(event)) return;
          event.preventDefault();
          if (canSend) onSend(text);
        }}
      />
      <button type="button" disabled={!canSend} onClick={() => onSend(text)}>
        Answer
      </button>
    </div>
  );
}
