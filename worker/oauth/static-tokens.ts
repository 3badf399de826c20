/** Tokens made on the workstation. The relay knows only their SHA-256. */
import type { Principal } from "../../shared/principal.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { sameSecret } from "./digest.ts";

/** All are compared, each in constant time, so that the time taken says nothing about which or how nearly. */
export function matchStaticToken(sha256: string, tokens: Deposits["staticTokens"]): Principal | undefined {
  let match: Principal | undefined;
  for (const token of tokens) {
    if (sameSecret(sha256, token.sha256)) match = { id: `token:${token.id}`, kind: "token", name: token.name, scope: [...token.scope] };
  }
  return match;
}
