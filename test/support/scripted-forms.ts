/** Whoever a test says answers servers' questions: what waits, and answering it as a page does. */
import type { ElicitResult } from "@modelcontextprotocol/client";
import type { PersonForms, UpstreamQuestion } from "../../local-agent/adapter/ports.ts";
import { type FormField, formFields, readField } from "../../shared/form-fields.ts";
import type { JsonObject } from "../../shared/json.ts";

export interface ScriptedForms extends PersonForms {
  /** Everything that was asked. */
  readonly questions: UpstreamQuestion[];
  /** Answers the oldest one that waits with what its fields allow. False: it still waits, because a field's value does not fit. */
  readonly answer: (action: "accept" | "decline", content?: Readonly<Record<string, FormAnswer>>) => boolean;
}

type FormAnswer = string | number | boolean | readonly string[];

export const NO_FORMS: PersonForms = { modes: { form: false, url: false }, ask: () => Promise.resolve({ action: "cancel" }) };

export function scriptedForms(): ScriptedForms {
  const questions: UpstreamQuestion[] = [];
  const waiting: { readonly fields: readonly FormField[]; readonly settle: (result: ElicitResult) => void }[] = [];
  return {
    modes: { form: true, url: false },
    questions,
    async ask(question) {
      questions.push(question);
      const { params, signal } = question;
      if (signal.aborted) return { action: "cancel" };
      const fields = "requestedSchema" in params ? formFields(params.requestedSchema as unknown as JsonObject) : undefined;
      if (fields?.ok !== true) return { action: "decline" };
      const { promise, resolve: settle } = Promise.withResolvers<ElicitResult>();
      const open = { fields: fields.value, settle };
      waiting.push(open);
      signal.addEventListener("abort", () => {
        if (waiting.includes(open)) waiting.splice(waiting.indexOf(open), 1);
        settle({ action: "cancel" });
      });
      return promise;
    },
    answer(action, content = {}) {
      const [open] = waiting;
      if (open === undefined) throw new Error("no question waits");
      const read = action === "accept" ? readContent(open.fields, content) : undefined;
      if (read === null) return false;
      waiting.shift();
      open.settle({ action, ...(read !== undefined && { content: read }) });
      return true;
    },
  };
}

function readContent(fields: readonly FormField[], given: Readonly<Record<string, FormAnswer>>): NonNullable<ElicitResult["content"]> | null {
  const content: JsonObject = {};
  for (const field of fields) {
    const value = given[field.name] ?? "";
    const read = readField(field, typeof value === "number" ? String(value) : value);
    if (!read.ok) return null;
    if (read.value !== undefined) Object.assign(content, { [field.name]: read.value });
  }
  return content as NonNullable<ElicitResult["content"]>;
}
