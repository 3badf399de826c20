/** Arguments of `pimcp upstream-token` → what to do, or one sentence. Pure. */
import { didYouMean } from "../../shared/nearest.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { readWords, type CommandWords } from "./command-words.ts";

export type UpstreamTokenOrder =
  | { readonly kind: "help" }
  | {
      readonly kind: "set" | "status" | "remove";
      readonly server: string;
      readonly json: boolean;
      /** Paths as they were typed; null: not given. */
      readonly root: string | null;
      readonly configFile: string | null;
    };

export const UPSTREAM_TOKEN_HELP = `Usage: pimcp upstream-token set SERVER [flags]      keep the bearer token of an MCP server
       pimcp upstream-token status SERVER [flags]   whether one is kept, and for which address
       pimcp upstream-token remove SERVER [flags]   remove it

For servers with "bearerTokenStore": true. The token is kept by the operating system's credential
store, and sent to the address that is configured now and to no other. It is read from standard
input, or asked for in a terminal; never from the command line, which other programs can see.
In a checkout: npm start -- upstream-token set SERVER

  --root DIR    The project's directory [the current one].
  --mcp-config FILE
                In the place of Pi's own file, as for Pi.
  --json        Print one JSON object.
  --help        Show this text.

Exit codes: 0 done; 1 the credential store could not do it; 2 nothing was tried.
`;

const FLAGS = {
  root: { type: "string" },
  "mcp-config": { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
export const UPSTREAM_TOKEN_FLAGS = Object.keys(FLAGS);

const COMMANDS = ["set", "status", "remove"] as const;

/** `argv` begins behind the command. */
export function readUpstreamTokenArguments(argv: readonly string[]): Result<UpstreamTokenOrder, string> {
  const read = readWords("upstream-token", argv, FLAGS);
  if (!read.ok) return read;
  const { given, words } = read.value;
  const [word = "", server = "", ...more] = words;
  if (given.has("help") || word === "help") return ok({ kind: "help" });
  const kind = COMMANDS.find((each) => each === word);
  if (kind === undefined) {
    const what = word === "" ? "pimcp upstream-token needs to know what to do" : `Unknown command pimcp upstream-token ${visibleLine(word, 100)}`;
    return err(`${what}: set, status or remove.${didYouMean(word, COMMANDS, "pimcp upstream-token ")} See pimcp upstream-token --help.`);
  }
  const order: UpstreamTokenOrder = { kind, server, json: given.has("json"), root: pathOf(given, "root"), configFile: pathOf(given, "mcp-config") };
  const problem = problemOf(order, more);
  return problem === null ? ok(order) : err(problem);
}

function problemOf(
  { kind, server, root, configFile }: Exclude<UpstreamTokenOrder, { readonly kind: "help" }>,
  more: readonly string[],
): string | null {
  if (server === "") return `pimcp upstream-token ${kind} needs the server's name, as pimcp config shows it.`;
  if (more.length > 0) return `pimcp upstream-token ${kind} takes one server's name and nothing else; a token is read from standard input.`;
  if (root === "") return "--root must be a path, got nothing.";
  return configFile === "" ? "--mcp-config must be a path, got nothing." : null;
}

/** Empty: the flag stands there without a value. */
function pathOf(given: CommandWords["given"], flag: string): string | null {
  return given.has(flag) ? (given.get(flag) ?? "") : null;
}
