import type { Revocation } from "../../shared/authorization.ts";

/** Whether a principal is one of those whose access is taken back. A token is no grant. */
export function isRevoked({ ids }: Revocation): (principalId: string) => boolean {
  return (principalId) => (ids === "all" ? principalId.startsWith("grant:") : ids.some((id) => principalId === `grant:${id}`));
}
