/** What every `Approver` holds, whoever it asks. */
import { expect, test } from "vitest";
import type { Approver, UpstreamApprovalRequest } from "../../local-agent/adapter/ports.ts";

/**
 * `allows too late`: the very moment the call has ended. `cannot be asked`: what leads to the person fails. `absent`: there is nobody.
 */
export type AskedPerson = "allows" | "denies" | "dismisses" | "never answers" | "allows too late" | "cannot be asked" | "absent";

export function describeApprover(create: (person: AskedPerson) => Approver): void {
  const ask = (person: AskedPerson, signal = new AbortController().signal) => create(person).ask(requestOf(signal));

  test("[CL33] allows what the person allows", async () => {
    expect(await ask("allows")).toEqual({ decision: "allow", remember: "no" });
  });

  test.each(["denies", "dismisses"] as const)("[CL33] is refused with a sentence by a person who %s", async (person) => {
    expect(await ask(person)).toEqual({ decision: "deny", because: "person", text: expect.stringMatching(/\w.*\.$/s) as unknown });
  });

  test("[CL33] says that nobody is there", async () => {
    expect(await ask("absent")).toEqual({ decision: "deny", because: "nobody", text: expect.stringMatching(/\w.*\.$/s) as unknown });
  });

  test("[CL33] is a refusal, and no error, when the question fails", async () => {
    expect(await ask("cannot be asked")).toMatchObject({ decision: "deny", text: expect.stringMatching(/\w.*\.$/s) as unknown });
  });

  test.each(["never answers", "allows too late"] as const)("[CL33] is refused once the call has ended, by a person who %s", async (person) => {
    const call = new AbortController();
    const answer = ask(person, call.signal);
    await new Promise(setImmediate);
    call.abort();
    expect(await answer).toMatchObject({ decision: "deny" });
  });

  test("[CL33] is refused for a call that has ended before", async () => {
    expect(await ask("allows", AbortSignal.abort())).toMatchObject({ decision: "deny" });
  });

  test("[CL33] answers each of many calls at once by its own answer", async () => {
    const approver = create("allows");
    const ended = AbortSignal.abort();
    const live = new AbortController().signal;
    const answers = await Promise.all([live, ended, live, ended].map((signal, n) => approver.ask({ ...requestOf(signal), callId: `call ${n}` })));
    expect(answers.map(({ decision }) => decision)).toEqual(["allow", "deny", "allow", "deny"]);
  });
}

function requestOf(signal: AbortSignal): UpstreamApprovalRequest {
  return {
    requestId: "request",
    callId: "call",
    server: "box",
    original: "remove",
    displayed: "box_remove",
    args: { path: "a" },
    origin: "proxy",
    caller: { kind: "remote", principalId: "grant:1", client: "A client", probe: () => {} },
    required: true,
    remembered: false,
    definitionHash: "definition",
    argsHash: "arguments",
    signal,
  };
}
