/** The calls that were allowed for the sitting: same client, same tool, same arguments. Ends with the agent. */
import type { ApprovalRequest } from "../../shared/approval.ts";
import type { AuditTrail } from "../../shared/audit.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import { canonicalJson } from "../../shared/json.ts";
import type { Log } from "../../shared/ports.ts";
import { sha256 } from "./sha256.ts";

export interface SittingMemory {
  readonly has: (request: ApprovalRequest) => boolean;
  readonly add: (request: ApprovalRequest) => void;
  readonly count: () => number;
  /** [HU95] Each of them waits for a click again, from the next call on. */
  readonly forget: () => void;
}

export interface SittingMemoryPorts {
  readonly audit: AuditTrail;
  readonly log: Log;
  readonly publish: (event: DeskEvent) => void;
}

/** Calls that need no further click; the oldest is asked about again. */
const MAX_REMEMBERED = 1000;

export function createSittingMemory({ audit, log, publish }: SittingMemoryPorts): SittingMemory {
  // Hashed, because arguments may be megabytes.
  const keys = new Set<string>();
  const keyOf = ({ principalId, tool, args, version = "" }: ApprovalRequest): string => sha256(canonicalJson([principalId, tool, args, version]));
  const tell = (): void => publish({ t: "remembered", remembered: keys.size });
  return {
    has: (request) => keys.has(keyOf(request)),
    add(request) {
      keys.add(keyOf(request));
      for (const oldest of keys) {
        if (keys.size <= MAX_REMEMBERED) break;
        keys.delete(oldest);
      }
      tell();
    },
    count: () => keys.size,
    forget() {
      const calls = keys.size;
      if (calls === 0) return;
      keys.clear();
      tell();
      void audit.record({ event: "approvals.forgotten", calls }).catch(() => log.event("error", "audit.failed", { event: "approvals.forgotten" }));
    },
  };
}
