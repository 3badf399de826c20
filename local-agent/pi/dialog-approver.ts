/** Asks the person in Pi before a tool of an MCP server runs, after any extension that brokers such decisions. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { Approver, UpstreamApproval, UpstreamApprovalRequest } from "../adapter/ports.ts";
import { askBroker } from "./approval-broker.ts";
import type { KeptApprovals } from "./kept-approvals.ts";
import { hasPerson, type PiHost } from "./pi-host.ts";
import { shownPart } from "./shown-part.ts";

const PREVIEW_CHARS = 500;
const DENY = "Deny";
const ONCE = "Allow once";
const SESSION = "Allow this exact call for the session";

export function createDialogApprover(host: PiHost, kept: KeptApprovals): Approver {
  return {
    wantsEveryCall: true,
    async ask(request) {
      try {
        return await decide(request);
      } catch {
        // Pi replaced the session meanwhile: whatever it gave throws from then on.
        return denied("nobody", `The question about ${request.displayed} could not be asked, because its Pi session is over. Nothing was run.`);
      }
    },
  };

  async function decide(request: UpstreamApprovalRequest): Promise<UpstreamApproval> {
    const brokered = await askBroker(host.pi.events, request);
    if (request.signal.aborted) return denied("person", "The call ended before it was allowed. Nothing was run.");
    if (brokered === "deny") return denied("broker", `A permission extension denied ${request.displayed}. Nothing was run.`);
    if (brokered === "allow_once") return ALLOWED;
    if (brokered === "allow_for_session") return forSession(request);
    if (!request.required || request.remembered || kept.has(request)) return ALLOWED;
    return hasPerson(host) ? askPerson(request) : denied("nobody", nobodyText(request));
  }

  function forSession(request: UpstreamApprovalRequest): UpstreamApproval {
    kept.keep(request);
    // The session's branch remembers it; the adapter would hold it on every branch.
    return ALLOWED;
  }

  async function askPerson(request: UpstreamApprovalRequest): Promise<UpstreamApproval> {
    const server = `Allow every tool of ${visibleLine(request.server, 60)} for the session`;
    // Dismissing the dialog is no answer, so it is a denial; nothing is preselected that allows.
    const picked = await host.session()?.ui.select(question(request), [DENY, ONCE, SESSION, server], { signal: request.signal });
    if (request.signal.aborted) return denied("person", "The call ended before it was allowed. Nothing was run.");
    if (picked === ONCE) return ALLOWED;
    if (picked === SESSION) return forSession(request);
    if (picked === server) return { decision: "allow", remember: "server" };
    return denied("person", `The person denied ${request.displayed}. Nothing was run. Do not try to reach the same effect in another way.`);
  }
}

const ALLOWED: UpstreamApproval = { decision: "allow", remember: "no" };

function denied(because: "person" | "nobody" | "broker", text: string): UpstreamApproval {
  return { decision: "deny", because, text };
}

function question({ server, original, args }: UpstreamApprovalRequest): string {
  return `Allow ${visibleLine(original, 100)} of the MCP server ${visibleLine(server, 100)}?\n${shownPart(JSON.stringify(args), PREVIEW_CHARS, shownArgs)}`;
}

function shownArgs(json: string): string {
  return visibleLine(json, json.length);
}

function nobodyText({ displayed }: UpstreamApprovalRequest): string {
  return `${displayed} needs the person's approval, and nobody can be asked in this run of Pi. Nothing was run. Run Pi with its interface, or change approveTools.`;
}
