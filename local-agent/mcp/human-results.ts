/**
 * What a client is told about the person. The person's words come first and as they were typed; whatever the workstation
 * adds stands in a block of its own at the end.
 */
import type { Category, HumanImage, Typed } from "../../shared/human/entry.ts";
import type { SayOutcome } from "../../shared/human/channel.ts";
import type { ToolContent, ToolOutcome } from "../../shared/tool.ts";

/** A question as an answer names it. `expiresAt` (milliseconds since the epoch) is null while the relay cannot say. */
export interface NamedQuestion {
  readonly questionId: string;
  readonly expiresAt: number | null;
}

export interface Heard {
  readonly messages: readonly Typed[];
  readonly left: number;
  /** The question that nobody has answered yet; null: there is none. */
  readonly open: NamedQuestion | null;
  /** Base64 by the image's id; null: its bytes are gone. */
  readonly images: ReadonlyMap<string, string | null>;
  /** Of the workstation. */
  readonly timeZone: string;
  /** Sentences to add at the end. */
  readonly notes: readonly string[];
}

export interface Unanswered {
  readonly why: "budget" | "busy" | "ended";
  readonly budgetMs: number;
  readonly question: NamedQuestion | null;
  readonly notes: readonly string[];
}

const SAID: Readonly<Record<SayOutcome, { readonly status: "shown" | "queued"; readonly sentence: string }>> = {
  shown: { status: "shown", sentence: "Shown to the person." },
  page_closed: { status: "queued", sentence: "Queued: the person's page is closed, and shows this when it is opened." },
  unsent: { status: "queued", sentence: "Queued: it is kept on the workstation until the relay can be reached again." },
};

/** [HU34] Returned at once: nobody has read anything yet. */
export function saidResult(outcome: SayOutcome, category: Category): ToolOutcome {
  const { status, sentence } = SAID[outcome];
  const next = category === "done" ? "Call human_wait now for what comes next." : "This did not wait for an answer: call human_wait to hear one.";
  return { content: [{ type: "text", text: `${sentence} ${next}` }], structuredContent: { status }, isError: false };
}

/** [HU40] Never an error: models apologise for one, and give up. */
export function noMessageResult({ why, budgetMs, question, notes }: Unanswered): ToolOutcome {
  const which = question === null ? "" : ` with questionId "${question.questionId}"`;
  const stays = question === null ? "Nothing the person says meanwhile is lost." : "Your question stays open, and no answer to it is lost.";
  const sentences =
    why === "busy"
      ? [
          `Call human_wait${which} again as soon as the other call has returned.`,
          "Another call waits for the person already, and only one can: this one did not wait.",
          stays,
        ]
      : [
          `Call human_wait${which} again now: the person has not answered within ${seconds(budgetMs)}, and your turn must not end while you wait for them.`,
          stays,
          "This is not an error.",
        ];
  const structuredContent = { status: "no_message", ...named(question) };
  return { content: [{ type: "text", text: [...sentences, ...notes].join(" ") }], structuredContent, isError: false };
}

/** [HU45] A question that can no longer be answered. */
export function overResult(): ToolOutcome {
  const text =
    "Ask again with human_ask if you still need the answer: this question is no longer open, and nobody answered it. Call human_wait without questionId to hear whatever else the person says.";
  return { content: [{ type: "text", text }], structuredContent: { status: "no_message" }, isError: false };
}

/** [HU41] [HU42] [HU43] [HU44] */
export function messagesResult(heard: Heard): ToolOutcome {
  const { messages, left, open } = heard;
  const content = contentOf(heard);
  const notes = [...repeatNotes(messages), ...strayNotes(messages), ...heard.notes, ...openNotes(open), ...leftNotes(left)];
  if (notes.length > 0) content.push({ type: "text", text: notes.join(" ") });
  return { content, structuredContent: { status: "messages", count: messages.length, left, ...named(open) }, isError: false };
}

/** `14:03:22`. */
export function timeOfDay(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone }).format(at);
}

function contentOf({ messages, images, timeZone }: Heard): ToolContent[] {
  const content: ToolContent[] = [];
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) content.push({ type: "text", text: lines.join("\n") });
    lines = [];
  };
  for (const [index, message] of messages.entries()) {
    const line = messages.length === 1 ? message.text : stamped(message, `${index + 1}/${messages.length}`, timeZone);
    if (line !== "") lines.push(line);
    for (const image of message.images) {
      const data = images.get(image.id) ?? null;
      if (data === null) lines.push(goneImage(image));
      else {
        flush();
        content.push({ type: "image", data, mimeType: image.mimeType });
      }
    }
  }
  flush();
  return content;
}

function stamped(message: Typed, place: string, timeZone: string): string {
  const marks = `${message.repeat ? " · repeat" : ""}${isStray(message) ? " · to another app" : ""}`;
  return `[${place} · ${timeOfDay(message.at, timeZone)}${marks}] ${message.text}`.trimEnd();
}

/** The answer to a question of a client that lost its access: it is for whoever asks first, who asked something else. */
function isStray({ to, questionId }: Typed): boolean {
  return to === null && questionId !== null;
}

function goneImage({ mimeType, bytes }: HumanImage): string {
  return `(an image was here, ${mimeType}, ${bytes} bytes: it can no longer be read. Ask for it again if you need it.)`;
}

function repeatNotes(messages: readonly Typed[]): string[] {
  if (!messages.some(({ repeat }) => repeat)) return [];
  const which = messages.length === 1 ? "This message is a repeat: it" : "What is marked as a repeat";
  return [`${which} was sent to you before, and whether it arrived is not known. Do not act on it twice.`];
}

function strayNotes(messages: readonly Typed[]): string[] {
  if (!messages.some(isStray)) return [];
  const which = messages.length === 1 ? "This message was" : 'What is marked "to another app" was';
  return [
    `${which} the person's answer to a question of another app, which has lost its access: it answers nothing that you asked, and allows nothing.`,
  ];
}

function openNotes(open: NamedQuestion | null): string[] {
  return open === null
    ? []
    : [`Your question is not answered yet and stays open: call human_wait with questionId "${open.questionId}" for its answer.`];
}

function leftNotes(left: number): string[] {
  return left > 0 ? [`More is waiting (${left}): call human_wait again for the rest before you act on this.`] : [];
}

function named(question: NamedQuestion | null): { readonly questionId?: string; readonly expiresAt?: string } {
  if (question === null) return {};
  const { questionId, expiresAt } = question;
  return { questionId, ...(expiresAt !== null && { expiresAt: new Date(expiresAt).toISOString() }) };
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}
