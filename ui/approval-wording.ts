/** The page's sentences about a call that waited for a click. Pure. */
import type { ApprovalFate, ApprovalState } from "./approvals-state.ts";

const ELSEWHERE: Record<ApprovalFate, string> = {
  allowed: "Allowed elsewhere. It runs now.",
  denied: "Denied elsewhere. Nothing was run.",
  withdrawn: "Its call is over, nothing was run.",
  lost: "It waits no longer: it was decided elsewhere, or its call is over. Nothing was allowed by this page.",
};

export function fateSentence(state: Extract<ApprovalState, { at: "over" }>): string {
  if (state.where === "elsewhere") return ELSEWHERE[state.fate];
  if (state.fate === "denied") return "Denied. Nothing was run.";
  return state.decision === "sitting"
    ? "Allowed, and so is this exact command of this client from now on, until the agent ends."
    : "Allowed this once. It runs now.";
}
