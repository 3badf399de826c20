/** A person by script: what the loopback page sends for them, through the page's own API, and what it shows them. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConversationView, DeskSnapshot } from "../../shared/desk.ts";
import type { Asked, HumanEntry } from "../../shared/human/entry.ts";
import { pageShows } from "./page-shows.ts";

interface PageAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Person {
  /** One post as the page makes it; the secret and the address of the moment. */
  post(path: string, body: unknown): Promise<PageAnswer>;
  /** Says it once, however often it has to be sent: until the page's server says that it is kept. Returns the message's id. */
  say(text: string, to?: string | null): Promise<string>;
  answer(questionId: string, text: string): Promise<string>;
  shows(): Promise<DeskSnapshot>;
  conversation(): Promise<ConversationView>;
  openQuestions(): Promise<readonly Asked[]>;
}

const KEPT: ReadonlySet<unknown> = new Set(["kept", "known", "unsent"]);
const PATIENCE_MS = 30_000;

/** `pageUrl` is asked at every request: a restarted agent has another secret. */
export function personAt(pageUrl: () => string): Person {
  const post = async (path: string, body: unknown): Promise<PageAnswer> => {
    const { origin, hash } = new URL(pageUrl());
    const response = await fetch(`${origin}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${hash.slice(1)}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const untilKept = async (path: string, body: { readonly id: string }): Promise<string> => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = await post(path, body).catch((error: unknown): PageAnswer => ({ status: 0, body: { error: String(error) } }));
      if (answer.status === 200 && KEPT.has(answer.body["outcome"])) return body.id;
      if (answer.status === 200 || (answer.status >= 400 && answer.status < 500 && answer.status !== 401) || Date.now() > deadline)
        throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      await sleep(100);
    }
  };
  const shows = (): Promise<DeskSnapshot> => pageShows(pageUrl());
  const conversation = async (): Promise<ConversationView> => {
    const view = (await shows()).conversation;
    if (view === null) throw new Error("the page has no conversation: the agent runs without --human");
    return view;
  };
  return {
    post,
    say: (text, to = null) => untilKept("/api/say", { id: randomUUID(), text, images: [], to } as never),
    answer: (questionId, text) => untilKept("/api/answer", { id: randomUUID(), questionId, text } as never),
    shows,
    conversation,
    openQuestions: async () => (await conversation()).entries.filter(isOpen),
  };
}

function isOpen(entry: HumanEntry): entry is Asked {
  return entry.kind === "asked" && entry.state === "open";
}
