/**
 * Authorizations as the workstation's page sees them (DESIGN D6). The match code is deliberately absent: the person
 * must read it off the waiting page, so a stranger's request can never be granted by comparing what a card prints.
 */
import * as v from "valibot";

export const PendingAuthorization = v.object({
  id: v.string(),
  /** Host of the redirect address: the card's title, because that is where access goes. */
  redirectHost: v.string(),
  redirectUri: v.string(),
  clientId: v.string(),
  /** "calls itself …": chosen by the client, shown as text. */
  clientName: v.string(),
  scopeAsked: v.array(v.string()),
  scopeGranted: v.array(v.string()),
  /**
   * Only for the client that was configured by hand: how its address is known. `named` by `--oauth-redirect`, `approved` by an earlier
   * click, or `new`: it was not set up in advance, and allowing is what allows it.
   */
  configured: v.optional(v.picklist(["named", "approved", "new"])),
  /** Whether this client and redirect host were ever allowed before. */
  allowedBefore: v.boolean(),
  opened: v.object({
    address: v.string(),
    country: v.string(),
    browser: v.string(),
    at: v.number(),
    /** Same public address as this workstation; `null` when the relay cannot tell. */
    sameAddress: v.nullable(v.boolean()),
  }),
  /** False only for a loopback issuer: then there is no code to type. */
  codeRequired: v.boolean(),
  expiresAt: v.number(),
});
export type PendingAuthorization = v.InferOutput<typeof PendingAuthorization>;

export const AuthorizationDecision = v.object({
  id: v.string(),
  allow: v.boolean(),
  /** What the person typed; one try. Ignored for a denial and when no code is required. */
  code: v.optional(v.pipe(v.string(), v.maxLength(32))),
});
export type AuthorizationDecision = v.InferOutput<typeof AuthorizationDecision>;

/** `wrong_code` ends the request: the one try is spent. `gone` covers expired, displaced and already decided. */
export const DecisionOutcome = v.object({ outcome: v.picklist(["allowed", "denied", "wrong_code", "gone"]) });
export type DecisionOutcome = v.InferOutput<typeof DecisionOutcome>;

/** What a person allowed and can take back. Times in milliseconds since the epoch. */
export const Grant = v.object({
  id: v.string(),
  clientId: v.string(),
  /** The client's own words: text for people. */
  clientName: v.string(),
  redirectHost: v.string(),
  scope: v.array(v.string()),
  createdAt: v.number(),
  /** To the hour; null: never. */
  lastUsedAt: v.nullable(v.number()),
  /** Without another refresh. */
  expiresAt: v.number(),
});
export type Grant = v.InferOutput<typeof Grant>;

export const GrantList = v.object({ grants: v.array(Grant) });

export const Revocation = v.object({
  ids: v.union([v.literal("all"), v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.minLength(1), v.maxLength(500))]),
});
export type Revocation = v.InferOutput<typeof Revocation>;

/** How many lived until now. */
export const RevocationOutcome = v.object({ revoked: v.number() });
export type RevocationOutcome = v.InferOutput<typeof RevocationOutcome>;
