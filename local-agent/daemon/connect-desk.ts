/** The desk of an agent behind a relay, and the surface whose calls it shows and guards. */
import type { AuditTrail } from "../../shared/audit.ts";
import type { Desk } from "../desk/desk.ts";
import { isRevoked } from "../desk/revoked-clients.ts";
import type { McpSurface } from "../mcp/server.ts";
import { createAgentDesk, type DeskFacts } from "./agent-desk.ts";
import type { AgentContext } from "./agent-parts.ts";
import { auditAccess } from "./audit-access.ts";
import type { RelayLink } from "./relay-link.ts";

export interface DeskParts {
  readonly desk: Desk;
  readonly surface: McpSurface;
  /** The desk decides through the link, which needs the surface, which reports to the desk: the link comes last. */
  attach(link: RelayLink): void;
  readonly setStaticTokens: RelayLink["setStaticTokens"];
}

export function connectDesk(context: AgentContext, parts: DeskFacts & { readonly audit: AuditTrail }): DeskParts {
  const { log } = context;
  let link: RelayLink | undefined;
  const audited = auditAccess(parts.audit, log);
  const { desk, surface } = createAgentDesk(context, parts, {
    decide: async (decision) => {
      const asked = desk.snapshot().authorizations.find(({ id }) => id === decision.id);
      const decided = await requireLink(link).decide(decision);
      log.event("info", "authorization.decided", { id: decision.id, outcome: decided.outcome });
      audited.authorization(asked, decided.outcome);
      return decided;
    },
    grants: {
      list: async () => requireLink(link).grants(),
      async revoke(which) {
        const outcome = await requireLink(link).revoke(which);
        log.event("info", "grants.revoked", { all: which.ids === "all", revoked: outcome.revoked });
        audited.revocation(which, outcome.revoked);
        void surface.forget(isRevoked(which));
        return outcome;
      },
    },
  });
  const setStaticTokens: RelayLink["setStaticTokens"] = async (tokens) => requireLink(link).setStaticTokens(tokens);
  return { desk, surface, attach: (opened) => (link = opened), setStaticTokens };
}

function requireLink(link: RelayLink | undefined): RelayLink {
  if (link === undefined) throw new Error("the relay is not connected yet");
  return link;
}
