/** Everything on the page that waits for the person: calls and MCP servers of the project for a yes or no, in one list, and questions of MCP servers. */
import type { ApprovalCard, ApprovalDecision, ApprovalOutcome } from "../../shared/approval.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import type { ShownCall } from "./approval-card.ts";
import { createApprovals, type Approvals, type ApprovalsOptions } from "./approvals.ts";
import { createFormCards, type FormCards } from "./form-cards.ts";
import { createServerTrust, type ServerTrust, type ServerTrustOptions } from "./server-trust.ts";

export interface DeskCards {
  /** The gate that guarded calls pass. */
  readonly approvals: Approvals;
  /** Which MCP servers of the project's own files may run. */
  readonly trust: ServerTrust;
  /** Questions of MCP servers. */
  readonly forms: FormCards;
  list(): ApprovalCard[];
  /** As `Approvals.decide`. */
  decide(decision: ApprovalDecision): Promise<ApprovalOutcome>;
  /** As `Approvals.whole`. */
  whole(id: string): ShownCall | null;
}

export function createDeskCards(
  of: { readonly approvals: Omit<ApprovalsOptions, "publish">; readonly trust: Pick<ServerTrustOptions, "root" | "memory"> },
  publish: (event: DeskEvent) => void,
): DeskCards {
  const list = (): ApprovalCard[] => [...trust.list(), ...approvals.list()];
  // Either part tells of its own cards, and a page takes a list for all there are.
  const publishAll = (event: DeskEvent): void => publish(event.t === "approvals" ? { ...event, approvals: list() } : event);
  const approvals = createApprovals({ ...of.approvals, publish: publishAll });
  const trust = createServerTrust({ ...of.approvals, ...of.trust, publish: publishAll });
  const { newId, clock } = of.approvals;
  return {
    forms: createFormCards({ newId, clock, publish }),
    approvals,
    trust,
    list,
    decide: (decision) => trust.decide(decision) ?? approvals.decide(decision),
    whole: (id) => trust.whole(id) ?? approvals.whole(id),
  };
}
