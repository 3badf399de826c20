/** The conversation, for a route; or the answer that there is none, or that it is out of reach. */
import type { Context } from "hono";
import { StoreUnreachable } from "../../shared/human/store.ts";
import type { PageConversation } from "../desk/page-conversation.ts";
import { failure } from "./route-answers.ts";

/** Nothing is said to be kept that is not: 503 has the reason, and the page keeps the words in their box. */
export async function ifReachable(
  c: Context,
  conversation: PageConversation | null,
  answer: (open: PageConversation) => Promise<Response>,
): Promise<Response> {
  if (conversation === null) return failure(c, 404, "There is no conversation here: the agent was started without --human.");
  try {
    return await answer(conversation);
  } catch (error) {
    if (error instanceof StoreUnreachable) return failure(c, 503, error.message);
    throw error;
  }
}
