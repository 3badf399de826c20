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

/** The addresses under which the page is served, and no others. */
function hostsOf(port: number): readonly string[] {
  const names = ["127.0.0.1", "localhost"];
  // Browsers leave the scheme's own port out of Host.
  return port === 80 ? [...names, ...names.map((name) => `${name}:80`)] : names.map((name) => `${name}:${port}`);
}

/** `undefined` admits. A request without Origin passes: browsers omit it on same-origin GETs, and other programs still need the secret. */
export function refusalOf(request: RequestOrigin, port: number): Refusal | undefined {
  const host = request.host?.toLowerCase();
  if (host === undefined || !hostsOf(port).includes(host)) return "host";
  // `null` (sandboxed frame, file) is as foreign as any other; `localhost` is not the origin of `127.0.0.1`.
  if (request.origin !== undefined && request.origin.toLowerCase() !== `http://${host}`) return "origin";
  return undefined;
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
