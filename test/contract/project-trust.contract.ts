/** What every `ProjectTrust` holds, whoever decides. */
import { expect, test } from "vitest";
import type { ProjectTrust, TrustSubject } from "../../local-agent/adapter/ports.ts";

/** `absent`: nobody can be asked. */
export type TrustingPerson = "allows" | "denies" | "never answers" | "absent";

export const SUBJECT: TrustSubject = {
  server: "notes",
  text: '{"entry":{"command":"./notes"},"project":"/srv/project"}',
  files: ["/srv/project/.mcp.json"],
};

/** @param covers what an allowance is about: exactly the text, or the folder with everything in it */
export function describeProjectTrust(create: (person: TrustingPerson) => ProjectTrust, covers: "text" | "folder"): void {
  const live = new AbortController().signal;

  test("[TR3] what was allowed is known as allowed, and allowed again", async () => {
    const trust = create("allows");
    expect(await trust.ask(SUBJECT, live)).toBe(true);
    expect(trust.known(SUBJECT)).toBe("allowed");
    expect(await trust.ask(SUBJECT, live)).toBe(true);
  });

  test.each(["denies", "absent"] as const)("[TR1] [TR4] nothing is allowed by a person who is asked and %s", async (person) => {
    const trust = create(person);
    expect(await trust.ask(SUBJECT, live)).toBe(false);
    expect(trust.known(SUBJECT)).not.toBe("allowed");
    expect(await trust.ask(SUBJECT, live)).toBe(false);
  });

  test("[TR1] a question is over with its signal, and nothing is decided by that", async () => {
    const trust = create("never answers");
    const leave = new AbortController();
    const asked = trust.ask(SUBJECT, leave.signal);
    await new Promise(setImmediate);
    leave.abort();
    expect(await asked).toBe(false);
    expect(trust.known(SUBJECT)).toBe("unasked");
  });

  test("[TR1] nobody who has left is told yes, whatever is allowed", async () => {
    const trust = create("allows");
    expect(await trust.ask(SUBJECT, AbortSignal.abort())).toBe(false);
    expect(await trust.ask(SUBJECT, live)).toBe(true);
    expect(await trust.ask(SUBJECT, AbortSignal.abort())).toBe(false);
  });

  if (covers === "folder") return;
  test("[TR3] another text, another name and the settings are other questions", async () => {
    const trust = create("allows");
    await trust.ask(SUBJECT, live);
    const others: TrustSubject[] = [{ ...SUBJECT, text: SUBJECT.text.replace("./notes", "./other") }, { ...SUBJECT, server: "other" }, { ...SUBJECT, server: null }]; // prettier-ignore
    for (const other of others) expect(trust.known(other)).toBe("unasked");
    for (const other of others) expect(await trust.ask(other, live)).toBe(true);
  });
}
