/** Readers of single values. Each throws `BadValue` with one sentence: what was expected, what came. */
import { isLoopback } from "../daemon/settings.ts";
import { didYouMean } from "./nearest.ts";

/** Thrown by the readers and turned into a result at one place, in `arguments.ts`. */
export class BadValue extends Error {}

/** Every tool Pi has; which of them a platform offers unasked is the tool host's knowledge. */
const TOOLS = ["read", "write", "edit", "ls", "grep", "find", "bash", "powershell"];

export function readPort(text: string, as: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new BadValue(`${as} must be a port number from 0 to 65535, got ${JSON.stringify(text)}.`);
  return Number(text);
}

/** A host name or address to listen on, without scheme, port or brackets. */
export function readHost(text: string, as: string): string {
  const host = text.replace(/^\[(.*)\]$/, "$1");
  if (!/^[\w.-]+$/.test(host) && !/^[\da-f:.]+$/i.test(host))
    throw new BadValue(`${as} must be a host name or address without a port, got ${JSON.stringify(text)}.`);
  return host;
}

/** An origin in its canonical form: `https://host[:port]`, or http on loopback. A path, query, fragment or user is refused. */
export function readOrigin(text: string, as: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new BadValue(`${as} must be a URL such as https://mcp.example.com, got ${JSON.stringify(text)}.`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new BadValue(`${as} must be https: only a loopback address may be http, got ${JSON.stringify(text)}.`);
  }
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (!bare) throw new BadValue(`${as} must be an origin without path, query or user, got ${JSON.stringify(text)}: try ${url.origin}.`);
  return url.origin;
}

/** Like an origin, but the URL people paste, `https://relay/mcp`, is understood too; `local` is the embedded relay. */
export function readRelay(text: string, as: string): string {
  if (text === "local") return text;
  return readOrigin(text.replace(/\/mcp\/?$/, ""), as);
}

/** Bearer tokens are visible ASCII (RFC 6750 §2.1); anything else could not be sent in a header. */
export function readToken(text: string, as: string): string {
  if (!/^[\w.~+/-]+=*$/.test(text)) throw new BadValue(`${as} may hold letters, digits and -._~+/ only: it has to fit an Authorization header.`);
  return text;
}

export function readTools(text: string): readonly string[] {
  const names = split(text);
  const unknown = names.find((name) => !TOOLS.includes(name));
  if (unknown !== undefined)
    throw new BadValue(`Unknown tool ${JSON.stringify(unknown)} in --tools.${didYouMean(unknown, TOOLS)} There are: ${TOOLS.join(", ")}.`);
  if (names.length === 0) throw new BadValue(`--tools must name at least one tool of: ${TOOLS.join(", ")}.`);
  return names;
}

/** What an entry means is the tool host's knowledge; an empty list denies nothing. */
export function readDenied(text: string): readonly string[] {
  return split(text);
}

function split(list: string): readonly string[] {
  return [
    ...new Set(
      list
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    ),
  ];
}
