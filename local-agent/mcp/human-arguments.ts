/** Arguments of the tools that talk with the person. An error says what was expected, what came and what to do. */
import * as v from "valibot";
import { Category, EntryId } from "../../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import { kindOf } from "../../shared/kind-of.ts";
import { err, ok, type Result } from "../../shared/result.ts";

export interface SayArguments {
  readonly text: string;
  readonly category: Category;
}

export interface AskArguments {
  readonly text: string;
  readonly options: readonly string[];
  readonly timeoutS: number | null;
}

export interface WaitArguments {
  readonly questionId: string | null;
  readonly timeoutS: number | null;
}

export function sayArguments(args: JsonObject): Result<SayArguments, string> {
  const text = textOf(args["text"]);
  if (!text.ok) return text;
  const category = v.safeParse(Category, args["category"] ?? "message");
  if (!category.success)
    return err(`category: expected one of ${Category.options.join(", ")}, got ${described(args["category"])}. Leave it out if none fits.`);
  return ok({ text: text.value, category: category.output });
}

export function askArguments(args: JsonObject): Result<AskArguments, string> {
  const text = textOf(args["text"]);
  if (!text.ok) return text;
  const options = optionsOf(args["options"]);
  if (!options.ok) return options;
  const timeoutS = timeoutOf(args["timeout"]);
  return timeoutS.ok ? ok({ text: text.value, options: options.value, timeoutS: timeoutS.value }) : timeoutS;
}

export function waitArguments(args: JsonObject): Result<WaitArguments, string> {
  const timeoutS = timeoutOf(args["timeout"]);
  if (!timeoutS.ok) return timeoutS;
  // Some models fill every argument in: an empty id is none.
  const questionId = args["questionId"] ?? "";
  if (questionId === "") return ok({ questionId: null, timeoutS: timeoutS.value });
  if (!v.is(EntryId, questionId))
    return err(`questionId: expected an id that human_ask returned, got ${described(questionId)}. Leave it out to hear whatever the person says.`);
  return ok({ questionId, timeoutS: timeoutS.value });
}

function textOf(value: JsonValue | undefined): Result<string, string> {
  if (typeof value !== "string") return err(`text: expected a string, got ${described(value)}. Put what the person should read into it.`);
  if (value.trim() === "") return err("text: expected words for the person, got an empty text. Nothing was shown.");
  const bytes = bytesOf(value);
  if (bytes <= HUMAN_LIMITS.textBytes) return ok(value);
  return err(
    `text: expected at most ${HUMAN_LIMITS.textBytes} bytes, got ${bytes}. Say it in several calls, or write it to a file and name the file.`,
  );
}

function optionsOf(value: JsonValue | undefined): Result<readonly string[], string> {
  if (value === undefined || value === null) return ok([]);
  if (!Array.isArray(value)) return err(`options: expected a list of strings, got ${described(value)}. Leave it out to let the person write freely.`);
  if (value.length > HUMAN_LIMITS.options)
    return err(`options: expected at most ${HUMAN_LIMITS.options}, got ${value.length}. Offer fewer, or ask without options.`);
  const options: string[] = [];
  for (const [index, option] of value.entries()) {
    const fault = optionFault(option, options);
    if (fault !== null) return err(`options[${index}]: ${fault}`);
    if (typeof option === "string") options.push(option);
  }
  return ok(options);
}

function optionFault(option: JsonValue, before: readonly string[]): string | null {
  if (typeof option !== "string") return `expected a string, got ${described(option)}.`;
  if (option.trim() === "") return "expected words for a button, got an empty text.";
  const bytes = bytesOf(option);
  if (bytes > HUMAN_LIMITS.optionBytes) return `expected at most ${HUMAN_LIMITS.optionBytes} bytes, got ${bytes}. Put the long part into the text.`;
  return before.includes(option) ? "expected options that differ, got one twice." : null;
}

/** Any number will do: what is too short or too long is clamped, and the answer says so. */
function timeoutOf(value: JsonValue | undefined): Result<number | null, string> {
  if (value === undefined || value === null) return ok(null);
  return typeof value === "number"
    ? ok(value)
    : err(`timeout: expected a number of seconds, got ${described(value)}. Leave it out to wait as long as is allowed.`);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** A value as an error names it: its kind, and a short string itself. */
function described(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "string") return value.length <= 40 ? JSON.stringify(value) : `a string of ${value.length} characters`;
  return kindOf(value);
}
