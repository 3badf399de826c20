/** A mode's answer: a text within the output guard, and details. */
import type { JsonObject } from "../../../../shared/json.ts";
import type { AdapterResult } from "../../adapter.ts";
import type { Presenter } from "../../call/present.ts";
import { guardContent } from "../../call/output-guard.ts";

export async function answerText(presenter: Presenter, text: string, details: JsonObject): Promise<AdapterResult> {
  const { content, cut } = await guardContent([{ type: "text", text }], presenter.guard, presenter.files.keepText.bind(presenter.files));
  return { content, details: { ...details, ...(cut === null ? {} : { outputGuard: cut }) }, isError: false };
}

/** The text says what the code means. */
export async function answerProblem(
  presenter: Presenter,
  problem: { readonly code: string; readonly message: string },
  details: JsonObject,
): Promise<AdapterResult> {
  const answer = await answerText(presenter, problem.message, { ...details, error: problem.code });
  return { ...answer, isError: true };
}
