/** The gate as the agent has it, with a trail that a test reads, and calls that ask at it. */
import { randomUUID } from "node:crypto";
import { createApprovals, type Approvals, type ApprovalsOptions } from "../../local-agent/desk/approvals.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../shared/approval.ts";
import type { AuditEvent } from "../../shared/audit.ts";
import type { DeskEvent } from "../../shared/desk.ts";

export interface ApprovalsUnderTest {
  readonly approvals: Approvals;
  readonly trail: AuditEvent[];
  readonly events: DeskEvent[];
}

export function approvalsUnderTest(options: Partial<ApprovalsOptions> = {}): ApprovalsUnderTest {
  const trail: AuditEvent[] = [];
  const events: DeskEvent[] = [];
  const approvals = createApprovals({
    guarded: ["bash"],
    auditFull: false,
    audit: {
      record(event) {
        trail.push(event);
        return Promise.resolve();
      },
    },
    newId: randomUUID,
    clock: systemClock,
    timers: systemTimers,
    log: silentLog,
    publish: (event) => void events.push(event),
    ...options,
  });
  return { approvals, trail, events };
}

export interface AskedCall {
  readonly answer: Promise<ApprovalAnswer>;
  readonly end: AbortController;
}

/** Asks for `command` of bash, as the client `grant:1`. */
export function askFor(approvals: Approvals, command: string, more: Partial<ApprovalRequest> = {}): AskedCall {
  const end = new AbortController();
  const request = { callId: randomUUID(), tool: "bash", args: { command }, principalId: "grant:1", client: "Ada's app", signal: end.signal };
  return { answer: approvals.ask({ ...request, probe: () => {}, ...more }), end };
}
