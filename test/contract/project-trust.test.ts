import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ProjectTrust } from "../../local-agent/adapter/ports.ts";
import { createServerTrust } from "../../local-agent/desk/server-trust.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock } from "../../local-agent/node/system-time.ts";
import { piTrust } from "../../local-agent/pi/project-trust.ts";
import type { ApprovalDecision } from "../../shared/approval.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import { memoryOfTrust } from "../support/desk-under-test.ts";
import { scriptedPiHost } from "../support/scripted-pi-host.ts";
import { scriptedTrust, type TrustScript } from "../support/scripted-trust.ts";
import { describeProjectTrust, SUBJECT, type TrustingPerson } from "./project-trust.contract.ts";

describe("the desk's cards", () => {
  describeProjectTrust(askedOnThePage, "text");
});

describe("Pi's trust of the folder", () => {
  describeProjectTrust((person) => piTrust(scriptedPiHost(person === "absent" ? null : { isTrusted: () => person === "allows" })), "folder");

  test("[PI2] a session that Pi has replaced trusts nothing", async () => {
    const trust = piTrust(scriptedPiHost({ isTrusted: () => true, isReplaced: true }));
    expect(trust.known(SUBJECT)).toBe("unasked");
    expect(await trust.ask(SUBJECT, new AbortController().signal)).toBe(false);
  });
});

describe("a test's own", () => {
  const answers = { allows: true, denies: false, "never answers": "never", absent: "nobody" } satisfies Record<TrustingPerson, TrustScript["answer"]>;
  describeProjectTrust((person) => scriptedTrust({ known: "unasked", answer: answers[person] }).trust, "text");
});

function askedOnThePage(person: TrustingPerson): ProjectTrust {
  const clicks: Partial<Record<TrustingPerson, ApprovalDecision["decision"]>> = { allows: "once", denies: "deny" };
  const decision = clicks[person];
  const publish = (event: DeskEvent): void => {
    if (event.t !== "approvals" || decision === undefined) return;
    for (const { id } of event.approvals) setImmediate(() => void trust.decide({ id, decision }));
  };
  const options = { root: "/srv/project", memory: memoryOfTrust(), audit: { record: () => Promise.resolve() }, newId: randomUUID };
  const trust = createServerTrust({ ...options, clock: systemClock, log: silentLog, publish });
  // Nobody is asked while thirty others wait.
  const others = person === "absent" ? 30 : 0;
  for (let number = 0; number < others; number++) void trust.ask({ ...SUBJECT, server: `server ${number}` }, new AbortController().signal);
  return trust;
}
