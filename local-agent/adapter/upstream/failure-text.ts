/** What is told of a connection that could not be made. Pure. */
import type { SdkHttpError } from "@modelcontextprotocol/client";
import { cut } from "./cut-text.ts";
import { withShownAddresses } from "./shown-address.ts";

/** A cause is shown to a model, again and again while the server is down. */
const MAX_CAUSE = 1000;
/** A web server may answer with a page; its beginning says which. */
const MAX_MESSAGE = 400;
const STDERR_LINES = 3;
const MAX_CAUSES = 4;

/**
 * One line on why, at most 1,000 characters, with the last lines of the process's error stream. Addresses lose what may be a
 * key (shown-address.ts).
 */
export function failureText(error: unknown, stderrTail: string): string {
  const cause = cut(withShownAddresses(oneLine(messages(error).join(": "))), MAX_MESSAGE) || "no reason was given";
  const tail = stderrTail
    .split("\n")
    .map((line) => withShownAddresses(oneLine(line)))
    .filter((line) => line !== "")
    .slice(-STDERR_LINES)
    .join(" | ");
  return cut(tail === "" ? cause : `${cause}. The process wrote: ${tail}`, MAX_CAUSE);
}

/** An error's own message, then those of its causes that say more (`fetch failed` alone does not). */
function messages(error: unknown): readonly string[] {
  const found: string[] = [];
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined && current !== null; depth++) {
    const text = current instanceof Error ? ownMessage(current) : typeof current === "string" ? current : "";
    if (text !== "" && !found.some((earlier) => earlier.includes(text))) found.push(text);
    current = current instanceof Error ? current.cause : undefined;
  }
  return found;
}

function ownMessage(error: Error): string {
  if (isHttpError(error)) return `HTTP ${error.status}: ${error.message}`;
  const code = "code" in error && typeof error.code === "string" && /^E[A-Z_]+$/.test(error.code) ? error.code : "";
  return code === "" || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}

/** By its name: this is used where the SDK's client need not be loaded. */
function isHttpError(error: Error): error is SdkHttpError {
  return error.name === ("SdkHttpError" satisfies typeof SdkHttpError.name) && "status" in error && typeof error.status === "number";
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}
