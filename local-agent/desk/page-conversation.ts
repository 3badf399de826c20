/** The conversation as the desk shows it and the page's server uses it. Implemented by `conversation.ts`; absent without `--human`. */
import type { ConversationView, DeskEvent } from "../../shared/desk.ts";
import type { HumanClient, HumanImage } from "../../shared/human/entry.ts";
import type { AnswerAnswer, AnswerOrder, HistoryAnswer, SayAnswer, SayOrder } from "../../shared/human/page.ts";

export type PutImage = { readonly outcome: "kept"; readonly image: HumanImage } | { readonly outcome: "not_an_image" | "too_large" };

/** Every method that returns a promise rejects with `StoreUnreachable`, whose message is a sentence for the person, when nothing was kept or can be read. */
export interface PageConversation {
  say(order: SayOrder): Promise<SayAnswer>;
  answer(order: AnswerOrder): Promise<AnswerAnswer>;
  /** What kind of image it is, its first bytes decide. Nothing is kept of what is refused. */
  putImage(bytes: Uint8Array): Promise<PutImage>;
  /** Its bytes and kind; null: there is no such image any more. */
  image(id: string): Promise<{ readonly mimeType: HumanImage["mimeType"]; readonly bytes: Uint8Array } | null>;
  /** What came before place `before`. */
  history(before: number): Promise<HistoryAnswer>;
  view(): ConversationView;
  /** A client called; milliseconds since the epoch. */
  sawClient(client: HumanClient, at: number): void;
  /** Somebody can see what is said. The returned function says that the page was closed; harmless when repeated. */
  pageOpened(): () => void;
  isPageOpen(): boolean;
  /** Its events (`entry`, `marks`, `conversation`), in order, called synchronously; a listener must not throw. Returns the unsubscriber. */
  subscribe(listener: (event: DeskEvent) => void): () => void;
}
