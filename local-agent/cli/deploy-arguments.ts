/** Arguments of `pimcp deploy` → what to do, or one sentence. Pure. */
import { parseArgs } from "node:util";
import { err, ok, type Result } from "../../shared/result.ts";
import { didYouMean } from "../../shared/nearest.ts";
import { BadValue, readOrigin } from "./values.ts";

export interface DeployOrder {
  readonly kind: "help" | "dry-run" | "deploy";
  /** Name of the Worker; null: the one in wrangler.toml. */
  readonly name: string | null;
  /** Address of the relay when wrangler cannot say it (a custom domain). */
  readonly url: string | null;
  /** Show all that wrangler prints. */
  readonly verbose: boolean;
}

export const DEPLOY_HELP = `Usage: npm run deploy -- [flags]     (or pimcp deploy [flags])

Deploys the relay to your Cloudflare account, sets its agent key and remembers both, so that a plain
start dials it. Running it again changes nothing but the code.

Log in first: npx wrangler login (or set CLOUDFLARE_API_TOKEN).

  --dry-run     Bundle only: print size and bindings. Needs neither account nor network.
  --name NAME   Name of the Worker (wrangler.toml says pi-relay).
  --url URL     Address of the relay, when it has one of your own domains.
  --verbose     Show all that wrangler prints.
  --help        Show this text.
`;

const FLAGS = {
  "dry-run": { type: "boolean" },
  name: { type: "string" },
  url: { type: "string" },
  verbose: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export const DEPLOY_FLAGS = Object.keys(FLAGS);

/** `command` is how the person asks for a deployment here, for what they are told to type. */
export function readDeployArguments(argv: readonly string[], command: "npm run deploy --" | "pimcp deploy"): Result<DeployOrder, string> {
  const { tokens } = parseArgs({ args: [...argv], options: FLAGS, strict: false, tokens: true, allowPositionals: true });
  const given = new Map<string, string | undefined>();
  for (const token of tokens) {
    if (token.kind === "positional") return err(`Unexpected argument ${JSON.stringify(token.value)}. See ${command} --help.`);
    if (token.kind !== "option") continue;
    if (!Object.hasOwn(FLAGS, token.name)) {
      return err(`Unknown flag ${token.rawName}.${didYouMean(token.name, Object.keys(FLAGS), "--")} See ${command} --help.`);
    }
    given.set(token.name, token.value);
  }
  return readOrder(given);
}

function readOrder(given: ReadonlyMap<string, string | undefined>): Result<DeployOrder, string> {
  const verbose = given.has("verbose");
  if (given.has("help")) return ok({ kind: "help", name: null, url: null, verbose });
  const name = given.get("name");
  // Also what keeps the name from being read as a flag by wrangler.
  if (given.has("name") && (name === undefined || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))) {
    return err(`--name must be lower-case letters, digits and dashes, got ${JSON.stringify(name ?? "")}.`);
  }
  try {
    const url = given.has("url") ? readOrigin(given.get("url")?.replace(/\/mcp\/?$/, "") ?? "", "--url") : null;
    return ok({ kind: given.has("dry-run") ? "dry-run" : "deploy", name: name ?? null, url, verbose });
  } catch (error) {
    if (error instanceof BadValue) return err(error.message);
    throw error;
  }
}
