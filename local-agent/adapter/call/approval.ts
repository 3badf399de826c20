/** Whether a call may reach its upstream: the configuration's word, what the person allowed before, and the person. */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { canonicalJson } from "../../../shared/json.ts";
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import type { AdapterPorts, Caller, CallOrigin, UpstreamApproval, UpstreamApprovalRequest } from "../ports.ts";
import type { CallFailure } from "./call-failure.ts";

interface ApprovalSubject {
  readonly entry: CatalogEntry;
  readonly args: JsonObject;
  readonly origin: CallOrigin;
  readonly caller: Caller;
  readonly callId: string;
  readonly signal: AbortSignal;
}

export interface Approvals {
  /** Never rejects. */
  ask(subject: ApprovalSubject): Promise<Result<void, CallFailure>>;
}

/** Allowances of one adapter; the oldest are forgotten first, and then the person is asked again. */
const MAX_REMEMBERED = 10_000;

/**
 * @param ports `isRequired`: whether the configuration (`approveTools`) asks for it
 */
export function createApprovals(
  ports: Pick<AdapterPorts, "approver" | "sha256" | "newId"> & { readonly isRequired: (entry: CatalogEntry) => boolean },
): Approvals {
  const { approver, sha256 } = ports;
  const remembered = new Set<string>();
  /** An entry never changes: another definition comes as another entry. */
  const definitionHashes = new WeakMap<CatalogEntry, string>();

  return {
    async ask(subject) {
      const required = ports.isRequired(subject.entry);
      if (!approver.wantsEveryCall && !required) return ok(undefined);
      const request = requestFor(subject, required);
      if (!approver.wantsEveryCall && request.remembered) return ok(undefined);
      const answer = await asked(request);
      if (answer.decision === "deny") return err(refusal(answer, subject.entry));
      if (subject.signal.aborted) return err({ code: "aborted", message: "The call was cancelled before it could run." });
      if (answer.remember !== "no") remember(grantKeys(subject, request)[answer.remember]);
      return ok(undefined);
    },
  };

  function definitionHash(entry: CatalogEntry): string {
    const hash = definitionHashes.get(entry) ?? sha256(definitionText(entry));
    definitionHashes.set(entry, hash);
    return hash;
  }

  /** Most calls need nobody's leave, and nobody looks at their hashes: those are made when somebody does. */
  function requestFor(subject: ApprovalSubject, required: boolean): UpstreamApprovalRequest {
    const { entry, args, origin, caller, callId, signal } = subject;
    const { server, original, displayed } = entry;
    let argsHash: string | undefined;
    const request = {
      requestId: ports.newId(),
      callId,
      server,
      original,
      displayed,
      args,
      origin: entry.kind === "resource" ? ("resource" as const) : origin,
      caller,
      required,
      remembered: false,
      get definitionHash() {
        return definitionHash(entry);
      },
      get argsHash() {
        return (argsHash ??= sha256(canonicalJson(args)));
      },
      signal,
    };
    if (remembered.size > 0) request.remembered = Object.values(grantKeys(subject, request)).some((key) => remembered.has(key));
    return request;
  }

  async function asked(request: UpstreamApprovalRequest): Promise<UpstreamApproval> {
    try {
      return await approver.ask(request);
    } catch {
      return { decision: "deny", because: "nobody", text: "The question could not be asked." };
    }
  }

  function remember(key: string): void {
    remembered.delete(key);
    remembered.add(key);
    const [oldest] = remembered;
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  }
}

function refusal(answer: Extract<UpstreamApproval, { decision: "deny" }>, { displayed }: CatalogEntry): CallFailure {
  const nobody = answer.because === "nobody";
  const why = nobody ? `"${displayed}" needs the person's approval, and nobody could be asked` : `"${displayed}" was not approved`;
  return { code: nobody ? "approval_required" : "approval_denied", message: `${why}. It did not run. ${answer.text}`.trimEnd() };
}

/** [CL34] What one client was allowed says nothing about another one. */
function grantKeys(
  { entry, caller }: ApprovalSubject,
  { definitionHash, argsHash }: Pick<UpstreamApprovalRequest, "definitionHash" | "argsHash">,
): { readonly call: string; readonly server: string } {
  const who = caller.kind === "remote" ? ["remote", caller.principalId] : ["pi"];
  return {
    call: JSON.stringify([who, entry.server, entry.original, definitionHash, argsHash]),
    server: JSON.stringify([who, entry.server]),
  };
}

/** What the person saw of the tool; another definition under the same name is another tool. */
function definitionText({ original, inputSchema, resourceUri }: CatalogEntry): string {
  return canonicalJson({ name: original, inputSchema: inputSchema as JsonValue, resourceUri });
}
