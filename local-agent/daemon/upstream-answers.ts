/** Who answers what a server asks during a call: whoever the call is for, if that can be asked; else the desk, for a form; else nobody. */
import type { ApprovalGate } from "../../shared/approval.ts";
import type { Approver, PersonForms, Sampler, UpstreamApproval } from "../adapter/ports.ts";
import type { AttachedAsks } from "./attached-asks.ts";

/** A remote client's model is not ours to ask; that of an attached session is, while its call runs. */
export function attachedSampler(asks: AttachedAsks): Sampler {
  return {
    get available() {
      return asks.any("sampling");
    },
    sample(request) {
      if (request.caller.kind === "attached") return request.caller.sampler.sample(request);
      return Promise.reject(new Error("This agent has no model to ask: sampling is declined."));
    },
  };
}

/**
 * @param hasDesk whether there is, or will be, a desk that answers
 * @param forms the desk's, once there is one
 */
export function deskForms(hasDesk: boolean, forms: () => PersonForms | undefined, asks: AttachedAsks): PersonForms {
  return {
    get modes() {
      return { form: hasDesk || asks.any("form"), url: hasDesk || asks.any("url") };
    },
    ask(question) {
      if (question.caller.kind === "attached") return question.caller.forms.ask(question);
      return forms()?.ask(question) ?? Promise.resolve({ action: "cancel" });
    },
  };
}

/** What is allowed for the sitting is remembered by the gate, where the person can take it back. */
export function deskApprover(gate: () => Pick<ApprovalGate, "ask"> | undefined): Approver {
  return {
    wantsEveryCall: false,
    async ask({ callId, server, displayed, args, caller, definitionHash, signal }): Promise<UpstreamApproval> {
      const found = gate();
      if (found === undefined || caller.kind !== "remote") return { decision: "deny", because: "nobody", text: NOBODY };
      const { principalId, client, probe } = caller;
      // An exposed server's tool may be shown by a name that another server's tool has elsewhere.
      const version = JSON.stringify([server, definitionHash]);
      const answer = await found.ask({ callId, tool: displayed, args, principalId, client, probe, signal, version });
      return answer.allowed ? { decision: "allow", remember: "no" } : { decision: "deny", because: "person", text: answer.text };
    },
  };
}

const NOBODY =
  "This call needs the approval of a person, and this agent has no page to ask on. Nothing was run. The person can start it with --human.";
