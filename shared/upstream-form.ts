/** A question of an MCP server to the person, as the page shows it: a form, or a web address that is opened only after consent. */
import * as v from "valibot";
import { FormField, GivenValue } from "./form-fields.ts";

export const FormCard = v.object({
  id: v.string(),
  server: v.string(),
  /** The client in whose call the server asks. */
  client: v.string(),
  message: v.string(),
  at: v.number(),
  asks: v.variant("kind", [
    v.object({ kind: v.literal("form"), fields: v.array(FormField) }),
    v.object({ kind: v.literal("address"), url: v.string(), host: v.string() }),
  ]),
});
export type FormCard = v.InferOutput<typeof FormCard>;

export const FormAnswer = v.object({
  id: v.pipe(v.string(), v.maxLength(100)),
  action: v.picklist(["accept", "decline"]),
  /** By the fields' names; only read with `accept`. */
  values: v.optional(v.record(v.string(), GivenValue)),
});
export type FormAnswer = v.InferOutput<typeof FormAnswer>;

/** `wrong`: some values do not fit, with what was expected by the fields' names; the question still waits. `gone`: it waits no longer. */
export const FormOutcome = v.variant("outcome", [
  v.object({ outcome: v.literal("sent") }),
  v.object({ outcome: v.literal("gone") }),
  v.object({ outcome: v.literal("wrong"), problems: v.record(v.string(), v.string()) }),
]);
export type FormOutcome = v.InferOutput<typeof FormOutcome>;
