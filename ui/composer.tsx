/** Where the person writes. */
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { HUMAN_LIMITS } from "../shared/human/limits.ts";
import { canSend, lengthNote } from "./composer-state.ts";
import type { ConversationApi } from "./conversation-api.ts";
import type { Conversation } from "./conversation-state.ts";
import { IMAGE_TYPES } from "./image-files.ts";
import { ImageView } from "./image-view.tsx";
import { recipientOf } from "./recipient.ts";
import { RecipientChoice } from "./recipient-choice.tsx";
import { isSendKey } from "./send-key.ts";
import { useComposer, type Composer as ComposerState } from "./use-composer.ts";

export interface ComposerProps {
  readonly conversation: Conversation;
  readonly api: ConversationApi;
  readonly now: number;
}

export function Composer({ conversation, api, now }: ComposerProps): JSX.Element {
  const isKept = (id: string): boolean =>
    conversation.entries.some((entry) => entry.id === id) || conversation.unsent.some((entry) => entry.id === id);
  const composer = useComposer(api, isKept);
  const { state, change } = composer;
  const [isDropTarget, setDropTarget] = useState(false);
  const note = lengthNote(state.draft.text);
  const noteId = useId();
  const maySend = canSend(state.draft) && composer.uploads.length === 0;
  const send = (): void => {
    if (maySend) change({ t: "sent", to: recipientOf(conversation, state.draft.to, now).client?.principalId ?? null });
  };
  return (
    <section
      class={isDropTarget ? "composer drop-target" : "composer"}
      aria-label="Write"
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        setDropTarget(true);
      }}
      onDragLeave={() => setDropTarget(false)}
      onDrop={(event) => {
        setDropTarget(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        composer.attach(files);
      }}
    >
      <Attachments composer={composer} api={api} />
      <TextBox text={state.draft.text} describedBy={noteId} onText={(text) => change({ t: "typed", text })} onSend={send} onFiles={composer.attach} />
      <div class="composer-bar">
        <FileButton onFiles={composer.attach} isFull={state.draft.images.length + composer.uploads.length >= HUMAN_LIMITS.imagesPerMessage} />
        <RecipientChoice conversation={conversation} chosen={state.draft.to} now={now} onChoose={(to) => change({ t: "addressed", to })} />
        <p id={noteId} class={note?.isTooLong === true ? "length problem" : "length muted"} role="status">
          {state.onTheWay.length > 0 ? "Sending …" : note?.words}
        </p>
        <button type="button" class="send" disabled={!maySend} onClick={send}>
          Send
        </button>
      </div>
      <p class="problem" role="alert">
        {state.problem ?? composer.uploadProblem}
      </p>
    </section>
  );
}

interface TextBoxProps {
  readonly text: string;
  readonly describedBy: string;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Grows with its text up to the bound of its style. */
function TextBox({ text, describedBy, onText, onSend, onFiles }: TextBoxProps): JSX.Element {
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || CSS.supports("field-sizing", "content")) return;
    element.rows = Math.min(10, text.split("\n").length);
  }, [text]);
  return (
    <textarea
      ref={box}
      rows={1}
      dir="auto"
      aria-label="Message"
      aria-describedby={describedBy}
      placeholder="Write a message"
      enterkeyhint={window.matchMedia("(pointer: coarse)").matches ? "enter" : "send"}
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (!isSendKey(event)) return;
        event.preventDefault();
        onSend();
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        // Text that was copied from a document brings a picture of itself along: there the text is meant.
        if (files.length === 0 || event.clipboardData?.getData("text/plain") !== "") return;
        event.preventDefault();
        onFiles(files);
      }}
    />
  );
}

function FileButton({ isFull, onFiles }: { readonly isFull: boolean; readonly onFiles: (files: readonly File[]) => void }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="quiet" disabled={isFull} onClick={() => input.current?.click()}>
        Add image
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={IMAGE_TYPES.join(",")}
        aria-label="Images to send"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

function Attachments({ composer, api }: { readonly composer: ComposerState; readonly api: ConversationApi }): JSX.Element | null {
  const { images } = composer.state.draft;
  if (images.length === 0 && composer.uploads.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Images of this message">
      {images.map((image, index) => (
        <li key={image.id}>
          <ImageView image={image} name={`image ${index + 1}`} api={api} />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove image ${index + 1}`}
            onClick={() => composer.change({ t: "removed", imageId: image.id })}
          >
            Remove
          </button>
        </li>
      ))}
      {composer.uploads.map(({ key, name }) => (
        <li key={key} class="muted" role="status">
          <bdi>{name}</bdi> is being read …
        </li>
      ))}
    </ul>
  );
}
