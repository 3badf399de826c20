/** Hashes and random names of the issuer. */

/** SHA-256 as lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares in constant time what has a fixed, public length: hashes and match codes. */
export function sameSecret(given: string, expected: string): boolean {
  const encoder = new TextEncoder();
  const [a, b] = [encoder.encode(given), encoder.encode(expected)];
  return a.byteLength === b.byteLength && crypto.subtle.timingSafeEqual(a, b);
}

/** Unguessable and fit for URLs, cookies and attributes: 8 bits of randomness a byte, as base64url. */
export function randomName(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return btoa(String.fromCharCode(...random))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Six digits, uniformly: values above the last whole multiple of a million are drawn again. */
export function randomMatchCode(): string {
  const limit = Math.floor(0x1_0000_0000 / 1_000_000) * 1_000_000;
  for (;;) {
    const value = crypto.getRandomValues(new Uint32Array(1))[0] ?? limit;
    if (value < limit) return String(value % 1_000_000).padStart(6, "0");
  }
}
