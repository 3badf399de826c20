/** What every `PersonForms` holds, wherever a server's questions are put to the person. */
import { expect, test } from "vitest";
import type { PersonForms, UpstreamQuestion } from "../../local-agent/adapter/ports.ts";
import { exampleQuestion } from "../support/page-states.ts";

/** `fills in`: with a value that does not fit first. `answers too late`: the very moment the question is over. */
export type FormPerson = "fills in" | "declines" | "never answers" | "answers too late" | "absent";

/** What the person gives for `exampleQuestion`, and what first for `replicas`. */
export const GIVEN = { environment: "staging", replicas: "2", drain: false, regions: ["eu"] } as const;
export const UNFIT = "12";

export function describePersonForms(create: (person: FormPerson) => PersonForms): void {
  const ask = (person: FormPerson, changes: Partial<UpstreamQuestion> = {}) => create(person).ask(exampleQuestion(changes));

  test("[TR20] [PI30] sends what fits the form, and only that", async () => {
    expect(await ask("fills in")).toEqual({ action: "accept", content: { ...GIVEN, regions: ["eu"], replicas: 2 } });
  });

  test("[TR20] [PI30] tells that the person declined", async () => {
    expect(await ask("declines")).toEqual({ action: "decline" });
  });

  test.each(["never answers", "answers too late"] as const)("[TR22] is cancelled with its call, for a person who %s", async (person) => {
    const call = new AbortController();
    const answer = ask(person, { signal: call.signal });
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    call.abort();
    expect(await answer).toEqual({ action: "cancel" });
  });

  test("[TR22] is cancelled when its call is over before", async () => {
    expect(await ask("fills in", { signal: AbortSignal.abort() })).toEqual({ action: "cancel" });
  });

  test("[TR21] declines a form that cannot be shown", async () => {
    const properties = { it: { type: "object" } } as never;
    expect(await ask("fills in", { params: { message: "", requestedSchema: { type: "object", properties } } })).toEqual({ action: "decline" });
  });

  test("[TR22] is cancelled where nobody is, and no server is told that somebody could be asked", async () => {
    expect(create("absent").modes).toEqual({ form: false, url: false });
    expect(await ask("absent")).toEqual({ action: "cancel" });
    expect(create("fills in").modes.form).toBe(true);
  });
}
