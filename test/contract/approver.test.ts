import { describe } from "vitest";
import type { Approver } from "../../local-agent/adapter/ports.ts";
import { deskApprover } from "../../local-agent/daemon/upstream-answers.ts";
import { createDialogApprover } from "../../local-agent/pi/dialog-approver.ts";
import { createKeptApprovals } from "../../local-agent/pi/kept-approvals.ts";
import type { ApprovalDecision } from "../../shared/approval.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import { abortOf } from "../support/abort-of.ts";
import { approvalsUnderTest } from "../support/approvals-under-test.ts";
import { scriptedApprover } from "../support/scripted-approver.ts";
import { scriptedPiHost } from "../support/scripted-pi-host.ts";
import { type AskedPerson, describeApprover } from "./approver.contract.ts";

describe("the desk's cards", () => {
  describeApprover(askedOnThePage);
});
describe("Pi's dialogs", () => {
  describeApprover(askedInPi);
});
describe("a test's own", () => {
  describeApprover(askedByScript);
});

/** What the page sends as soon as it shows a card. */
const CLICKS: Partial<Record<AskedPerson, ApprovalDecision["decision"]>> = { allows: "once", "cannot be asked": "once", denies: "deny" };

function askedOnThePage(person: AskedPerson): Approver {
  if (person === "absent") return deskApprover(() => undefined);
  // Calls have long left by the time it is noticed otherwise; here that takes no time.
  const timers = { after: (_ms: number, run: () => void) => (queueMicrotask(run), () => {}) };
  const audit = { record: () => (person === "cannot be asked" ? Promise.reject(new Error("the disk is full")) : Promise.resolve()) };
  const { approvals } = approvalsUnderTest({ timers, audit, publish });
  const clicked = new Set<string>();

  function publish(event: DeskEvent): void {
    if (event.t !== "approvals") return;
    for (const { id } of event.approvals.filter((card) => !clicked.has(card.id))) {
      clicked.add(id);
      const decision = CLICKS[person];
      // The page refuses nothing by being closed; the end of the agent does.
      if (person === "dismisses") setImmediate(() => approvals.withdrawAll("the agent ends"));
      if (decision !== undefined) setImmediate(() => void approvals.decide({ id, decision }).catch(() => {}));
    }
  }

  return deskApprover(() => ({
    ask(request) {
      const answer = approvals.ask(request);
      const late = (): void => approvals.list().forEach(({ id }) => void approvals.decide({ id, decision: "once" }));
      if (person === "allows too late") request.signal.addEventListener("abort", late, { once: true });
      return answer;
    },
  }));
}

function askedInPi(person: AskedPerson): Approver {
  const host = scriptedPiHost({
    isAlone: person === "absent",
    isReplaced: person === "cannot be asked",
    async picks(_title, lines, signal) {
      const [deny, once] = lines;
      if (person === "never answers") return new Promise(() => {});
      if (person === "allows too late") await abortOf(signal);
      if (person === "dismisses") return undefined;
      return person === "denies" ? deny : once;
    },
  });
  return createDialogApprover(host, createKeptApprovals(host));
}

function askedByScript(person: AskedPerson): Approver {
  if (person === "absent") return scriptedApprover(null);
  return scriptedApprover(async ({ signal }) => {
    if (person === "never answers") return new Promise(() => {});
    if (person === "allows too late") await abortOf(signal);
    if (person === "cannot be asked") throw new Error("no page");
    if (person === "denies" || person === "dismisses") return { decision: "deny", because: "person", text: "No." };
    return { decision: "allow", remember: "no" };
  });
}
