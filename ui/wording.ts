/** The page's sentences about authorizations and calls. Pure, so that what a person decides on can be tested word by word. */
import type { DecisionOutcome, PendingAuthorization } from "../shared/authorization.ts";
import type { CardState } from "./page-state.ts";

const READING = ["read", "ls", "grep", "find"];
const WRITING = ["write", "edit"];
const COMMANDS = ["bash", "powershell"];
const LOOPBACK_ADDRESS = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;

/** One thing the offered tools amount to; `isInFolder`: what the root confines. */
export interface Ability {
  readonly what: string;
  readonly isInFolder: boolean;
}

/** What a client could do with the offered tools. A shell is not confined to the folder, so it is never said in one breath with it. */
export function handedOver(tools: readonly string[]): readonly Ability[] {
  const offers = (names: readonly string[]): boolean => tools.some((tool) => names.includes(tool));
  const others = tools.filter((tool) => ![...READING, ...WRITING, ...COMMANDS].includes(tool));
  const onFiles = [...(offers(READING) ? ["read"] : []), ...(offers(WRITING) ? ["write"] : [])];
  return [
    ...(onFiles.length > 0 ? [{ what: `${joined(onFiles)} files`, isInFolder: true }] : []),
    ...(offers(COMMANDS) ? [{ what: "run any command as you", isInFolder: false }] : []),
    ...(others.length > 0 ? [{ what: `use ${joined(others)}`, isInFolder: false }] : []),
  ];
}

/** What stands between the entries of a list in a sentence: ", " and, before the last one, " and ". */
export function separator(index: number, length: number): string {
  if (index === 0) return "";
  return index === length - 1 ? " and " : ", ";
}

/**
 * Whether the waiting page is open in a browser of this very computer. Only of an issuer that is on loopback alone, the
 * one that needs no code: a public one may hear everybody from a proxy's loopback address.
 */
export function isOpenedHere({ codeRequired, opened }: PendingAuthorization): boolean {
  return !codeRequired && LOOPBACK_ADDRESS.test(opened.address);
}

/** What stands around the redirect host in a card's title, where the host alone says nothing: whose loopback is meant. */
export function titleAround(authorization: PendingAuthorization): { readonly before: string; readonly after: string } {
  if (!leadsToLoopback(URL.parse(authorization.redirectUri))) return { before: "", after: "" };
  return { before: isOpenedHere(authorization) ? "A program on this computer (" : "A program where the waiting page is open (", after: ")" };
}

/** What the redirect address means for the person: where access to this computer goes. `undefined` where the title has said it. */
export function destinationNote(authorization: PendingAuthorization): string | undefined {
  const address = URL.parse(authorization.redirectUri);
  if (address === null) return "Access goes to an address that cannot be read.";
  if (leadsToLoopback(address))
    return isOpenedHere(authorization) ? undefined : "Access goes to the computer where the waiting page is open: is that yours?";
  if (address.protocol === "https:") return "Access goes to this site.";
  if (address.protocol === "http:") return "Access goes to this site, readable by everyone on the way.";
  return `Access goes to whatever app opens “${address.protocol}” addresses where the waiting page is open.`;
}

function leadsToLoopback(address: URL | null): boolean {
  return address !== null && ["http:", "https:"].includes(address.protocol) && ["localhost", "127.0.0.1", "[::1]"].includes(address.hostname);
}

export function sameAddressAnswer(sameAddress: boolean | null): string {
  if (sameAddress === null) return "unknown";
  return sameAddress ? "yes" : "no";
}

/** `undefined` where a client asks for the one scope there is and gets it: then the words would tell a person nothing. */
export function scopeNote({ scopeAsked, scopeGranted }: PendingAuthorization): string | undefined {
  const [asked, granted] = [scopeList(scopeAsked), scopeList(scopeGranted)];
  return asked === "mcp" && granted === "mcp" ? undefined : `asked for ${asked}; gets ${granted}`;
}

export function scopeList(scope: readonly string[]): string {
  return scope.length === 0 ? "none" : scope.join(", ");
}

const OUTCOMES: Record<DecisionOutcome["outcome"], string> = {
  allowed: "Allowed. The app gets access now.",
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

/** "12 s ago". */
export function age(at: number, now: number): string {
  return now - at < 4_500 ? "just now" : `${elapsed(at, now)} ago`;
}

/** "12 s". A clock that differs from the relay's never shows a negative time. */
export function elapsed(since: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - since) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "16:21" or "16:21:09", local time. */
export function timeOfDay(at: number, to: "minute" | "second"): string {
  const time = new Date(at);
  const parts = [time.getHours(), time.getMinutes(), ...(to === "second" ? [time.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
