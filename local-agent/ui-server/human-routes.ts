/** What the person writes, and what was said before. Bodies and answers: `shared/human/page.ts`. */
import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as v from "valibot";
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import { AnswerOrder, SayOrder } from "../../shared/human/page.ts";
import { parseJson } from "../../shared/json.ts";
import type { PageConversation } from "../desk/page-conversation.ts";
import { ifReachable } from "./if-reachable.ts";
import { failure, methodNotAllowed, requireJson } from "./route-answers.ts";

/** JSON writes one byte as up to six (`\u0001`); the words themselves are measured by their schema. */
const MAX_WORDS_BYTES = 6 * HUMAN_LIMITS.textBytes + 16 * 1024;

const TOO_LONG = `A message has at most ${HUMAN_LIMITS.textBytes / 1024} KiB: shorten it, or put the text into a file and name that.`;

/** Behind the checks of every route of the page's API. */
export function mountWords(app: Hono, conversation: PageConversation | null): void {
  const words = [requireJson, bodyLimit({ maxSize: MAX_WORDS_BYTES, onError: (c) => failure(c, 413, TOO_LONG) })] as const;
  app.post("/api/say", ...words, async (c) => {
    const order = v.safeParse(SayOrder, parseJson(await c.req.text()));
    if (!order.success) return refuseWords(c, order.issues, '{"id": UUID, "text": string, "images": [image, …], "to": client or null}');
    return ifReachable(c, conversation, async (open) => c.json(await open.say(order.output)));
  });
  app.post("/api/answer", ...words, async (c) => {
    const order = v.safeParse(AnswerOrder, parseJson(await c.req.text()));
    if (!order.success) return refuseWords(c, order.issues, '{"id": UUID, "questionId": string, "text": string}');
    return ifReachable(c, conversation, async (open) => c.json(await open.answer(order.output)));
  });
  app.all("/api/say", (c) => methodNotAllowed(c, "POST"));
  app.all("/api/answer", (c) => methodNotAllowed(c, "POST"));
}

export function mountHistory(app: Hono, conversation: PageConversation | null): void {
  app.get("/api/history", (c) => {
    const before = c.req.query("before") ?? "";
    if (!/^[1-9]\d{0,14}$/.test(before)) return failure(c, 400, "Expected ?before=N, the place of the oldest entry that is known.");
    return ifReachable(c, conversation, async (open) => c.json(await open.history(Number(before))));
  });
  app.all("/api/history", (c) => methodNotAllowed(c, "GET"));
}

function refuseWords(c: Context, issues: readonly v.BaseIssue<unknown>[], expected: string): Response {
  const isTooLong = issues.some((issue) => issue.type === "max_bytes");
  return isTooLong ? failure(c, 413, TOO_LONG) : failure(c, 400, `Expected ${expected}, with words or an image.`);
}
