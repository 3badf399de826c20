/** Headers of every answer, refusals included. */

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // `blob:`: images of the conversation are fetched with the secret in a header, which an address in <img> cannot carry.
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Text becomes markup nowhere but in the sanitiser of what clients say.
  "require-trusted-types-for 'script'",
  "trusted-types dompurify",
].join("; ");

export const RESPONSE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  // The secret is in the address until the page has read it.
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // For browsers that do not know frame-ancestors.
  "x-frame-options": "DENY",
};
