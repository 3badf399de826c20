/**
 * Client credentials by HTTP Basic (RFC 6749 §2.3.1). Id and secret are form-encoded there, which many products do not do; then a "+" or
 * "%" in a secret that a person chose would read as something else.
 */
import type { ConfiguredClient } from "./configured-client.ts";
import { sha256Hex } from "./digest.ts";

/** The client id, or "" if there are none or they are malformed, which the provider refuses. */
export function basicClient(authorization: string | null): string {
  return decoded(split(authorization)?.id);
}

/** The secret of a header that `encodedBasic` has seen, or "". */
export function basicSecret(authorization: string | null): string {
  return decoded(split(authorization)?.secret);
}

function decoded(text = ""): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return "";
  }
}

/** The header as the provider reads it: if what stands there unencoded is the pair that was configured by hand, then encoded. */
export async function encodedBasic(authorization: string | null, configured: ConfiguredClient): Promise<string | null> {
  const plain = split(authorization);
  // What is not read here is not read there either: no credentials may pass that were not counted.
  if (plain === undefined) return /^\W*basic\b/i.test(authorization ?? "") ? "Basic" : authorization;
  if (!configured.isPair(plain.id, await sha256Hex(plain.secret))) return authorization;
  return `Basic ${btoa(`${encodeURIComponent(plain.id)}:${encodeURIComponent(plain.secret)}`)}`;
}

function split(authorization: string | null): { readonly id: string; readonly secret: string } | undefined {
  const credentials = /^basic[ \t]+(\S+)$/i.exec((authorization ?? "").trim())?.[1];
  if (credentials === undefined) return undefined;
  try {
    const [id = "", ...secret] = atob(credentials).split(":");
    return { id, secret: secret.join(":") };
  } catch {
    return undefined;
  }
}
