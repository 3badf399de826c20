/** A desk, and the surface whose calls it shows and guards. */
import { randomUUID } from "node:crypto";
import type { AuditTrail } from "../../shared/audit.ts";
import type { DeskInfo } from "../../shared/desk.ts";
import type { Conversation } from "../desk/conversation.ts";
import { createDesk, type Desk, type DeskOptions } from "../desk/desk.ts";
import type { McpSurface } from "../mcp/server.ts";
import type { ToolHost } from "../tools/tool-host.ts";
import { createSurface, type AgentContext } from "./agent-parts.ts";
import { preparePrivateDirectory } from "./config-dir.ts";
import { hasPage } from "./settings.ts";
import { openTrustedServers } from "./trusted-servers.ts";
import type { Upstreams } from "./upstreams.ts";

export interface DeskFacts {
  readonly tools: ToolHost;
  readonly info: DeskInfo;
  readonly audit: AuditTrail;
  /** Undefined without `--human`. */
  readonly conversation: Conversation | undefined;
  readonly upstreams: Upstreams;
}

export function createAgentDesk(
  context: AgentContext,
  { tools, info, audit, conversation, upstreams }: DeskFacts,
  access: Pick<DeskOptions, "decide" | "grants">,
): { readonly desk: Desk; readonly surface: McpSurface } {
  const { clock, timers, settings, log } = context;
  const approvals = { guarded: settings.approve, auditFull: settings.auditFull, audit, newId: randomUUID, log };
  const trust = { root: settings.root, memory: openTrustedServers(preparePrivateDirectory(context.directories.state)) };
  const desk = createDesk({ ...access, info, clock, timers, approvals, trust, conversation });
  context.lifetime.signal.addEventListener("abort", () => desk.cards.approvals.suspend("the agent on the workstation was ended"), { once: true });
  const surface = createSurface(context, tools, {
    calls: {
      started: (call) => desk.callStarted(call),
      progressed: (progress) => desk.callProgressed(progress),
      finished: (call) => desk.callFinished(call),
    },
    gate: desk.cards.approvals,
    human: conversation?.channel ?? null,
    upstreams: upstreams.adapter,
    forms: hasPage(settings) ? desk.cards.forms : null,
  });
  if (hasPage(settings)) upstreams.attach({ gate: desk.cards.approvals, ...desk.cards });
  return { desk, surface };
}
