/**
 * Who may talk to the page's server: pure decisions on headers. A web page elsewhere can reach a loopback port, by DNS
 * rebinding (a foreign Host) or across origins (a foreign Origin), and another local account can connect; so address,
 * origin and secret are each required. One generic answer goes out, the reason stays inside.
 */
import { createHash, timingSafeEqual } from "node:crypto";

export type Refusal = "host" | "origin" | "fetch_site";

export interface RequestOrigin {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: sent by browsers, not forgeable by a page. */
  readonly fetchSite: string | undefined;
}

export interface ServedAt {
  readonly port: number;
  /** IP addresses besides 127.0.0.1. Never names: whoever owns a name can make it lead here (DNS rebinding). */
  readonly addresses: readonly string[];
}

/** The addresses under which the page is served, and no others. */
function hostsOf({ port, addresses }: ServedAt): readonly string[] {
  const names = [
    "127.0.0.1",
    "localhost",
    ...addresses.map((address) => new URL(`http://${address.includes(":") ? `[${address}]` : address}/`).hostname),
  ];
  // Browsers leave the scheme's own port out of Host.
  return port === 80 ? [...names, ...names.map((name) => `${name}:80`)] : names.map((name) => `${name}:${port}`);
}

/** `undefined` admits. A request without Origin passes: browsers omit it on same-origin GETs, and other programs still need the secret. */
export function refusalOf(request: RequestOrigin, at: ServedAt): Refusal | undefined {
  const host = request.host?.toLowerCase();
  if (host === undefined || !hostsOf(at).includes(host)) return "host";
  // `null` (sandboxed frame, file) is as foreign as any other; `localhost` is not the origin of `127.0.0.1`.
  if (request.origin !== undefined && request.origin.toLowerCase() !== `http://${host}`) return "origin";
  return undefined;
}

/** What a listener of `host` is reached under; `own`: every address of this machine. */
export function addressesServed(host: string, own: () => readonly string[]): readonly string[] {
  return host === "0.0.0.0" || host === "::" ? own() : [host];
}

/** For the API only: following a link from elsewhere to the page itself is allowed. */
export function apiRefusalOf(request: RequestOrigin): Refusal | undefined {
  const site = request.fetchSite;
  return site === undefined || site === "same-origin" || site === "none" ? undefined : "fetch_site";
}

/** Constant-time in the secret: both sides are hashed to one length first. */
export function holdsSecret(authorization: string | undefined, secret: string): boolean {
  const presented = /^bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? "")?.[1];
  return timingSafeEqual(digest(presented ?? ""), digest(secret)) && presented !== undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
