/**
 * A start through an npm script. npm reads flags that stand before `--` itself, as settings of its own, and says nothing:
 * `npm start --stdio` would start without `--stdio`, `npm run deploy --dry-run` would deploy.
 */
import { isJsonObject, parseJson } from "../../shared/json.ts";

export interface NpmCall {
  readonly script: string;
  /** npm's settings by name, without values; a switched-off one as `no-name`. Most are npm's own. */
  readonly kept: readonly string[];
}

/** Set by scripts/run.mjs. */
const VARIABLE = "PIMCP_NPM";

/** Takes the note about npm off the environment, so that no tool's shell inherits it; null without npm. */
export function takeNpmCall(env: NodeJS.ProcessEnv): NpmCall | null {
  const note = parseJson(env[VARIABLE] ?? "");
  delete env[VARIABLE];
  if (!isJsonObject(note) || typeof note["script"] !== "string" || !Array.isArray(note["kept"])) return null;
  return { script: note["script"], kept: note["kept"].filter((name) => typeof name === "string") };
}

/** npm has settings of these names too, which people may have set for good. */
const ALSO_OF_NPM = new Set(["json", "verbose", "help", "version"]);

/** One sentence when npm kept flags of ours for itself; null otherwise. `flags`: names without dashes. Pure. */
export function explainKept(npm: NpmCall, flags: readonly string[], argv: readonly string[]): string | null {
  const kept = npm.kept.filter((name) => flags.includes(name) && !ALSO_OF_NPM.has(name)).map((name) => `--${name}`);
  if (kept.length === 0) return null;
  const [word] = argv;
  const rest =
    kept.length === 1 && argv.length === 1 && word !== undefined && !word.startsWith("-")
      ? ` ${quoted(word)}`
      : kept.length > 1 || argv.length > 0
        ? " …"
        : "";
  const run = npm.script === "start" ? "npm start" : `npm run ${npm.script}`;
  return `npm kept ${kept.join(" and ")} for itself: put -- in front, as in ${run} -- ${kept.join(" ")}${rest}`;
}

function quoted(word: string): string {
  return /^[\w./~:@-]+$/.test(word) ? word : JSON.stringify(word);
}
