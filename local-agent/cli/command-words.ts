/** The words of a command that asks the running agent, and which agent that is. Pure. */
import { parseArgs } from "node:util";
import { err, ok, type Result } from "../../shared/result.ts";
import { DEFAULT_WORKSPACE, isWorkspaceName, WORKSPACE_SPELLING } from "../../shared/workspace.ts";
import { didYouMean } from "../../shared/nearest.ts";
import { BadValue, readPort, readRelay } from "./values.ts";

/** Which of several running agents is meant; null: whichever runs. */
export interface AgentChoice {
  readonly relay: string | null;
  /** `DEFAULT_WORKSPACE` is the one without a name. */
  readonly workspace: string | null;
  readonly port: number | null;
}

export const CHOICE_FLAGS = { relay: { type: "string" }, workspace: { type: "string" }, port: { type: "string" } } as const;
export const CHOICE_HELP = `  --relay URL   Of several agents, the one of this relay; local is the embedded one.
  --workspace NAME
                Of several agents, the one of this workspace; default is the one without a name.
  --port PORT   Of several agents, the one whose relay or page has this port.`;

type FlagTable = Readonly<Record<string, { readonly type: "boolean" | "string"; readonly short?: string }>>;

export interface CommandWords {
  readonly given: ReadonlyMap<string, string | undefined>;
  readonly words: readonly string[];
}

/** `argv` begins behind the command. The error is one sentence. */
export function readWords(command: string, argv: readonly string[], flags: FlagTable): Result<CommandWords, string> {
  const { tokens } = parseArgs({ args: [...argv], options: flags, strict: false, tokens: true, allowPositionals: true });
  const given = new Map<string, string | undefined>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    if (!Object.hasOwn(flags, token.name)) {
      return err(`Unknown flag ${token.rawName}.${didYouMean(token.name, Object.keys(flags), "--")} See pimcp ${command} --help.`);
    }
    given.set(token.name, token.value);
  }
  return ok({ given, words });
}

/** Throws `BadValue`. */
export function readChoice(given: CommandWords["given"]): AgentChoice {
  return {
    relay: given.has("relay") ? readRelay(given.get("relay") ?? "", "--relay") : null,
    workspace: given.has("workspace") ? readChosenWorkspace(given.get("workspace") ?? "") : null,
    port: given.has("port") ? readPort(given.get("port") ?? "", "--port") : null,
  };
}

/** Of agents that run, the workspace without a name can be meant too. Throws `BadValue`. */
export function readChosenWorkspace(text: string): string {
  if (text === DEFAULT_WORKSPACE || isWorkspaceName(text)) return text;
  const rule = `${WORKSPACE_SPELLING}; ${DEFAULT_WORKSPACE} is the one without a name`;
  throw new BadValue(`--workspace must be ${rule}, got ${JSON.stringify(text)}.`);
}

/** The flags of a choice, each with its value. */
export function choiceFlags({ relay, workspace, port }: AgentChoice): readonly string[] {
  const values = { relay, workspace, port };
  return Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [`--${name} ${value}`]));
}

/** The same choice, to be typed again behind another command. */
export function choiceWords(choice: AgentChoice): string {
  return choiceFlags(choice)
    .map((flag) => ` ${flag}`)
    .join("");
}

/** Turns a `BadValue` into the sentence it holds. */
export function readingValues<T>(read: () => Result<T, string>): Result<T, string> {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadValue) return err(error.message);
    throw error;
  }
}
