// What every npm script goes through: `node scripts/run.mjs TARGET [ARGUMENTS]`. Runs on Node 20 and without dependencies;
// installs and builds what is missing, then runs the target on the Node that package.json pins, with arguments, signals and
// the exit code handed through.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureBuild, ensureDependencies, ensureWorkerTypes } from "./run/prepare.mjs";
import { endSignal, exitCodeOfSignal, run, wasAskedToEnd } from "./run/processes.mjs";
import { entryOf, pinnedNode } from "./run/programs.mjs";
import { incomplete, say, Stop } from "./run/say.mjs";
import { withSetupLock } from "./run/setup-lock.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const node = pinnedNode(root, process.platform);
const env = { ...process.env, PATH: `${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}` };

/** A step that runs a program of an installed package; looked up late, because it may have to be installed first. */
const program = (name, packageName, ...args) => ({ name, packageName, args });
const vitest = (...projects) => ({
  steps: (args) => [program("vitest", "vitest", "run", ...projects.flatMap((name) => ["--project", name]), ...args)],
});
const typecheck = [() => ensureWorkerTypes(root, node, env), program("tsc", "typescript", "-b")];
const lint = [program("oxlint", "oxlint", "--deny-warnings"), program("oxfmt", "oxfmt", "--check")];

/** `steps` run one after the other until one fails; a step is what `node` runs, a program, or a function that gives an exit code. */
const TARGETS = {
  start: { builds: true, agent: true, steps: (args) => [[join(root, "dist/pimcp.mjs"), ...args]] },
  deploy: { builds: true, agent: true, steps: (args) => [[join(root, "dist/pimcp.mjs"), "deploy", ...args]] },
  test: { builds: true, tests: true, ...vitest("node", "workerd") },
  "test:e2e": { builds: true, tests: true, ...vitest("e2e") },
  "test:browser": { builds: true, tests: true, before: requireBrowser, ...vitest("browser") },
  "test:conformance": { builds: true, tests: true, steps: (args) => [["test/conformance/run.ts", ...args]] },
  accept: { builds: true, tests: true, steps: (args) => [["test/accept/run.ts", ...args]] },
  bench: { builds: true, tests: true, before: requireBrowser, steps: (args) => [["test/bench/run.ts", ...args]] },
  dev: { steps: (args) => [["scripts/dev.mjs", ...args]] },
  screenshots: { tests: true, before: requireBrowser, steps: (args) => [["test/screenshots/run.ts", ...args]] },
  build: { builds: "always", steps: () => [] },
  typecheck: { tests: true, steps: () => typecheck },
  lint: { tests: true, steps: () => lint },
  check: { tests: true, steps: () => [...typecheck, ...lint, program("knip", "knip")] },
  fix: { steps: () => [program("oxlint", "oxlint", "--fix"), program("oxfmt", "oxfmt")] },
};

async function main([name, ...args]) {
  const target = Object.hasOwn(TARGETS, name ?? "") ? TARGETS[name] : undefined;
  if (target === undefined) throw new Stop(`There is no target ${JSON.stringify(name ?? "")}: choose one of ${Object.keys(TARGETS).join(", ")}.`, 2);
  if (Number(process.versions.node.split(".")[0]) < 20) throw new Stop(`Node 20 or newer is needed to set up, this is ${process.version}.`, 2);
  if (await answersAtOnce(name, args)) return 0;
  await withSetupLock(join(root, ".setup.lock"), () => prepare(target));
  if (!wasAskedToEnd()) target.before?.();
  const where = target.agent === true ? { cwd: personsDirectory(name), env: personsEnvironment(name), ipc: true } : { cwd: root, env };
  return runSteps(target.steps(args), where);
}

/**
 * What asks for the help or the version alone is answered from the sources, where this Node reads TypeScript: nothing has to
 * be installed or built for it.
 */
async function answersAtOnce(name, args) {
  const question = args.length === 1 ? args[0] : undefined;
  if (name === "start" && ["--version", "-v", "-V"].includes(question)) return answer(`${version()}\n`);
  if (!["--help", "-h", "help"].includes(question) || !process.features.typescript) return false;
  if (name === "start") return answer((await source("help.ts")).helpText(version()));
  if (name === "deploy") return answer((await source("deploy-arguments.ts")).DEPLOY_HELP);
  return false;
}

const source = (file) => import(pathToFileURL(join(root, "local-agent/cli", file)).href);
const version = () => JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;

function answer(text) {
  process.stdout.write(text);
  return true;
}

async function runSteps(steps, where) {
  for (const step of steps) {
    if (wasAskedToEnd()) return exitCodeOfSignal(endSignal());
    const code = typeof step === "function" ? await step() : await run(node, commandLine(step), where);
    if (code !== 0) return code;
  }
  return wasAskedToEnd() && where.ipc !== true ? exitCodeOfSignal(endSignal()) : 0;
}

function commandLine(step) {
  return Array.isArray(step) ? step : [entryOf(root, step.name, step.packageName), ...step.args];
}

async function prepare(target) {
  await ensureDependencies(root, "dependencies");
  if (target.tests === true && existsSync(join(root, "test/package-lock.json")) && !wasAskedToEnd())
    await ensureDependencies(join(root, "test"), "test dependencies");
  if (target.builds !== undefined && !wasAskedToEnd()) await ensureBuild(root, node, env, target.builds === "always");
}

/** npm runs scripts in the package's directory; relative paths and the default root mean where the person typed. */
function personsDirectory(name) {
  const { INIT_CWD, npm_lifecycle_event } = process.env;
  const cwd = process.cwd();
  return npm_lifecycle_event === name && INIT_CWD !== undefined && existsSync(INIT_CWD) && realpathSync(cwd) === realpathSync(root) ? INIT_CWD : cwd;
}

/** The agent's shell belongs to the person: what npm and this script added for themselves is taken off again. */
function personsEnvironment(name) {
  if (process.env.npm_lifecycle_event === undefined) return process.env;
  const kept = Object.entries(process.env).filter(([key]) => !/^(npm_|INIT_CWD$|NODE$)/.test(key));
  const path = (process.env.PATH ?? "").split(delimiter).filter((dir) => !/(node_modules[\\/]\.bin|node-gyp-bin)$/.test(dir));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter), PIMCP_NPM: JSON.stringify({ script: name, kept: npmSettings() }) };
}

/** What npm took for settings of its own, flags of the program that were typed without `--` among them (local-agent/cli/npm-call.ts). */
function npmSettings() {
  const settings = Object.entries(process.env).filter(([key]) => key.startsWith("npm_config_"));
  return settings.map(([key, value]) => {
    const name = key.slice("npm_config_".length).replaceAll("_", "-");
    return value === "" ? `no-${name}` : name;
  });
}

function requireBrowser() {
  const named = process.env.CHROMIUM;
  const places = named === undefined ? browserCandidates() : [named];
  const found = places.find((path) => existsSync(path));
  if (found === undefined)
    throw new Stop("No Chromium found: install one (Debian: apt-get install chromium), or set CHROMIUM to the path of a Chromium or Chrome.", 2);
  env.CHROMIUM = found;
}

function browserCandidates() {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const onPath = (process.env.PATH ?? "").split(delimiter).flatMap((dir) => names.map((name) => join(dir, name)));
  return [...onPath, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"];
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const sentence = error instanceof Stop ? error.message : incomplete(error);
  if (sentence === undefined) throw error;
  say(sentence);
  process.exitCode = error.exitCode ?? 1;
}
