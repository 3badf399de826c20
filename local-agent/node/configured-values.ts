/**
 * Configured values as they are used: placeholders filled in, `!command` values run. Only for a connection that is about to be made
 * (contract, secret values); everything that merely shows or compares a configuration stays with the text.
 */
import { expandHome, expandPlaceholders, secretValue } from "../adapter/config/expansion.ts";
import type { Environment } from "../adapter/ports.ts";
import { type ProgramHost, runProgram } from "./run-program.ts";
import { upstreamEnvironment } from "./upstream-environment.ts";

export interface ValueHost extends ProgramHost {
  readonly env: Environment;
  readonly home: string;
  /** Where relative paths begin and secret commands run: the project. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
}

const COMMAND_MS = 10_000;
const COMMAND_MAX_BYTES = 1024 * 1024;

/** What keeps a definition from being used, in a sentence. */
export class UnusableValue extends Error {}

/**
 * A value that may name a command. Throws `UnusableValue`, in which `what` stands for the value: neither it nor the command is shown.
 * @param what such as `headers.Authorization`
 */
async function secretText(value: string, what: string, host: ValueHost, signal: AbortSignal): Promise<string> {
  const secret = secretValue(value);
  return secret.kind === "text" ? filledIn(secret.text, host) : commandOutput(secret.command, what, host, signal);
}

/** Runs one `!command`: no input, ten seconds, 1 MiB, and a text must be printed. Throws `UnusableValue`. */
export async function commandOutput(command: string, what: string, host: ValueHost, signal: AbortSignal): Promise<string> {
  const result = await runProgram(
    {
      command,
      args: [],
      shell: true,
      env: upstreamEnvironment(host.env, "whole", host.platform),
      cwd: host.cwd,
      timeoutMs: COMMAND_MS,
      maxBytes: COMMAND_MAX_BYTES,
      signal,
    },
    host,
  );
  if (!result.ok) throw new UnusableValue(`The command for "${what}" ${result.error}.`);
  const text = result.value.trim();
  if (text === "") throw new UnusableValue(`The command for "${what}" printed nothing; it must print the value.`);
  // The system ends every text at one, so whatever is given such a value refuses it, with a sentence that shows it.
  if (text.includes("\0")) throw new UnusableValue(`The command for "${what}" printed a NUL character; it must print a text.`);
  return text;
}

/** All values of a table, in parallel; the first that cannot be had ends it. */
export async function secretTable(
  table: Readonly<Record<string, string>>,
  what: string,
  host: ValueHost,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const entries = Object.entries(table).map(async ([name, value]) => [name, await secretText(value, `${what}.${name}`, host, signal)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** A variable that is not set becomes nothing. */
export function filledIn(text: string, host: Pick<ValueHost, "env">): string {
  return expandPlaceholders(text, host.env).text;
}

export function pathOf(text: string, host: Pick<ValueHost, "env" | "home">): string {
  return expandHome(filledIn(text, host), host.home);
}

/** Control characters but for the tab; those above ASCII are allowed. */
const CONTROL = /[^\P{Cc}\t\u0080-\u009f]/u;

/** Whether HTTP allows such a header. What refuses one later says its value, or not even its name. */
export function isSendable(name: string, value: string): boolean {
  try {
    return !CONTROL.test(value.trim()) && new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}

/** Throws `UnusableValue` when a variable is missing, or the text is no http address or holds a user name: `fetch` refuses it by value. */
export function addressOf(text: string, literal: boolean, host: Pick<ValueHost, "env">): URL {
  const { text: filled, missing } = literal ? { text, missing: [] } : expandPlaceholders(text, host.env);
  if (missing.length > 0)
    throw new UnusableValue(
      `"url" needs ${missing.map((name) => `$${name}`).join(", ")}, which is not set; set it where this program is started, and start it again.`,
    );
  const url = URL.parse(filled);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) throw new UnusableValue(`"url" must be an http or https address.`);
  if (url.username !== "" || url.password !== "") throw new UnusableValue(`"url" must not hold a user name or password: put them into "headers".`);
  return url;
}
