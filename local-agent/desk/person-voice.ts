/** What the person says on the page: addressed, kept, and handed to whoever waits for it. */
import type { Asked, HumanEntry, NewTyped } from "../../shared/human/entry.ts";
import type { Outbox } from "../../shared/human/outbox.ts";
import type { AnswerOrder } from "../../shared/human/page.ts";
import type { HumanStore } from "../../shared/human/store.ts";
import type { Clock } from "../../shared/ports.ts";
import { addressOf } from "../../shared/human/addressing.ts";
import { getImage, putImage } from "./image-pieces.ts";
import { imageType } from "./image-type.ts";
import type { PageConversation } from "./page-conversation.ts";
import type { SeenClients } from "./seen-clients.ts";
import type { Transcript } from "./transcript.ts";
import type { WaitingSeat } from "./waiting-seat.ts";
import type { Kept, WordKeeper } from "./word-keeper.ts";

export type PersonVoice = Pick<PageConversation, "say" | "answer" | "putImage" | "image" | "history">;

export interface PersonVoicePorts {
  readonly store: HumanStore;
  readonly outbox: Outbox;
  readonly keeper: WordKeeper;
  readonly transcript: Transcript;
  readonly clients: SeenClients;
  readonly seat: WaitingSeat;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly learn: (entries: readonly HumanEntry[]) => void;
}

export function createPersonVoice(ports: PersonVoicePorts): PersonVoice {
  const { store, outbox, keeper, transcript, seat, clock } = ports;

  /** At the key press: a connection that its client closed shows while the words are being kept. */
  function probe(to: NewTyped["to"]): void {
    const order = seat.current()?.order;
    if (order !== undefined && (to === null || to.principalId === order.client.principalId)) order.probe();
  }

  async function keep(entry: NewTyped): Promise<Kept> {
    probe(entry.to);
    const kept = await keeper.keep(entry);
    if ("entry" in kept) ports.learn([kept.entry]);
    return kept;
  }

  function answersToSend(questionId: string): NewTyped | undefined {
    return outbox.list().find((entry): entry is NewTyped => entry.kind === "typed" && entry.questionId === questionId);
  }

  function openQuestions(): Asked[] {
    return transcript.openQuestions(clock.now()).filter((question) => answersToSend(question.id) === undefined);
  }

  /** Why an answer would come too late, as far as it is known here. */
  function tooLate({ id, questionId }: AnswerOrder): "answered" | "over" | undefined {
    const waiting = answersToSend(questionId);
    if (waiting !== undefined && waiting.id !== id) return "answered";
    const question = transcript.question(questionId);
    if (question === undefined || question.state === "expired" || question.state === "withdrawn") return "over";
    return question.state === "open" && question.expiresAt <= clock.now() ? "over" : undefined;
  }

  return {
    async say({ id, text, images, to: chosen }) {
      const waiting = seat.current()?.order.client ?? null;
      const now = clock.now();
      const address = addressOf(chosen, { clients: ports.clients.list(), waiting, openQuestions: openQuestions(), now });
      const entry: NewTyped = { kind: "typed", id, at: now, text, images, ...address };
      const kept = await keep(entry);
      if (kept.outcome !== "answered") return { outcome: kept.outcome };
      // Its question was answered meanwhile; the words were said all the same.
      const again = await keep({ ...entry, questionId: null });
      return { outcome: again.outcome === "answered" ? "full" : again.outcome };
    },
    async answer(order) {
      const late = tooLate(order);
      const question = transcript.question(order.questionId);
      if (late !== undefined || question === undefined) return { outcome: late ?? "over" };
      const { id, questionId, text } = order;
      const kept = await keep({ kind: "typed", id, at: clock.now(), text, images: [], to: question.client, questionId });
      return { outcome: kept.outcome };
    },
    putImage: (bytes) => putImage(store, bytes, ports.newId()),
    async image(id) {
      const data = await getImage(store, id);
      if (data === null) return null;
      const bytes = new Uint8Array(Buffer.from(data, "base64"));
      const mimeType = imageType(bytes);
      return mimeType === undefined ? null : { bytes, mimeType };
    },
    history: (before) => store.ask("human.history", { before }),
  };
}
