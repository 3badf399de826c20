/** What the page tells the agent of the conversation. Nothing here rejects: a failure is a sentence. */
import * as v from "valibot";
import { parseJson } from "../shared/json.ts";
import type { HumanImage } from "../shared/human/entry.ts";
import { AnswerAnswer, HistoryAnswer, ImageAnswer, SayAnswer, type AnswerOrder, type SayOrder } from "../shared/human/page.ts";

interface Failed {
  readonly failed: string;
}

const DEADLINE_MS = 30_000;
const UPLOAD_DEADLINE_MS = 120_000;

export interface ConversationApi {
  say(order: SayOrder): Promise<SayAnswer["outcome"] | Failed>;
  answer(order: AnswerOrder): Promise<AnswerAnswer["outcome"] | Failed>;
  putImage(file: Blob): Promise<HumanImage | Failed>;
  image(id: string): Promise<Blob | Failed>;
  history(before: number): Promise<HistoryAnswer | Failed>;
}

export function conversationApi(secret: string): ConversationApi {
  const headers = { authorization: `Bearer ${secret}` };
  const post = (body: object): RequestInit => ({
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const outcomeOf = <T>(answer: { readonly outcome: T } | Failed): T | Failed => ("failed" in answer ? answer : answer.outcome);
  return {
    say: async (order) => outcomeOf(await ask("/api/say", post(order), SayAnswer)),
    answer: async (order) => outcomeOf(await ask("/api/answer", post(order), AnswerAnswer)),
    async putImage(file) {
      const request = { method: "POST", headers: { ...headers, "content-type": file.type }, body: file };
      const answer = await ask("/api/images", request, ImageAnswer, UPLOAD_DEADLINE_MS);
      return "failed" in answer ? answer : answer.image;
    },
    async image(id) {
      const response = await fetched(`/api/images/${id}`, { headers }, UPLOAD_DEADLINE_MS);
      return "failed" in response ? response : response.blob().catch(() => ({ failed: UNREACHABLE }));
    },
    history: (before) => ask(`/api/history?before=${before}`, { headers }, HistoryAnswer),
  };
}

async function ask<T>(path: string, request: RequestInit, schema: v.GenericSchema<unknown, T>, deadlineMs = DEADLINE_MS): Promise<T | Failed> {
  const response = await fetched(path, request, deadlineMs);
  if ("failed" in response) return response;
  try {
    const body = v.safeParse(schema, parseJson(await response.text()));
    return body.success ? body.output : { failed: "The agent's answer cannot be read. Reload the page and look whether it arrived." };
  } catch {
    return { failed: UNREACHABLE };
  }
}

const UNREACHABLE = "The agent could not be reached. Nothing is lost: try again when it is back.";

async function fetched(path: string, request: RequestInit, deadlineMs: number): Promise<Response | Failed> {
  try {
    const response = await fetch(path, { ...request, signal: AbortSignal.timeout(deadlineMs), cache: "no-store" });
    if (response.ok) return response;
    return { failed: errorSentence(parseJson(await response.text())) ?? `The agent answered ${response.status}. Try again.` };
  } catch {
    return { failed: UNREACHABLE };
  }
}

function errorSentence(body: unknown): string | undefined {
  return typeof body === "object" && body !== null && "error" in body && typeof body.error === "string" ? body.error : undefined;
}
