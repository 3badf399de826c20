/** Whoever a test says answers calls that need leave; holds what every approver holds, whatever the test's answer does. */
import type { Approver, UpstreamApproval, UpstreamApprovalRequest } from "../../local-agent/adapter/ports.ts";
import { abortOf } from "./abort-of.ts";

export interface ScriptedApprover extends Approver {
  readonly asked: UpstreamApprovalRequest[];
}

/** @param answer null: there is nobody */
export function scriptedApprover(
  answer: ((request: UpstreamApprovalRequest) => UpstreamApproval | Promise<UpstreamApproval>) | null,
  wantsEveryCall = false,
): ScriptedApprover {
  const asked: UpstreamApprovalRequest[] = [];
  return {
    wantsEveryCall,
    asked,
    async ask(request) {
      asked.push(request);
      if (answer === null) return { decision: "deny", because: "nobody", text: "Nobody is there." };
      try {
        const given = await Promise.race([(async () => answer(request))(), abortOf(request.signal)]);
        return given === "aborted" || request.signal.aborted ? { decision: "deny", because: "person", text: "The call ended." } : given;
      } catch {
        return { decision: "deny", because: "nobody", text: "The question failed." };
      }
    },
  };
}
