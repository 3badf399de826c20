/**
 * Authorizations as the workstation's page sees them (DESIGN D6). The match code is deliberately absent: the person
 * must read it off the waiting page, so a stranger's request can never be granted by comparing what a card prints.
 */
import * as z from "zod/mini";

export const PendingAuthorization = z.object({
  id: z.string(),
  /** Host of the redirect address: the card's title, because it is where the key goes. */
  redirectHost: z.string(),
  redirectUri: z.string(),
  clientId: z.string(),
  /** "calls itself …": chosen by the client, shown as text. */
  clientName: z.string(),
  scopeAsked: z.array(z.string()),
  scopeGranted: z.array(z.string()),
  /** Whether this client and redirect host were ever allowed before. */
  allowedBefore: z.boolean(),
  opened: z.object({
    address: z.string(),
    country: z.string(),
    browser: z.string(),
    at: z.number(),
    /** Same public address as this workstation; `null` when the relay cannot tell. */
    sameAddress: z.nullable(z.boolean()),
  }),
  /** False only for a loopback issuer: then there is no code to type. */
  codeRequired: z.boolean(),
  expiresAt: z.number(),
});
export type PendingAuthorization = z.infer<typeof PendingAuthorization>;

export const AuthorizationDecision = z.object({
  id: z.string(),
  allow: z.boolean(),
  /** What the person typed; one try. Ignored for a denial and when no code is required. */
  code: z.optional(z.string().check(z.maxLength(32))),
});
export type AuthorizationDecision = z.infer<typeof AuthorizationDecision>;

/** `wrong_code` ends the request: the one try is spent. `gone` covers expired, displaced and already decided. */
export const DecisionOutcome = z.object({ outcome: z.enum(["allowed", "denied", "wrong_code", "gone"]) });
export type DecisionOutcome = z.infer<typeof DecisionOutcome>;
