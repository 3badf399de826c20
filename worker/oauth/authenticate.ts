/** Who sends a request to `/mcp`: a static token, an access token, or nobody (RFC 6750, MCP basic/authorization). */
import type { Principal } from "../../shared/principal.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { sha256Hex } from "./digest.ts";
import type { Grants } from "./grants.ts";
import { oauthError, resourceMetadataUrl } from "./metadata.ts";
import { grantIdIn, SCOPE } from "./provider.ts";
import type { SeenTokens } from "./seen-tokens.ts";
import { matchStaticToken } from "./static-tokens.ts";

/** Longer ones are not ours, and not worth a hash. */
const MAX_TOKEN_LENGTH = 1024;

/** The principal, or the 401 or 403 to answer with. Only the `Authorization` header counts, never the query. */
export async function authenticate(request: Request, issuer: string, deposits: Deposits, doors: Doors): Promise<Result<Principal, Response>> {
  const authorization = request.headers.get("authorization");
  if (authorization === null || !/^bearer(\s|$)/i.test(authorization)) return err(challenge(issuer, deposits, "no_token"));
  // Two headers arrive joined by a comma: which one counts would be a matter of taste, so neither does.
  const token = /^bearer +([^\s,]+)$/i.exec(authorization)?.[1];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH) return err(challenge(issuer, deposits, "invalid_token"));
  const hash = await sha256Hex(token);
  const principal =
    matchStaticToken(hash, deposits.staticTokens, doors.now()) ?? (deposits.oauth ? await grantOf(token, hash, issuer, doors) : undefined);
  if (principal === undefined) return err(challenge(issuer, deposits, "invalid_token"));
  return principal.scope.includes(SCOPE) ? ok(principal) : err(challenge(issuer, deposits, "insufficient_scope"));
}

interface Doors {
  readonly now: () => number;
  readonly seenTokens: SeenTokens;
  readonly grants: Pick<Grants, "used">;
}

async function grantOf(token: string, hash: string, issuer: string, { seenTokens, grants }: Doors): Promise<Principal | undefined> {
  const grantId = grantIdIn(token);
  if (grantId === undefined) return undefined;
  const valid = await seenTokens.check(token, hash, issuer); // The grant id is part of what was hashed, so now it is proven.
  if (valid === null) return undefined;
  grants.used(grantId);
  return { id: `grant:${grantId}`, kind: "grant", name: valid.props.clientName, scope: [...valid.scope] };
}

type Why = "no_token" | "invalid_token" | "insufficient_scope";

const SENTENCES: Record<Why, string> = {
  no_token: "This endpoint needs a bearer token.",
  invalid_token: "The bearer token is not valid here: it expired, was revoked, or is for another address.",
  insufficient_scope: `The bearer token does not carry the scope "${SCOPE}".`,
};

function challenge(issuer: string, deposits: Deposits, why: Why): Response {
  const parameters = [
    'realm="pi-relay"',
    ...(deposits.oauth ? [`resource_metadata="${resourceMetadataUrl(issuer)}"`] : []),
    `scope="${SCOPE}"`,
    ...(why === "no_token" ? [] : [`error="${why}"`]), // RFC 6750 §3.1: none when no token was sent.
  ];
  return oauthError(why === "insufficient_scope" ? 403 : 401, why === "no_token" ? "unauthorized" : why, SENTENCES[why], {
    "www-authenticate": `Bearer ${parameters.join(", ")}`,
  });
}
