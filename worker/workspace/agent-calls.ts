/** What the agent may ask of its workspace, call by call. */
import * as v from "valibot";
import { answerHumanCall, isHumanMethod } from "../../shared/human/answer-call.ts";
import type { HumanQueue } from "../../shared/human/queue.ts";
import { AGENT_CALLS, type CallFrame } from "../../shared/wire/frames.ts";
import type { Issuer } from "../oauth/issuer.ts";
import type { WorkspaceFacts } from "./workspace-facts.ts";

export interface CalledParts {
  readonly issuer: () => Issuer;
  readonly queue: () => HumanQueue;
  readonly facts: WorkspaceFacts;
  /** Whether this exchange can still carry words. */
  readonly isOpen: (x: number) => boolean;
  /** Something was stored that is swept later. */
  readonly stored: () => void;
}

/** Answers a call. A `RangeError` carries a sentence for the agent; anything else is our fault. */
export async function answerAgentCall({ method, params }: CallFrame, parts: CalledParts): Promise<unknown> {
  if (isHumanMethod(method)) {
    const answer = await answerHumanCall(method, params, { queue: parts.queue(), isOpen: parts.isOpen, delay: (ms) => scheduler.wait(ms) });
    if (method === "human.image.put") parts.stored();
    return answer;
  }
  switch (method) {
    case "authorization.list":
      return { pending: parts.issuer().pending() };
    case "authorization.decide": {
      const decision = v.safeParse(AGENT_CALLS["authorization.decide"].params, params);
      if (!decision.success) throw new RangeError("authorization.decide expects { id, allow, code? }");
      return parts.issuer().decide(decision.output);
    }
    case "grants.list":
      return { grants: parts.issuer().grants() };
    case "grants.revoke": {
      const which = v.safeParse(AGENT_CALLS["grants.revoke"].params, params);
      if (!which.success) throw new RangeError('grants.revoke expects { ids: [id, …] or "all" }');
      const outcome = await parts.issuer().revoke(which.output.ids);
      parts.queue().revokeGone();
      return outcome;
    }
    case "tokens.set": {
      const set = v.safeParse(AGENT_CALLS["tokens.set"].params, params);
      if (!set.success) throw new RangeError("tokens.set expects { staticTokens: [{ id, name, sha256, scope, expiresAt? }, …] }");
      parts.facts.setStaticTokens(set.output.staticTokens);
      parts.queue().revokeGone();
      return {};
    }
    default:
      throw new RangeError(`this relay knows no call "${method.slice(0, 50)}": update it with "npm run deploy"`);
  }
}
