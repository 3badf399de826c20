/** The page's sentences about a call that waited for a click. Pure. */
import type { ApprovalFate, ApprovalState } from "./approvals-state.ts";

const ELSEWHERE: Record<ApprovalFate, string> = {
  allowed: "Allowed elsewhere. It runs now.",
  denied: "Denied elsewhere. Nothing was run.",
  withdrawn: "Its call is over, nothing was run.",
  lost: "It waits no longer: it was decided elsewhere, or its call is over. Nothing was allowed by this page.",
};

/** What a card asks for: one call, or that an MCP server of the project may run. */
export type AskedFor = "call" | "server";

/** @param name empty: the project's settings, not a server */
export function serverKicker(name: string): string {
  return name === "" ? "The project's own settings for MCP servers" : "An MCP server of this project wants to run";
}

/** @param name as for `serverKicker` */
export function serverWhy(name: string): string {
  return `${OF_THE_PROJECT} ${name === "" ? "If you allow it, it counts from the agent's next start on." : "What it runs may itself lie in that folder."}`;
}

const OF_THE_PROJECT =
  "A file inside the folder that apps work in configures this; an app may have written it. It is used only as it stands here, and any change is asked about again.";

const SERVER_FATE: Record<ApprovalFate, string> = {
  allowed: "Allowed, as it stands here, also after a restart.",
  denied: "Denied until the agent is started again.",
  withdrawn: "It waits no longer.",
  lost: "It waits no longer: it was decided elsewhere. Nothing was allowed by this page.",
};

const SETTINGS_ALLOWED = "Allowed, as it stands here, from the agent's next start on.";

/** @param server as for `serverKicker`; undefined: the card asked for a call */
export function fateSentence(state: Extract<ApprovalState, { at: "over" }>, server?: string): string {
  if (server === "" && state.fate === "allowed") return SETTINGS_ALLOWED;
  if (server !== undefined) return SERVER_FATE[state.fate];
  if (state.where === "elsewhere") return ELSEWHERE[state.fate];
  if (state.fate === "denied") return "Denied. Nothing was run.";
  return state.decision === "sitting"
    ? "Allowed, and so is this exact command of this client from now on, until the agent ends."
    : "Allowed this once. It runs now.";
}
