/** What the audit log has about who was let in. It is told after the relay has done it, so a log that cannot be written stops nothing here. */
import type { AuditEvent, AuditTrail } from "../../shared/audit.ts";
import type { DecisionOutcome, PendingAuthorization, Revocation } from "../../shared/authorization.ts";
import type { Log } from "../../shared/ports.ts";

export interface AuditedAccess {
  /** @param asked what waited, as it was shown; undefined: it had left the list already */
  authorization(asked: PendingAuthorization | undefined, outcome: DecisionOutcome["outcome"]): void;
  revocation(which: Revocation, revoked: number): void;
}

export function auditAccess(audit: AuditTrail, log: Log): AuditedAccess {
  const note = (event: AuditEvent): void => void audit.record(event).catch(() => log.event("error", "audit.failed", { event: event.event }));
  return {
    authorization(asked, outcome) {
      const { id = "", clientName: client = "", redirectHost = "" } = asked ?? {};
      note({ event: "authorization.decided", id, outcome, client, redirectHost });
    },
    revocation({ ids }, revoked) {
      note({ event: "grants.revoked", all: ids === "all", ids: ids === "all" ? [] : ids, revoked });
    },
  };
}
