/**
 * What a person decides an authorization by, in words: the same on the page's card and in a terminal (DESIGN D6). Pure, so that it
 * can be tested word by word. The functions that return parts leave strangers' text as it came; `authorizationFacts` has made it
 * visible.
 */
import type { PendingAuthorization } from "./authorization.ts";
import { age, countdown } from "./elapsed.ts";
import { visibleLine } from "./visible-text.ts";

const READING = ["read", "ls", "grep", "find"];
const WRITING = ["write", "edit"];
const COMMANDS = ["bash", "powershell"];
const LOOPBACK_ADDRESS = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;
/** The host to the letter and at once its end: what an address parser would read in another way is not called loopback. */
const LOOPBACK_REDIRECT = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?([/?#]|$)/i;

/** Likewise to the letter: user names, backslashes, escapes and other scripts in a host are read in more than one way. */
const READABLE_DOCUMENT = /^https:\/\/([a-z\d.-]+(:\d{1,5})?)([/?#]|$)/i;

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

/** `handedOver` as one line: "read and write files in /srv/work and run any command as you". */
export function handedOverLine(tools: readonly string[], root: string): string {
  const abilities = handedOver(tools);
  if (abilities.length === 0) return "do nothing yet (no tool is offered)";
  const words = ({ what, isInFolder }: Ability): string => (isInFolder ? `${what} in ${visibleLine(root)}` : what);
  return abilities.map((ability, index) => separator(index, abilities.length) + words(ability)).join("");
}

/**
 * Whether the waiting page is open in a browser of this very computer. Only of an issuer that is on loopback alone, the
 * one that needs no code: a public one may hear everybody from a proxy's loopback address.
 */
export function isOpenedHere({ codeRequired, opened }: PendingAuthorization): boolean {
  return !codeRequired && LOOPBACK_ADDRESS.test(opened.address);
}

/** What stands around the redirect host in a title, where the host alone says nothing: whose loopback is meant. */
export function titleAround(authorization: PendingAuthorization): { readonly before: string; readonly after: string } {
  if (!LOOPBACK_REDIRECT.test(authorization.redirectUri)) return { before: "", after: "" };
  return { before: isOpenedHere(authorization) ? "A program on this computer (" : "A program where the waiting page is open (", after: ")" };
}

/** What the redirect address means for the person: where access to this computer goes. `undefined` where the title has said it. */
export function destinationNote(authorization: PendingAuthorization): string | undefined {
  const { redirectUri } = authorization;
  if (LOOPBACK_REDIRECT.test(redirectUri))
    return isOpenedHere(authorization) ? undefined : "Access goes to the computer where the waiting page is open: is that yours?";
  const [, scheme = ""] = /^([a-z][a-z\d+.-]*:)/i.exec(redirectUri) ?? [];
  switch (scheme.toLowerCase()) {
    case "":
      return "Access goes to an address that cannot be read.";
    case "https:":
      return "Access goes to this site.";
    case "http:":
      return "Access goes to this site, readable by everyone on the way.";
    default:
      return `Access goes to whatever app opens “${scheme.toLowerCase()}” addresses where the waiting page is open.`;
  }
}

/**
 * The host whose metadata document speaks for the client, where its id is the address of one: unlike its name, nobody else can have it.
 * `undefined` of a client that registered itself or was set up by hand.
 */
export function describedAt({ configured, clientId }: PendingAuthorization): string | undefined {
  if (configured !== undefined || !/^\s*https:/i.test(clientId)) return undefined;
  return READABLE_DOCUMENT.exec(clientId)?.[1]?.toLowerCase() ?? "an address that cannot be read";
}

/** Whether this was allowed once, in a few words. Of the client that was set up by hand it is the very address that counts, not its host. */
export function standing({ configured, allowedBefore }: PendingAuthorization): { readonly isKnown: boolean; readonly words: string } {
  if (configured === "new") return { isKnown: false, words: "new address: never allowed before" };
  if (configured === "approved" || allowedBefore) return { isKnown: true, words: "allowed before" };
  return { isKnown: false, words: "first time: never allowed before" };
}

/** Only for the client that was set up by hand: how its address is known, and for a new one what allowing means. */
export function addressNote({ configured }: PendingAuthorization): string | undefined {
  switch (configured) {
    case undefined:
      return undefined;
    case "named":
      return "This address was named when pimcp was started.";
    case "approved":
      return "You allowed this very address before.";
    case "new":
      return "Nobody set this address up in advance: the app sent it just now, and allowing is what allows it, from now on. If you did not just start this, deny.";
  }
}

export function sameAddressAnswer(sameAddress: boolean | null): string {
  if (sameAddress === null) return "unknown";
  return sameAddress ? "yes" : "no";
}

/** `undefined` where a client asks for the one scope there is and gets it: then the words would tell a person nothing. */
export function scopeNote(authorization: PendingAuthorization): string | undefined {
  const { scopeAsked, scopeGranted } = authorization;
  return scopeList(scopeAsked) === "mcp" && scopeList(scopeGranted) === "mcp" ? undefined : scopeLine(authorization);
}

function scopeLine({ scopeAsked, scopeGranted }: PendingAuthorization): string {
  return `asked for ${scopeList(scopeAsked)}; gets ${scopeList(scopeGranted)}`;
}

export function scopeList(scope: readonly string[]): string {
  return scope.length === 0 ? "none" : scope.join(", ");
}

export interface AuthorizationFact {
  readonly name: string;
  /** One line; hidden characters are written out. */
  readonly text: string;
}

/** Every fact of D6 as lines, most important first, each with all there is to say: for where nothing can be unfolded. */
export function authorizationFacts(authorization: PendingAuthorization, now: number): readonly AuthorizationFact[] {
  const { redirectUri, opened } = authorization;
  const isHere = isOpenedHere(authorization);
  const host = describedAt(authorization);
  const meaning = [destinationNote(authorization), addressNote(authorization)].filter((note) => note !== undefined);
  const remaining = countdown(authorization.expiresAt, now);
  const from = `${opened.address === "" ? "unknown" : opened.address} · same public address as this workstation: ${sameAddressAnswer(opened.sameAddress)}`;
  return [
    { name: "Goes to", text: title(authorization) },
    { name: "App", text: callerLine(authorization) },
    // A line of its own: a name can say anything within its line.
    ...(host === undefined ? [] : [{ name: "Described", text: `at ${host}` }]),
    { name: "Address", text: redirectUri },
    { name: "Known", text: standing(authorization).words },
    ...(meaning.length === 0 ? [] : [{ name: "Meaning", text: meaning.join(" ") }]),
    { name: "Scope", text: scopeLine(authorization) },
    { name: "Opened", text: `${isHere ? "on this computer, " : ""}${openedIn(authorization)}, ${age(opened.at, now)}` },
    ...(isHere ? [] : [{ name: "From", text: from }]),
    { name: "Code", text: authorization.codeRequired ? "the one its waiting page shows; one try" : "none is needed on this computer" },
    { name: "Expires", text: remaining === undefined ? "expired" : `in ${remaining}` },
  ].map(({ name, text }) => ({ name, text: visibleLine(text) }));
}

/** Where access goes: what stands at the head of a request. */
function title(authorization: PendingAuthorization): string {
  const { before, after } = titleAround(authorization);
  return before + authorization.redirectHost + after;
}

/** A name of its own choice proves nothing; an id that was made here does. */
function callerLine({ configured, clientId, clientName }: PendingAuthorization): string {
  const id = `client id ${visibleLine(clientId, 200)}`;
  return configured === undefined ? `calls itself “${visibleLine(clientName, 200)}”, ${id}` : `the client you set up by hand, ${id}`;
}

/** Browser and country, as far as they are known. */
export function openedIn({ opened }: PendingAuthorization): string {
  return [opened.browser, opened.country].filter((part) => part !== "").join(", ") || "unknown browser";
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
