/**
 * Which redirect addresses this issuer would ever send a code to. Pure. Stricter than the provider: it is the last thing
 * between a grant and a stranger, so what is not understood is refused.
 */

/** `unsafe` refuses a whole registration; `unusable` (somebody's private scheme) only drops this address from it. */
export type RedirectVerdict = { readonly verdict: "usable" } | { readonly verdict: "unusable" | "unsafe"; readonly reason: string };

/** Schemes with script, content or local files behind them: never stored, never followed. */
const DANGEROUS = new Set(["javascript:", "data:", "vbscript:", "file:", "mailto:", "blob:", "about:", "view-source:", "filesystem:"]);
/** Private-use schemes allowed by name: an app that registers one can be impersonated by any other app on the device. */
const PRIVATE_SCHEMES = new Set(["cursor:"]);
const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"] as const;

export function judgeRedirect(uri: string): RedirectVerdict {
  // Parsers disagree about spaces, control characters, backslashes and non-ASCII letters; addresses need none of them.
  if (uri.length > 2000 || !/^[\x21-\x5b\x5d-\x7e]+$/.test(uri)) return unsafe("must be plain ASCII without spaces or backslashes");
  if (!URL.canParse(uri)) return unsafe("is not an absolute address");
  const url = new URL(uri);
  if (DANGEROUS.has(url.protocol)) return unsafe(`must not use ${url.protocol}`);
  if (uri.includes("#")) return unsafe("must have no fragment");
  if (url.username !== "" || url.password !== "" || /^[^:]*:\/\/[^/?]*@/.test(uri)) return unsafe("must have no user name in it");
  if (url.protocol === "https:" || url.protocol === "http:") return judgeWebAddress(uri, url);
  if (PRIVATE_SCHEMES.has(url.protocol)) return { verdict: "usable" };
  return { verdict: "unusable", reason: `uses the private scheme ${url.protocol}, which any app could claim` };
}

function judgeWebAddress(uri: string, url: URL): RedirectVerdict {
  // "https:host" and "https:/host" parse, but not everywhere alike.
  if (!/^https?:\/\/[^/?]/i.test(uri)) return unsafe('must start with "https://" and a host');
  return url.protocol === "https:" || isLoopbackHost(url.hostname) ? { verdict: "usable" } : unsafe("must use https, or http on this machine");
}

function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether an issuer can be reached from this machine only: one address of it that others reach makes it a public one. */
export function isLocalIssuer(origins: readonly string[]): boolean {
  return origins.length > 0 && origins.every((origin) => URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname));
}

/**
 * The same address under the other loopback names, itself first. Clients register one and use another; all of them are
 * this machine (RFC 8252 §7.3 frees the port, which the provider does).
 */
export function loopbackSpellings(uri: string): readonly string[] {
  if (!URL.canParse(uri)) return [uri];
  const { protocol, hostname } = new URL(uri);
  if (protocol !== "http:" || !isLoopbackHost(hostname)) return [uri];
  return [uri, ...LOOPBACK_HOSTS.filter((host) => host !== hostname).map((host) => withHostname(uri, host))];
}

/** Whether the provider takes one for the other once our spellings are respected: to the letter, but on loopback whatever port and name. */
export function isSameRedirect(one: string, other: string): boolean {
  return withoutPort(one) === withoutPort(other);
}

function withoutPort(uri: string): string {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url?.protocol !== "http:" || !isLoopbackHost(url.hostname)) return uri;
  return withHostname(uri, LOOPBACK_HOSTS[0]).replace(/^(http:\/\/[^/:?]+):\d*/i, "$1");
}

/** `uri` with the host name of `like` when both are loopback addresses that differ in nothing else; else as it is. */
export function respell(uri: string, like: string): string {
  return loopbackSpellings(uri).includes(like) ? like : uri;
}

/** `uri` with another host name, byte for byte the same otherwise. */
export function withHostname(uri: string, hostname: string): string {
  return uri.replace(/^(https?:\/\/)(\[[^\]]*\]|[^/:?#]*)/i, (_match, scheme: string) => scheme + hostname);
}

/** What a person reads as "where the key goes": the host, or a whole private-use address. */
export function redirectHostOf(uri: string): string {
  const url = new URL(uri);
  return url.protocol === "https:" || url.protocol === "http:" ? url.host : `${url.protocol}//${url.host}`;
}

function unsafe(reason: string): RedirectVerdict {
  return { verdict: "unsafe", reason };
}
