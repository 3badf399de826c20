/**
 * `pimcp deploy`: the Worker, its one secret, and the memory of both. Safe to run again: the key is made once and reused.
 * The code goes first and the key right after it; should the second step fail, the relay refuses every agent and says why,
 * and so does this command. Rules: docs/spec/start.md, ST40 to ST44.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { preparePrivateDirectory, readOrMint, readPrivateFile, type Directories } from "../daemon/config-dir.ts";
import { agentKeyPath, readRememberedRelay, rememberRelay } from "../daemon/remembered-relay.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { DEPLOY_HELP, type DeployOrder } from "./deploy-arguments.ts";
import { runWrangler, type WranglerRun } from "./wrangler.ts";

export interface DeployPlace {
  /** Where wrangler.toml is. */
  readonly packageRoot: string;
  readonly directories: Directories;
  readonly env: NodeJS.ProcessEnv;
  readonly show: (text: string) => void;
  readonly signal: AbortSignal;
}

/** What Cloudflare's free plan would take is far larger; this is what keeps the relay small enough to read. */
const MAX_BUNDLE_BYTES = 60 * 1024;

/** Throws `StartFailure` with one sentence when it cannot finish. */
export async function deploy(order: DeployOrder, place: DeployPlace): Promise<ExitCode> {
  const scratch = mkdtempSync(join(tmpdir(), "pimcp-deploy-"));
  try {
    if (order.kind === "help") place.show(DEPLOY_HELP);
    if (order.kind === "dry-run") await measure(order, place, scratch);
    if (order.kind === "deploy") await deployAndRemember(order, place, scratch);
    return EXIT.asked;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measure(order: DeployOrder, place: DeployPlace, scratch: string): Promise<void> {
  const printed = await runWrangler({ ...common(order, place), args: ["deploy", "--dry-run", "--outdir", scratch, ...nameOf(order)] });
  const modules = readdirSync(scratch).filter((name) => name.endsWith(".js") || name.endsWith(".mjs"));
  if (modules.length === 0) throw new StartFailure("wrangler wrote no bundle: run this command again with --verbose.", EXIT.failed);
  const bytes = modules.reduce((sum, name) => sum + gzipSync(readFileSync(join(scratch, name)), { level: 9 }).byteLength, 0);
  const size = `${(bytes / 1024).toFixed(1)} KiB gzip, our own limit is ${MAX_BUNDLE_BYTES / 1024}`;
  if (bytes > MAX_BUNDLE_BYTES) throw new StartFailure(`The Worker has grown too large: ${size}.`, EXIT.failed);
  if (!order.verbose) place.show(bindingsIn(printed));
  place.show(`The Worker's bundle: ${size}. Nothing was deployed.\n`);
}

/** wrangler's table of bindings; its own size, which counts other things, is left out. */
function bindingsIn(printed: string): string {
  const table = /^Your Worker has access to.*(?:\n.*\S.*)+/m.exec(printed)?.[0];
  return table === undefined ? printed : `${table}\n\n`;
}

async function deployAndRemember(order: DeployOrder, place: DeployPlace, scratch: string): Promise<void> {
  const configDir = preparePrivateDirectory(place.directories.config);
  const keyFile = agentKeyPath(configDir);
  readPrivateFile(keyFile); // One that cannot be used is said before anything is deployed.
  const events = join(scratch, "events.ndjson");
  place.show("Deploying the relay …\n");
  const printed = await runWrangler({
    ...common(order, place),
    env: { ...place.env, WRANGLER_OUTPUT_FILE_PATH: events },
    args: ["deploy", ...nameOf(order)],
  });
  place.show("Setting its agent key …\n");
  try {
    // Only now is a key made: a deployment that fails, for want of a login for one, leaves none.
    await runWrangler({ ...common(order, place), args: ["secret", "put", "AGENT_KEY", ...nameOf(order)], input: readOrMint(keyFile) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartFailure(
      `The relay is deployed but its agent key could not be set, so it refuses every agent until you run this command again. ${reason}`,
      EXIT.failed,
    );
  }
  const url = order.url ?? readUrl(events, printed) ?? readRememberedRelay(configDir)?.url;
  if (url === undefined)
    throw new StartFailure(
      "The relay is deployed, but wrangler did not say at which address: run this command again with --url https://….",
      EXIT.failed,
    );
  rememberRelay(configDir, { url, keyFile });
  place.show(
    `\nThe relay is at ${url}. Its MCP URL is ${url}/mcp, for good.\nStart the agent with npm start (or pimcp): it dials this relay from now on.\n`,
  );
}

function common({ verbose }: DeployOrder, place: DeployPlace): Pick<WranglerRun, "packageRoot" | "env" | "show" | "signal" | "verbose"> {
  return { packageRoot: place.packageRoot, env: place.env, show: place.show, signal: place.signal, verbose };
}

function nameOf(order: DeployOrder): readonly string[] {
  return order.name === null ? [] : ["--name", order.name];
}

/** wrangler writes what it did as JSON lines where it is told to; older ones only print it. */
function readUrl(events: string, printed: string): string | undefined {
  const targets = readLines(events)
    .map(parseJson)
    .filter(isJsonObject)
    .filter((event) => event["type"] === "deploy")
    .flatMap((event) => (Array.isArray(event["targets"]) ? event["targets"] : []));
  const named = targets.find((target) => typeof target === "string" && /^https:\/\/[^/*\s]+\/?$/.test(target));
  const found = typeof named === "string" ? named : /https:\/\/[\w.-]+\.workers\.dev/.exec(printed)?.[0];
  return found === undefined ? undefined : new URL(found).origin;
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return []; // This wrangler does not write the file.
  }
}
