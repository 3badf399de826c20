/** The page's sentences about what was decided, and its times. Pure. What a person decides by is `shared/authorization-wording.ts`. */
import type { DecisionOutcome } from "../shared/authorization.ts";
import type { CardState } from "./page-state.ts";

const OUTCOMES: Record<DecisionOutcome["outcome"], string> = {
  allowed: "Allowed. The app gets access now.",
  denied: "Denied. Nothing was handed over.",
  wrong_code: "The code did not match, so nothing was handed over. Start again in the app: it shows a new code.",
  gone: "No longer waiting: it expired, gave way to a newer request, or was already decided. Nothing was handed over by this click.",
};

/** On another open page or in a terminal: this page cannot tell. */
const ELSEWHERE: Record<DecisionOutcome["outcome"], string> = {
  allowed: "Allowed elsewhere.",
  denied: "Denied elsewhere. Nothing was handed over.",
  wrong_code: "A wrong code was typed elsewhere, so nothing was handed over. Start again in the app.",
  gone: "No longer waiting: it expired, gave way to a newer request, or was decided elsewhere.",
};

export function outcomeSentence(state: Extract<CardState, { at: "over" }>): string {
  return state.where === "here" ? OUTCOMES[state.outcome] : ELSEWHERE[state.outcome];
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "16:21" or "16:21:09", local time. */
export function timeOfDay(at: number, to: "minute" | "second"): string {
  const time = new Date(at);
  const parts = [time.getHours(), time.getMinutes(), ...(to === "second" ? [time.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
