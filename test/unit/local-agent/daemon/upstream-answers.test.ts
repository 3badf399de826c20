import { expect, test } from "vitest";
import type { UpstreamApprovalRequest } from "../../../../local-agent/adapter/ports.ts";
import { deskApprover } from "../../../../local-agent/daemon/upstream-answers.ts";
import type { ApprovalRequest } from "../../../../shared/approval.ts";

test("[CL34] what was allowed for one server's tool is not allowed for another's that is shown by the same name", async () => {
  const asked: ApprovalRequest[] = [];
  const gate = {
    ask: (request: ApprovalRequest) => {
      asked.push(request);
      return Promise.resolve({ allowed: true } as const);
    },
  };
  const { signal } = new AbortController();
  const request: UpstreamApprovalRequest = {
    requestId: "1",
    callId: "1",
    server: "a",
    original: "remove",
    displayed: "remove",
    args: {},
    origin: "direct",
    caller: { kind: "remote", principalId: "p", client: "c", probe: () => {} },
    definitionHash: "h",
    argsHash: "h",
    required: true,
    remembered: false,
    signal,
  };
  const approver = deskApprover(() => gate);
  await approver.ask(request);
  await approver.ask({ ...request, server: "b" });
  await approver.ask(request);
  const [first, second, third] = asked.map(({ version }) => version);
  expect(first).not.toBe(second);
  expect(third).toBe(first);
});
