/** Arguments of `pimcp config` → what to show, or one sentence. Pure. */
import { err, ok, type Result } from "../../shared/result.ts";
import { readWords } from "./command-words.ts";

export type ConfigOrder =
  | { readonly kind: "help" }
  /** Paths as they were typed; null: not given. */
  | { readonly kind: "show"; readonly json: boolean; readonly root: string | null; readonly configFile: string | null };

export const CONFIG_HELP = `Usage: pimcp config [flags]     which MCP servers are configured, and which file set what

Reads the files that pimcp and Pi read, starts nothing and writes nothing; in a checkout:
npm start -- config. Values that could be secrets are shown as (set).

  --root DIR    The project's directory [the current one].
  --mcp-config FILE
                In the place of Pi's own file, as for Pi.
  --json        Print one JSON object.
  --help        Show this text.

Exit codes: 0 done as asked; 2 unclear what is meant.
`;

const FLAGS = {
  root: { type: "string" },
  "mcp-config": { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
export const CONFIG_FLAGS = Object.keys(FLAGS);

/** `argv` begins behind the command. */
export function readConfigArguments(argv: readonly string[]): Result<ConfigOrder, string> {
  const read = readWords("config", argv, FLAGS);
  if (!read.ok) return read;
  const { given, words } = read.value;
  if (given.has("help")) return ok({ kind: "help" });
  if (words.length > 0)
    return err(`pimcp config takes no words, got ${JSON.stringify(words[0]?.slice(0, 100))}: pimcp config --root DIR shows another project.`);
  for (const flag of ["root", "mcp-config"])
    if (given.has(flag) && (given.get(flag) ?? "") === "") return err(`--${flag} must be a path, got nothing.`);
  return ok({ kind: "show", json: given.has("json"), root: given.get("root") ?? null, configFile: given.get("mcp-config") ?? null });
}
