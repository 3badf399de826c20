/** The package as its user gets it: packed, installed from the registry into an empty folder, and used with that installation alone. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { isBuiltin } from "node:module";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callTool, said } from "../support/agent-requests.ts";
import { builtPackage, piPlace, runPi } from "../support/pi-program.ts";
import { newHome, startPimcp } from "../support/pimcp.ts";
import { blackPng } from "../support/png.ts";

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

let folder: string;
let installed: string;
let manifest: Manifest;
let needed: readonly string[];
let nodes: { readonly current: string; readonly oldest: string };
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-relay-installed-")));
  mkdirSync(join(folder, "tmp"));
  const tarball = npm(builtPackage(), "pack", "--ignore-scripts", "--silent", "--pack-destination", folder).trim();
  npm(emptyProject("user"), "install", "--omit=dev", ...QUICKLY, join(folder, tarball));
  installed = join(folder, "user/node_modules/pi-relay");
  manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as Manifest;
  needed = await packagesThatAreImported(installed);
  npm(emptyProject("oldest"), "install", ...QUICKLY, `node@${oldestNode(manifest)}`);
  nodes = { current: process.execPath, oldest: join(folder, "oldest/node_modules/node/bin/node") };
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of its compiler for extensions, and of Node's for Pi itself. */
const CACHES_OF_PI = new Set(["jiti", "node-compile-cache"]);
const QUICKLY = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", timeout: 180_000 });
}

function emptyProject(name: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, type: "module", allowScripts: { node: true } }));
  return place;
}

/** `>=22.19` → `22.19.0` */
function oldestNode({ engines }: Manifest): string {
  const [, minimum] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
  if (minimum === undefined) throw new Error(`engines.node is not one minimum: ${engines.node}`);
  return `${minimum}.0`;
}

/** Names that what is shipped for Node imports, now or later, and does not bring with it. */
async function packagesThatAreImported(root: string): Promise<readonly string[]> {
  const shipped = readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.m?js$/.test(file) && !/^(ui|worker)\b/.test(file))
    .map((file) => join(root, "dist", file));
  const { metafile } = await build({
    entryPoints: shipped,
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    write: false,
    metafile: true,
    outdir: root,
    logLevel: "error",
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const external = imports.flatMap(({ path, external: isExternal }) => (isExternal === true && !path.startsWith("node:") ? [path] : []));
  return [...new Set(external)].toSorted();
}

describe.each(["current", "oldest"] as const)("with the %s Node that engines allows", (which) => {
  const environment = (): NodeJS.ProcessEnv => ({
    PATH: [dirname(nodes[which]), process.env["PATH"]].join(delimiter),
    TMPDIR: join(folder, "tmp"),
  });

  test("[EE24] npm's own link runs the program, which knows its version and reads the configuration", async () => {
    await using home = newHome({ ".mcp.json": JSON.stringify({ mcpServers: { good: { command: "good" } } }) });
    const pimcp = (...args: readonly string[]) => {
      const options = { cwd: home.root, env: { ...home.env, ...environment() }, encoding: "utf8", timeout: 30_000 } as const;
      return spawnSync(join(folder, "user/node_modules/.bin/pimcp"), args, options);
    };
    expect(pimcp("--version")).toMatchObject({ stdout: `${manifest.version}\n`, stderr: "", status: 0 });
    const { stdout, stderr, status } = pimcp("config", "--json");
    expect([stderr, status]).toEqual(["", 0]);
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: "good" }], warnings: [] });
    await home.expectNothingLeft();
  });

  test("[PI8] [PI9] every entry, and every package that some part of it imports later, is there to be imported", async () => {
    await using home = newHome();
    const entries = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json");
    const asked = entries.map((entry) => `pi-relay${entry.slice(1)}`);
    const program = `
      const names = await Promise.all(${JSON.stringify(asked)}.map(async (name) => Object.keys(await import(name))));
      process.stdout.write(names.map(({ length }) => length > 0).join());
    `;
    writeFileSync(join(folder, "user/program.mjs"), program);
    const later = join(installed, "imports-later.mjs");
    writeFileSync(later, `for (const name of ${JSON.stringify(needed)}) await import(name);`);
    const run = (file: string) => spawnSync(nodes[which], [file], { env: { ...home.env, ...environment() }, encoding: "utf8", timeout: 30_000 });
    expect(run(join(folder, "user/program.mjs"))).toMatchObject({ stdout: entries.map(() => true).join(), stderr: "", status: 0 });
    expect(run(later)).toMatchObject({ stderr: "", status: 0 });
    rmSync(later);
  });

  test("[PI9] [EE24] the agent starts with a relay of its own, searches files, and shows a picture that has to be made smaller", async () => {
    await using agent = await startPimcp({
      files: { "a.txt": "a needle\n", "large.png": blackPng(3000, 100) },
      env: environment(),
      installed: { node: nodes[which], program: join(folder, "user/node_modules/.bin/pimcp") },
    });
    expect(said(await callTool(agent, "grep", { pattern: "needle" }))).toContain("a.txt:1: a needle");
    expect(said(await callTool(agent, "read", { path: "large.png" }))).toMatch(/3000x100.*2000x67.*\n\[image\/png\]/s);
    expect(await agent.stop()).toBe(0);
  });

  test("[PI9] the real Pi loads the extension and skill from there and calls a tool in print mode", async () => {
    await using place = piPlace({ mcpServers: { good: { fixture: "good" } } });
    const prompt = 'mcp {"tool":"good_echo","args":{"text":"installed"}}';
    const { stdout } = await runPi(place, { mode: "print", prompt, extension: installed, node: nodes[which], env: environment() });
    expect(stdout).toBe("Done: installed\n");
    await place.home.expectNothingLeft();
  });

  test("[PI12] nothing of this stays in the place for temporary files", () => {
    expect(readdirSync(join(folder, "tmp")).filter((name) => !CACHES_OF_PI.has(name))).toEqual([]);
  });
});

test("[PI9] what it imports is what its manifest names, each by itself", () => {
  expect(needed.length).toBeGreaterThan(0);
  expect(needed.filter((name) => manifest.dependencies[name] === undefined && !isBuiltin(name))).toEqual([]);
});
