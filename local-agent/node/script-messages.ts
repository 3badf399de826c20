/** What a script's thread says to the agent. It may have been tampered with by the script, so it is read like a stranger's. */
import * as v from "valibot";
import { parseJson, type JsonValue } from "../../shared/json.ts";

const Json = v.custom<JsonValue>((value) => value !== undefined);

const ScriptMessage = v.union([
  v.object({ t: v.literal("out"), from: v.literal("emit"), value: Json }),
  v.object({ t: v.literal("out"), from: v.literal("console"), level: v.picklist(["log", "info", "warn", "error", "debug"]), text: v.string() }),
  v.object({ t: v.literal("ask"), id: v.pipe(v.number(), v.safeInteger()), op: v.picklist(["search", "describe", "call"]), payload: Json }),
  v.object({ t: v.literal("end"), how: v.literal("returned"), value: v.optional(Json) }),
  v.object({ t: v.literal("end"), how: v.literal("threw"), message: v.string() }),
  v.object({ t: v.literal("end"), how: v.literal("memory") }),
]);
export type ScriptMessage = v.InferOutput<typeof ScriptMessage>;

/** Undefined: not one of these. */
export function readScriptMessage(text: string): ScriptMessage | undefined {
  const read = v.safeParse(ScriptMessage, parseJson(text));
  return read.success ? read.output : undefined;
}
