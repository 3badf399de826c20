import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempDir } from "../../support/temp-dir.ts";
import { waitUntil } from "../../support/wait-until.ts";

const repository = join(import.meta.dirname, "../../..");

/** What stands for the agent: tells how it was started, then lives until its channel closes or a signal comes. */
const AGENT = `
  import { writeFileSync } from "node:fs";
  writeFileSync(process.env.REPORT, JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), npm: process.env.PIMCP_NPM, node: process.execPath, pid: process.pid }));
  if (process.argv.includes("--exit")) process.exit(7);
  process.on("disconnect", () => { writeFileSync(process.env.REPORT + ".ended", "disconnect"); process.exit(0); });
  process.on("SIGINT", () => { writeFileSync(process.env.REPORT + ".ended", "SIGINT"); process.exit(0); });
  setTimeout(() => process.exit(9), 30_000);
`;

/** A checkout with the real scripts, a build that counts how often it ran, and nothing to install. */
function checkout(): string {
  const dir = tempDir("checkout");
  cpSync(join(repository, "scripts/run.mjs"), join(dir, "scripts/run.mjs"));
  cpSync(join(repository, "scripts/run"), join(dir, "scripts/run"), { recursive: true });
  const lock = JSON.stringify({
    packages: { "": {}, "node_modules/a": { version: "1.0.0" }, "node_modules/b": { version: "1.0.0", optional: true } },
  });
  for (const path of ["node_modules/.bin", "shared", "worker"]) mkdirSync(join(dir, path), { recursive: true });
  writeFileSync(join(dir, "package.json"), JSON.stringify({ name: "checkout", type: "module", scripts: { start: "node scripts/run.mjs start" } }));
  writeFileSync(join(dir, "package-lock.json"), lock);
  writeFileSync(join(dir, "node_modules/.package-lock.json"), JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }));
  writeFileSync(join(dir, "wrangler.toml"), "");
  writeFileSync(join(dir, "shared/source.ts"), "");
  symlinkSync(process.execPath, join(dir, "node_modules/.bin/node"));
  const build = `import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
    mkdirSync("dist", { recursive: true });
    appendFileSync("builds", "x");
    await new Promise((resolve) => setTimeout(resolve, 300));
    writeFileSync("dist/pimcp.mjs", ${JSON.stringify(AGENT)});`;
  writeFileSync(join(dir, "scripts/build.mjs"), build);
  return dir;
}

interface Started {
  readonly process: ChildProcess;
  readonly exit: Promise<number | null>;
  readonly stderr: () => string;
}

function start(
  dir: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly report?: string; readonly node?: string } = {},
): Started {
  const { npm_lifecycle_event: _event, INIT_CWD: _cwd, ...clean } = process.env;
  const env = { ...clean, REPORT: options.report ?? join(dir, "report"), ...options.env };
  const child = spawn(options.node ?? process.execPath, [join(dir, "scripts/run.mjs"), ...args], {
    cwd: options.cwd ?? dir,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return { process: child, exit: new Promise((resolve) => child.once("close", resolve)), stderr: () => stderr };
}

interface Report {
  readonly args: string[];
  readonly cwd: string;
  readonly npm?: string;
  readonly node: string;
  readonly pid: number;
}

const reportOf = (dir: string, name = "report"): Report => JSON.parse(readFileSync(join(dir, name), "utf8")) as Report;
const builds = (dir: string): number => readFileSync(join(dir, "builds"), "utf8").length;
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("[ST30] arguments reach the program as they were given, and its exit code comes back", async () => {
  const dir = checkout();
  const args = ["--root", "a dir/with 'quotes'", "--tools=", "$HOME", "--exit"];
  expect(await start(dir, ["start", ...args]).exit).toBe(7);
  expect(reportOf(dir).args).toEqual(args);
  await start(dir, ["deploy", "--dry-run", "--exit"]).exit;
  expect(reportOf(dir).args).toEqual(["deploy", "--dry-run", "--exit"]);
});

test("[ST30] npm's settings are handed on by name, so that a flag typed without -- can be told", async () => {
  const dir = checkout();
  const env = { npm_lifecycle_event: "start", npm_config_root: "true", npm_config_ui_port: "9", npm_config_oauth: "" };
  await start(dir, ["start", "../x", "--exit"], { env }).exit;
  expect(JSON.parse(reportOf(dir).npm ?? "")).toMatchObject({
    script: "start",
    kept: expect.arrayContaining(["root", "ui-port", "no-oauth"]) as string[],
  });
});

/** The machine's own Node of that major version, if it has one. */
function machinesNode(major: number): string | undefined {
  const dirs = (process.env["PATH"] ?? "").split(delimiter).filter((dir) => dir !== "" && !/node_modules[\\/]/.test(dir));
  return dirs
    .map((dir) => join(dir, "node"))
    .find((path) => existsSync(path) && spawnSync(path, ["--version"], { encoding: "utf8", timeout: 5000 }).stdout?.startsWith(`v${major}.`));
}

test("[ST36] Node 20 sets a checkout up, and everything then runs on the pinned one", async (context) => {
  const node = machinesNode(20);
  if (node === undefined) return context.skip("there is no Node 20 on this machine's PATH");
  const dir = checkout();
  writeFileSync(
    join(dir, "scripts/build.mjs"),
    `${readFileSync(join(dir, "scripts/build.mjs"), "utf8")}\nwriteFileSync("built-by", process.execPath);`,
  );
  expect(await start(dir, ["start", "--exit"], { node }).exit).toBe(7);
  const pinned = realpathSync(process.execPath);
  expect([readFileSync(join(dir, "built-by"), "utf8"), reportOf(dir).node].map((path) => realpathSync(path))).toEqual([pinned, pinned]);
});

test("[ST30] arguments with spaces and what a shell would read reach a tool of a package unchanged", async () => {
  const dir = checkout();
  mkdirSync(join(dir, "node_modules/vitest"), { recursive: true });
  writeFileSync(join(dir, "node_modules/vitest/package.json"), '{"type":"module","bin":{"vitest":"./entry.mjs"}}');
  writeFileSync(join(dir, "node_modules/vitest/entry.mjs"), AGENT);
  const args = ["-t", "a title & 'more' %PATH% $HOME", "--exit"];
  expect(await start(dir, ["test", ...args]).exit).toBe(7);
  expect(reportOf(dir).args).toEqual(["run", "--project", "node", "--project", "workerd", ...args]);
});

test("[ST31] builds only when a source changed", async () => {
  const dir = checkout();
  await start(dir, ["start", "--exit"]).exit;
  await start(dir, ["start", "--exit"]).exit;
  expect(builds(dir)).toBe(1);
  utimesSync(join(dir, "shared/source.ts"), new Date(), new Date(Date.now() + 5000));
  await start(dir, ["start", "--exit"]).exit;
  expect(builds(dir)).toBe(2);
});

test("[ST8] [ST31] a question for help or version is answered without installing or building", async () => {
  const dir = checkout();
  for (const part of ["local-agent", "shared"]) cpSync(join(repository, part), join(dir, part), { recursive: true });
  writeFileSync(join(dir, "package.json"), JSON.stringify({ type: "module", version: "9.8.7" }));
  rmSync(join(dir, "node_modules"), { recursive: true });
  const answers = await Promise.all(
    [
      ["start", "--help"],
      ["start", "--version"],
      ["deploy", "--help"],
    ].map(async (args) => {
      const run = start(dir, args);
      let stdout = "";
      run.process.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      return [await run.exit, run.stderr(), stdout];
    }),
  );
  expect(answers).toEqual([
    [0, "", expect.stringContaining("pimcp 9.8.7")],
    [0, "", "9.8.7\n"],
    [0, "", expect.stringContaining("Usage: npm run deploy")],
  ]);
  expect(existsSync(join(dir, "builds"))).toBe(false);
});

test("[ST31] installs when the lock file and what is installed differ, with npm's output off stdout", async () => {
  const dir = checkout();
  writeFileSync(join(dir, "npm-cli.js"), 'require("node:fs").writeFileSync("npm-called", process.argv.slice(2).join(" ")); console.log("noise");');
  const env = { npm_execpath: join(dir, "npm-cli.js") };
  await start(dir, ["start", "--exit"], { env }).exit;
  expect(existsSync(join(dir, "npm-called"))).toBe(false);
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ packages: { "node_modules/a": { version: "2.0.0" } } }));
  writeFileSync(join(dir, "package.json"), '{"type":"commonjs"}');
  writeFileSync(join(dir, "scripts/package.json"), '{"type":"module"}');
  const run = start(dir, ["start", "--exit"], { env });
  let stdout = "";
  run.process.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  await run.exit;
  expect(readFileSync(join(dir, "npm-called"), "utf8")).toContain("ci --no-audit");
  expect([stdout, run.stderr().includes("noise")]).toEqual(["", true]);
});

test("[ST32] starts at the same moment build once and all work", async () => {
  const dir = checkout();
  const runs = [1, 2, 3].map((n) => start(dir, ["start", "--exit"], { report: join(dir, `report${n}`) }));
  expect(await Promise.all(runs.map((run) => run.exit))).toEqual([7, 7, 7]);
  expect(builds(dir)).toBe(1);
});

test("[ST32] a set-up that was killed does not block the next one", async () => {
  const dir = checkout();
  const killed = start(dir, ["start", "--exit"]);
  await waitUntil("it builds", () => existsSync(join(dir, "builds")));
  killed.process.kill("SIGKILL");
  await killed.exit;
  expect(await start(dir, ["start", "--exit"]).exit).toBe(7);
});

/** What stands for npm: says that it began, heeds no signal, and starts a program that does neither. */
function stubbornNpm(dir: string): NodeJS.ProcessEnv {
  const sleeper = 'process.on("SIGINT", () => {}); setTimeout(() => {}, 30000);';
  writeFileSync(
    join(dir, "npm-cli.cjs"),
    `const { spawn } = require("node:child_process");
     const below = spawn(process.execPath, ["-e", ${JSON.stringify(sleeper)}], { stdio: "ignore" });
     process.on("SIGINT", () => {}); process.on("SIGTERM", () => {});
     require("node:fs").writeFileSync("npm-began", process.pid + " " + below.pid);
     setTimeout(() => {}, 30000);`,
  );
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ packages: { "node_modules/a": { version: "2.0.0" } } }));
  return { npm_execpath: join(dir, "npm-cli.cjs") };
}

async function npmProcesses(dir: string): Promise<readonly number[]> {
  await waitUntil("npm runs", () => existsSync(join(dir, "npm-began")));
  const pids = readFileSync(join(dir, "npm-began"), "utf8").split(" ").map(Number);
  onTestFinished(() => pids.filter(isAlive).forEach((pid) => process.kill(pid, "SIGKILL")));
  return pids;
}

/** A package lock that nothing has to be installed for. */
const settle = (dir: string): void =>
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }));

test.skipIf(process.platform === "win32")(
  "[ST32] an install that outlives its killed start is ended before the next one touches the checkout",
  async () => {
    const dir = checkout();
    const killed = start(dir, ["start"], { env: stubbornNpm(dir) });
    const orphans = await npmProcesses(dir);
    killed.process.kill("SIGKILL");
    await waitUntil("it is dead", () => killed.process.signalCode !== null);
    expect(orphans.map(isAlive)).toEqual([true, true]);
    settle(dir);
    const next = start(dir, ["start", "--exit"]);
    expect(await next.exit).toBe(7);
    expect(next.stderr()).toContain(`Ending what a killed set-up left running (process ${orphans[0]}).\n`);
    await waitUntil("nothing of it is left", () => !orphans.some(isAlive));
  },
);

test.skipIf(process.platform === "win32")("[ST33] Ctrl-C during an install is answered at once and ends all of it within two seconds", async () => {
  const dir = checkout();
  const run = start(dir, ["start"], { env: stubbornNpm(dir) });
  const pids = await npmProcesses(dir);
  const startedAt = performance.now();
  run.process.kill("SIGINT");
  run.process.kill("SIGINT");
  expect(await run.exit).toBe(130);
  expect(performance.now() - startedAt).toBeLessThan(2500);
  expect(run.stderr()).toMatch(/^Installing .*\nStopping …\n$/);
  await waitUntil("nothing of it is left", () => !pids.some(isAlive));
});

test("[ST31] what npm lists as installed but is not there is installed", async () => {
  const dir = checkout();
  const packages = { "node_modules/node": { version: "24.0.0" } };
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ packages }));
  writeFileSync(join(dir, "node_modules/.package-lock.json"), JSON.stringify({ packages }));
  rmSync(join(dir, "node_modules/.bin/node"));
  writeFileSync(join(dir, "npm-cli.cjs"), `require("node:fs").symlinkSync(${JSON.stringify(process.execPath)}, "node_modules/.bin/node");`);
  expect(await start(dir, ["start", "--exit"], { env: { npm_execpath: join(dir, "npm-cli.cjs") } }).exit).toBe(7);
});

test("[ST35] a node_modules with holes is one sentence", async () => {
  const dir = checkout();
  rmSync(join(dir, "node_modules/.bin/node"));
  const run = start(dir, ["start"]);
  expect(await run.exit).toBe(1);
  expect(run.stderr()).toMatch(/\nnode_modules is incomplete \(.*node is missing\): remove it and run this again\.\n$/);
});

test("[ST33] a signal is handed on", async () => {
  const dir = checkout();
  const run = start(dir, ["start"]);
  await waitUntil("it runs", () => existsSync(join(dir, "report")));
  run.process.kill("SIGINT");
  expect(await run.exit).toBe(0);
  expect(readFileSync(join(dir, "report.ended"), "utf8")).toBe("SIGINT");
});

test("[ST33] killed, it takes the program with it", async () => {
  const dir = checkout();
  const run = start(dir, ["start"]);
  await waitUntil("it runs", () => existsSync(join(dir, "report")));
  const { pid } = reportOf(dir);
  run.process.kill("SIGKILL");
  await waitUntil("the program is gone", () => !isAlive(pid));
  expect(readFileSync(join(dir, "report.ended"), "utf8")).toBe("disconnect");
});

test("[ST33] a killed npm takes the program with it", async () => {
  const dir = checkout();
  const env = { ...process.env, REPORT: join(dir, "report") };
  const npm = spawn("npm", ["start"], { cwd: dir, env, stdio: "ignore" });
  onTestFinished(() => void npm.kill("SIGKILL"));
  await waitUntil("it runs", () => existsSync(join(dir, "report")));
  const { pid } = reportOf(dir);
  npm.kill("SIGKILL");
  await waitUntil("the program is gone", () => !isAlive(pid));
  expect(isAlive(pid)).toBe(false);
});

test("[ST34] under npm, relative paths mean the directory where the person typed", async () => {
  const dir = checkout();
  const elsewhere = tempDir();
  await start(dir, ["start", "--exit"], { env: { npm_lifecycle_event: "start", INIT_CWD: elsewhere } }).exit;
  expect(reportOf(dir).cwd).toBe(elsewhere);
  await start(dir, ["start", "--exit"], { cwd: elsewhere }).exit;
  expect(reportOf(dir).cwd).toBe(elsewhere);
  await start(dir, ["start", "--exit"], { env: { npm_lifecycle_event: "test", INIT_CWD: elsewhere } }).exit;
  expect(reportOf(dir).cwd).toBe(dir);
});

test("[ST35] an unknown target is one sentence with the ones there are", async () => {
  const run = start(checkout(), ["strat"]);
  expect(await run.exit).toBe(2);
  expect(run.stderr()).toMatch(/^There is no target "strat": choose one of start, deploy, test, .*\.\n$/);
});

test("[ST35] a failing build is one sentence, and nothing is started", async () => {
  const dir = checkout();
  writeFileSync(join(dir, "scripts/build.mjs"), "process.exit(3)");
  const run = start(dir, ["start"]);
  expect(await run.exit).toBe(1);
  expect(run.stderr()).toBe("Building.\nThe build failed (exit code 3): see its output above.\n");
});

test("[ST35] a program that cannot be started is one sentence", async () => {
  const dir = checkout();
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ packages: { "node_modules/a": { version: "2.0.0" } } }));
  const run = start(dir, ["start"], { env: { npm_execpath: "", PATH: dir } });
  expect(await run.exit).toBe(1);
  expect(run.stderr()).toMatch(/\nnpm could not be started \(ENOENT\): is it installed\?\n$/);
});
