/**
 * The cookie that ties an authorization to the browser that opened it: whoever approves, only that browser collects the
 * code (attack: approve in one browser, finish in another).
 */
import { randomName, sameSecret, sha256Hex } from "./digest.ts";

/**
 * On https the `__Host-` prefix keeps other hosts of the domain from setting it. On loopback http browsers refuse that
 * prefix and some refuse `Secure`; there cookies are shared between ports, hence a random name and a narrow path.
 */
export function waitingCookieName(issuer: string): string {
  return `${issuer.startsWith("https:") ? "__Host-pi-wait-" : "pi-wait-"}${randomName(9)}`;
}

/** Whether the browser that asks is the one that the page was opened in. */
export async function isSameBrowser(request: Request, of: { readonly cookieName: string; readonly cookieHash: string }): Promise<boolean> {
  const cookie = readCookie(request, of.cookieName);
  return cookie !== undefined && sameSecret(await sha256Hex(cookie), of.cookieHash);
}

export function setWaitingCookie(issuer: string, name: string, value: string, maxAgeSeconds: number): string {
  const scope = name.startsWith("__Host-") ? "Path=/; Secure" : `Path=${new URL(`${issuer}/authorize`).pathname}`;
  return `${name}=${value}; ${scope}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`;
}

function readCookie(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}
