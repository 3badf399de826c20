/** The desk of an agent behind a relay, and the surface whose calls it shows and guards. */
import { randomUUID } from "node:crypto";
import type { AuditTrail } from "../../shared/audit.ts";
import type { CallObserver } from "../../shared/call-events.ts";
import type { DeskInfo } from "../../shared/desk.ts";
import { createDesk, type Desk } from "../desk/desk.ts";
import type { McpSurface } from "../mcp/server.ts";
import type { ToolHost } from "../tools/tool-host.ts";
import { createSurface, type AgentContext } from "./agent-parts.ts";
import { auditAccess } from "./audit-access.ts";
import type { RelayLink } from "./relay-link.ts";

export interface DeskParts {
  readonly desk: Desk;
  readonly surface: McpSurface;
  /** The desk decides through the link, which needs the surface, which reports to the desk: the link comes last. */
  attach(link: RelayLink): void;
  readonly setStaticTokens: RelayLink["setStaticTokens"];
}

export function connectDesk(context: AgentContext, tools: ToolHost, info: DeskInfo, audit: AuditTrail): DeskParts {
  const { clock, timers, settings, log } = context;
  let link: RelayLink | undefined;
  const audited = auditAccess(audit, log);
  const desk = createDesk({
    info,
    clock,
    timers,
    decide: async (decision) => {
      const asked = desk.snapshot().authorizations.find(({ id }) => id === decision.id);
      const decided = await requireLink(link).decide(decision);
      log.event("info", "authorization.decided", { id: decision.id, outcome: decided.outcome });
      audited.authorization(asked, decided.outcome);
      return decided;
    },
    approvals: { guarded: settings.approve, auditFull: settings.auditFull, audit, newId: randomUUID, log },
    grants: {
      list: async () => requireLink(link).grants(),
      async revoke(which) {
        const outcome = await requireLink(link).revoke(which);
        log.event("info", "grants.revoked", { all: which.ids === "all", revoked: outcome.revoked });
        audited.revocation(which, outcome.revoked);
        return outcome;
      },
    },
  });
  context.lifetime.signal.addEventListener("abort", () => desk.approvals.suspend("the agent on the workstation was ended"), { once: true });
  const calls: CallObserver = {
    started: (call) => desk.callStarted(call),
    progressed: (progress) => desk.callProgressed(progress),
    finished: (call) => desk.callFinished(call),
  };
  const surface = createSurface(context, tools, { calls, gate: desk.approvals });
  const setStaticTokens: RelayLink["setStaticTokens"] = async (tokens) => requireLink(link).setStaticTokens(tokens);
  return { desk, surface, attach: (opened) => (link = opened), setStaticTokens };
}

function requireLink(link: RelayLink | undefined): RelayLink {
  if (link === undefined) throw new Error("the relay is not connected yet");
  return link;
}
