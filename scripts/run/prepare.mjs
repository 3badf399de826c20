// What has to be there before anything runs: dependencies and the build, each made again only when its inputs changed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runStep, wasAskedToEnd } from "./processes.mjs";
import { entryOf, npmCommand, pinnedNode } from "./programs.mjs";
import { say, Stop } from "./say.mjs";
import { noteWorker } from "./setup-lock.mjs";

/** Installs `dir`'s dependencies when there are none or package-lock.json changed. */
export async function ensureDependencies(dir, label) {
  const lock = join(dir, "package-lock.json");
  const stamp = join(dir, "node_modules", ".installed");
  const wanted = createHash("sha256").update(readFileSync(lock)).update(`${process.platform} ${process.arch}`).digest("hex");
  if (readText(stamp) === wanted) return;
  if (!isInstalled(dir, lock)) {
    say(`Installing ${label} (npm ci); this takes a minute the first time.`);
    const startedAt = performance.now();
    const npm = npmCommand({ env: process.env, node: process.execPath, platform: process.platform });
    const args = [...npm.slice(1), "ci", "--no-audit", "--no-fund", "--loglevel=error"];
    const code = await runStep(npm[0], args, { cwd: dir, env: process.env, onStart: noteWorker });
    if (wasAskedToEnd()) return;
    if (code !== 0) throw new Stop(`Installing ${label} failed (npm ci, exit code ${code}): see its output above; it needs the npm registry.`);
    say(`Installed ${label} in ${seconds(startedAt)}.`);
  }
  writeFileSync(stamp, wanted);
}

/** Whether node_modules, however it was made, holds exactly what the lock file asks for. npm keeps its own list there. */
function isInstalled(dir, lock) {
  const installed = parse(readText(join(dir, "node_modules", ".package-lock.json")));
  const wanted = parse(readText(lock));
  if (installed === undefined || wanted === undefined) return false;
  // An install that was killed can have left the list but not the programs.
  if (wanted.packages["node_modules/node"] !== undefined && !existsSync(pinnedNode(dir, process.platform))) return false;
  return Object.entries(wanted.packages).every(([path, entry]) => {
    const found = installed.packages[path];
    return (
      path === "" ||
      (found === undefined ? entry.optional === true || entry.devOptional === true || entry.peer === true : found.version === entry.version)
    );
  });
}

const BUILD_SCRIPTS = ["scripts/build.mjs", "scripts/worker-bundle.mjs", "scripts/provider-without-unused-roles.mjs"];
const BUILD_INPUTS = ["shared", "worker", "local-agent", "ui", ...BUILD_SCRIPTS, "package-lock.json", "wrangler.toml"];

/**
 * Whether `dist` is what the sources would give now.
 * @public bin/pimcp.mjs asks, by a name it makes at run time.
 */
export function isBuilt(root) {
  return readText(join(root, "dist", ".built-from")) === fingerprint(root);
}

/** Builds `dist` when a source is newer than, or other than, what it was built from. */
export async function ensureBuild(root, node, env, force = false) {
  const stamp = join(root, "dist", ".built-from");
  const wanted = fingerprint(root);
  if (!force && readText(stamp) === wanted) return;
  say("Building.");
  const startedAt = performance.now();
  const code = await runStep(node, [join(root, "scripts/build.mjs")], { cwd: root, env, onStart: noteWorker });
  if (wasAskedToEnd()) return;
  if (code !== 0) throw new Stop(`The build failed (exit code ${code}): see its output above.`);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  say(`Built in ${seconds(startedAt)}.`);
}

/** Names, sizes and times of the inputs: reading them all would cost more than the check is worth. */
function fingerprint(root) {
  const hash = createHash("sha256");
  const visit = (path) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isDirectory()) return void hash.update(`${path} ${found.size} ${found.mtimeMs}\n`);
    for (const name of readdirSync(join(root, path)).toSorted()) if (name !== "node_modules") visit(join(path, name));
  };
  for (const input of BUILD_INPUTS) visit(input);
  return hash.digest("hex");
}

/** wrangler's types of the Worker's runtime, made again when their inputs changed. Its bindings are worker/env.ts. */
export async function ensureWorkerTypes(root, node, env) {
  const types = join(root, ".types", "worker-configuration.d.ts");
  const inputs = ["wrangler.toml", "package-lock.json"].map((name) => statSync(join(root, name)).mtimeMs);
  const made = statSync(types, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (made > Math.max(...inputs)) return 0;
  mkdirSync(dirname(types), { recursive: true });
  return runStep(node, [entryOf(root, "wrangler"), "types", "--include-env=false", ".types/worker-configuration.d.ts"], {
    cwd: root,
    env: { ...env, WRANGLER_SEND_METRICS: "false" },
  });
}

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
