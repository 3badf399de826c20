/** Sends what the person answered to an MCP server's question. */
import * as v from "valibot";
import { parseJson } from "../shared/json.ts";
import { FormOutcome, type FormAnswer } from "../shared/upstream-form.ts";

const DEADLINE_MS = 30_000;

/** Never rejects. `unanswered` is a sentence: nothing is known to have been sent. */
export async function sendForm(secret: string, answer: FormAnswer): Promise<FormOutcome | { readonly outcome: "unanswered"; readonly why: string }> {
  try {
    const response = await fetch("/api/form", {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(answer),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const outcome = v.safeParse(FormOutcome, parseJson(await response.text()));
    if (response.ok && outcome.success) return outcome.output;
    return { outcome: "unanswered", why: `The agent answered ${response.status}. Your answer may not have been taken; try again.` };
  } catch {
    return { outcome: "unanswered", why: "The agent could not be reached. If the question still stands here, try again." };
  }
}
