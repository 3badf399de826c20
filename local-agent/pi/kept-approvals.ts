/** What the person allowed for this Pi session, kept with its branch so that it holds after a restart and ends with the branch. */
import * as v from "valibot";
import type { UpstreamApprovalRequest } from "../adapter/ports.ts";
import type { PiHost } from "./pi-host.ts";

/** Name of the session entries; other packages read them. */
const ENTRY = "mcp-approval-v1";

/** An entry with any other key is of somebody else, or of another version: it allows nothing. */
const KeptApproval = v.strictObject({
  version: v.literal(1),
  kind: v.literal("tool"),
  decision: v.literal("allow_for_session"),
  serverName: v.string(),
  originalToolName: v.string(),
  definitionHash: v.string(),
  argsHash: v.string(),
});
type KeptApproval = v.InferOutput<typeof KeptApproval>;

export interface KeptApprovals {
  /** Whether exactly this call was allowed on the branch the session is on. */
  has(request: UpstreamApprovalRequest): boolean;
  keep(request: UpstreamApprovalRequest): void;
  /** The session is on another branch now. */
  forgetBranch(): void;
}

export function createKeptApprovals(host: PiHost): KeptApprovals {
  let keys: Set<string> | undefined;
  const ofBranch = (): Set<string> => (keys ??= readBranch(host));
  return {
    has: (request) => ofBranch().has(keyOf(keptFrom(request))),
    keep(request) {
      const kept = keptFrom(request);
      ofBranch().add(keyOf(kept));
      host.pi.appendEntry(ENTRY, kept);
    },
    forgetBranch: () => void (keys = undefined),
  };
}

function readBranch(host: PiHost): Set<string> {
  const found = new Set<string>();
  for (const entry of host.session()?.sessionManager.getBranch() ?? []) {
    if (entry.type !== "custom" || entry.customType !== ENTRY) continue;
    const kept = v.safeParse(KeptApproval, entry.data);
    if (kept.success) found.add(keyOf(kept.output));
  }
  return found;
}

function keptFrom({ server, original, definitionHash, argsHash }: UpstreamApprovalRequest): KeptApproval {
  return { version: 1, kind: "tool", decision: "allow_for_session", serverName: server, originalToolName: original, definitionHash, argsHash };
}

function keyOf({ serverName, originalToolName, definitionHash, argsHash }: KeptApproval): string {
  return JSON.stringify([serverName, originalToolName, definitionHash, argsHash]);
}
