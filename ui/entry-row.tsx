/** One thing that was said, by either side. */
import type { ComponentChildren, JSX } from "preact";
import type { Asked, HumanEntry, NewSaid, NewTyped, Said, Typed } from "../shared/human/entry.ts";
import { visibleBlock } from "../shared/visible-text.ts";
import type { ConversationApi } from "./conversation-api.ts";
import type { QuestionState } from "./conversation-state.ts";
import { ImageView } from "./image-view.tsx";
import { memo } from "./memo.tsx";
import { messageMark } from "./message-mark.ts";
import { QuestionCard } from "./question-card.tsx";
import { RichText } from "./rich-text.tsx";
import { timeOfDay } from "./wording.ts";

export interface EntryRowProps {
  readonly entry: HumanEntry | NewSaid | NewTyped;
  /** Kept on this machine only. */
  readonly isUnsent: boolean;
  /** The client, as the person is shown it; for the person's own words whom they are for, where that could be in doubt. */
  readonly label: string | undefined;
  readonly api: ConversationApi;
  /** Of a question. */
  readonly question: QuestionState | undefined;
  readonly answer: string | undefined;
  /** Whether the page is connected, so that something can be answered. */
  readonly isLive: boolean;
}

export const EntryRow = memo(function EntryRow(props: EntryRowProps): JSX.Element {
  const { entry } = props;
  switch (entry.kind) {
    case "said":
      return <SaidRow {...props} entry={entry} />;
    case "asked":
      return <AskedRow {...props} entry={entry} />;
    case "typed":
      return <TypedRow {...props} entry={entry} />;
  }
});

function SaidRow({ entry, label, isUnsent }: EntryRowProps & { readonly entry: Said | NewSaid }): JSX.Element {
  const isLate = "whileAway" in entry && entry.whileAway;
  return (
    <li class="entry theirs">
      <Meta name={label} at={entry.at}>
        {isLate ? <span class="aside">said while the workstation was away, at {timeOfDay(entry.at, "minute")}</span> : null}
        {isUnsent ? <span class="aside">not yet kept by the relay</span> : null}
      </Meta>
      <div class="bubble">
        <RichText text={entry.text} />
      </div>
    </li>
  );
}

function AskedRow({ entry, label, question, answer, api, isLive }: EntryRowProps & { readonly entry: Asked }): JSX.Element {
  return (
    <li class="entry theirs">
      <Meta name={label} at={entry.at} />
      <QuestionCard question={entry} state={question ?? entry.state} answer={answer} asker={label ?? "The app"} api={api} isLive={isLive} />
    </li>
  );
}

function TypedRow({ entry, label, isUnsent, api }: EntryRowProps & { readonly entry: Typed | NewTyped }): JSX.Element {
  const mark = "state" in entry && !isUnsent ? messageMark(entry.state, entry.repeat) : messageMark("unsent", false);
  return (
    <li class="entry own">
      <div class="bubble">
        <span class="unseen">You: </span>
        {entry.text === "" ? null : (
          <p class="as-written" dir="auto">
            {visibleBlock(entry.text)}
          </p>
        )}
        {entry.images.length === 0 ? null : (
          <div class="images">
            {entry.images.map((image, index) => (
              <ImageView key={image.id} image={image} name={`image ${index + 1}`} api={api} />
            ))}
          </div>
        )}
      </div>
      <Meta name={label} at={entry.at}>
        <span class={`mark-word ${isUnsent ? "unsent" : "kept"}`} title={mark.meaning}>
          {mark.word}
        </span>
      </Meta>
    </li>
  );
}

interface MetaProps {
  readonly name: string | undefined;
  readonly at: number;
  readonly children?: ComponentChildren;
}

function Meta({ name, at, children }: MetaProps): JSX.Element {
  return (
    <p class="meta">
      {name === undefined ? null : <bdi class="name">{name}</bdi>}
      <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
        {timeOfDay(at, "minute")}
      </time>
      {children}
    </p>
  );
}
