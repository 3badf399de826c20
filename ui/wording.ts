/** The page's sentences about authorizations and calls. Pure, so that what a person decides on can be tested word by word. */
import type { DecisionOutcome, PendingAuthorization } from "../shared/authorization.ts";
import type { CardState } from "./page-state.ts";

const READING = ["read", "ls", "grep", "find"];
const WRITING = ["write", "edit"];
const COMMANDS = ["bash", "powershell"];

/** "read, write and run commands": what the offered tools amount to. */
export function handedOver(tools: readonly string[]): string {
  const offers = (names: readonly string[]): boolean => tools.some((tool) => names.includes(tool));
  const others = tools.filter((tool) => ![...READING, ...WRITING, ...COMMANDS].includes(tool));
  const abilities = [
    ...(offers(READING) ? ["read"] : []),
    ...(offers(WRITING) ? ["write"] : []),
    ...(offers(COMMANDS) ? ["run commands"] : []),
    ...(others.length > 0 ? [`use ${joined(others)}`] : []),
  ];
  return abilities.length === 0 ? "do nothing yet (no tool is offered)" : joined(abilities);
}

export function runsCommands(tools: readonly string[]): boolean {
  return tools.some((tool) => COMMANDS.includes(tool));
}

/** What the redirect address means for the person: where the key to this computer is sent. */
export function destinationNote(redirectUri: string): string {
  const address = URL.parse(redirectUri);
  if (address === null) return "The key is sent to an address that cannot be read.";
  if (["localhost", "127.0.0.1", "[::1]"].includes(address.hostname))
    return "The key goes to a program on the computer where the waiting page is open.";
  if (address.protocol === "https:") return "The key is sent to this site.";
  if (address.protocol === "http:") return "The key is sent to this site, readable by everyone on the way.";
  return `The key goes to whatever app opens “${address.protocol}” addresses where the waiting page is open.`;
}

export function sameAddressAnswer(sameAddress: boolean | null): string {
  if (sameAddress === null) return "unknown";
  return sameAddress ? "yes" : "no";
}

const OUTCOMES: Record<DecisionOutcome["outcome"], string> = {
  allowed: "Allowed. The app gets its key now.",
  denied: "Denied. Nothing was handed over.",
  wrong_code: "The code did not match, so nothing was handed over. Start again in the app: it shows a new code.",
  gone: "No longer waiting: it expired, gave way to a newer request, or was already decided. Nothing was handed over by this click.",
};

const ELSEWHERE: Record<DecisionOutcome["outcome"], string> = {
  allowed: "Allowed on another open page.",
  denied: "Denied on another open page. Nothing was handed over.",
  wrong_code: "A wrong code was typed on another open page, so nothing was handed over. Start again in the app.",
  gone: "No longer waiting: it expired, gave way to a newer request, or was decided elsewhere.",
};

export function outcomeSentence(state: Extract<CardState, { at: "over" }>): string {
  return state.where === "here" ? OUTCOMES[state.outcome] : ELSEWHERE[state.outcome];
}

/** "9:41" until then; `undefined` when the time is over. */
export function countdown(authorization: PendingAuthorization, now: number): string | undefined {
  const seconds = Math.ceil((authorization.expiresAt - now) / 1_000);
  if (seconds <= 0) return undefined;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "12 s ago". A clock that differs from the relay's never shows a time in the future. */
export function age(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ${minutes % 60} min ago`;
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
