import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readDeployArguments } from "../../../local-agent/cli/deploy-arguments.ts";
import { deploy } from "../../../local-agent/cli/deploy.ts";
import { wranglerCommand } from "../../../local-agent/cli/wrangler.ts";
import { preparePrivateDirectory } from "../../../local-agent/daemon/config-dir.ts";
import { findInstallation } from "../../../local-agent/daemon/installation.ts";
import { chooseRelay } from "../../../local-agent/daemon/relay-target.ts";
import type { Mode } from "../../../local-agent/daemon/settings.ts";
import { tempDir } from "../../support/temp-dir.ts";

const packageRoot = join(import.meta.dirname, "../../..");

interface Recorded {
  readonly args: readonly string[];
  readonly input: string;
  readonly metrics: string;
}

/** A settings directory and a wrangler that records; `run` is one `npm run deploy -- …`. */
function account() {
  const dir = tempDir("deploy");
  const record = join(dir, "record");
  const config = join(dir, "config");
  writeFileSync(record, "");
  let shown = "";
  return {
    config,
    shown: () => shown,
    calls: (): readonly Recorded[] =>
      readFileSync(record, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Recorded),
    async run(args: readonly string[], env: Record<string, string> = {}) {
      const order = readDeployArguments(args, "npm run deploy --");
      if (!order.ok) throw new Error(order.error);
      const wrangler = { PIMCP_WRANGLER: join(packageRoot, "test/fixtures/recording-wrangler.mjs"), WRANGLER_RECORD: record };
      return deploy(order.value, {
        packageRoot,
        directories: { config, state: join(dir, "state") },
        env: { ...process.env, ...wrangler, ...env },
        show: (text) => (shown += text),
        signal: AbortSignal.timeout(20_000),
      });
    },
  };
}

const URL_PRINTED = { WRANGLER_SAYS: "Deployed pi-relay triggers\n  https://pi-relay.someone.workers.dev\nCurrent Version ID: 1" };
const plainStart: Mode & { kind: "relay" } = {
  kind: "relay",
  relay: null,
  workspace: null,
  keyFile: null,
  listen: { host: "127.0.0.1", port: 8777 },
  issuer: null,
  oauth: true,
  takeOver: false,
};

test("[ST40] the code is deployed and the key set, by stdin and never as an argument", async () => {
  const it = account();
  expect(await it.run([], URL_PRINTED)).toBe(0);
  const key = readFileSync(join(it.config, "agent-key"), "utf8").trim();
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(it.calls()).toEqual([
    { args: ["deploy"], input: "", metrics: "false" },
    { args: ["secret", "put", "AGENT_KEY"], input: key, metrics: "false" },
  ]);
  expect(it.shown()).not.toContain(key);
  expect(it.shown()).toMatch(/^Deploying the relay …\nSetting its agent key …\n\nThe relay is at /);
  expect(statSync(join(it.config, "agent-key")).mode & 0o777).toBe(0o600);
});

test("[ST41] a second deploy runs the same commands with the same key", async () => {
  const it = account();
  await it.run([], URL_PRINTED);
  await it.run([], URL_PRINTED);
  const calls = it.calls();
  expect(calls.slice(2)).toEqual(calls.slice(0, 2));
});

test("[ST42] a plain start dials what was deployed, with its key", async () => {
  const it = account();
  await it.run([], URL_PRINTED);
  expect(chooseRelay(plainStart, it.config)).toEqual({
    kind: "deployed",
    workspace: null,
    url: "https://pi-relay.someone.workers.dev",
    agentKey: it.calls()[1]!.input,
  });
});

test.for<[string, string[], Record<string, string>, string]>([
  ["wrangler's event file", [], { WRANGLER_TARGET: "https://mcp.example.com" }, "https://mcp.example.com"],
  ["--url", ["--url", "https://own.example/mcp"], URL_PRINTED, "https://own.example"],
])("[ST42] the address is taken from %s", async ([, args, env, url]) => {
  const it = account();
  await it.run(args, env);
  expect(chooseRelay(plainStart, it.config)).toMatchObject({ url });
});

test("[ST42] an address that nobody says is asked for, after the key is set", async () => {
  const it = account();
  await expect(it.run([])).rejects.toThrow("wrangler did not say at which address: run this command again with --url https://…");
  expect(it.calls()).toHaveLength(2);
});

test("[ST43] a key that could not be set is said, and nothing is remembered", async () => {
  const it = account();
  const failing = it.run([], {
    WRANGLER_FAILS: "secret put",
    WRANGLER_SAYS: "https://pi-relay.someone.workers.dev Authentication error [code: 10000]",
  });
  await expect(failing).rejects.toThrow(
    /^The relay is deployed but its agent key could not be set, so it refuses every agent until you run this command again\. Cloudflare refuses/,
  );
  expect(chooseRelay(plainStart, it.config).kind).toBe("embedded");
});

test.for([
  [
    "In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable",
    /^wrangler is not logged in to Cloudflare: run npx wrangler login/,
  ],
  ["Authentication error [code: 10000]", /^Cloudflare refuses these credentials/],
  ["More than one account available", /set CLOUDFLARE_ACCOUNT_ID/],
  ["You need to register a workers.dev subdomain", /has no workers\.dev subdomain yet/],
  ["getaddrinfo ENOTFOUND api.cloudflare.com", /^Cloudflare cannot be reached from here/],
  ["something new", /^wrangler deploy failed: its reason is printed above\.$/],
] as const)("[ST43] wrangler's failure is one sentence: %s", async ([says, sentence]) => {
  const it = account();
  await expect(it.run([], { WRANGLER_FAILS: "deploy", WRANGLER_SAYS: says })).rejects.toThrow(sentence);
  expect(it.calls()).toHaveLength(1);
  expect(existsSync(join(it.config, "agent-key"))).toBe(false);
});

test.for([
  ["Authentication error [code: 10000]", [], ""],
  ["More than one account available: \u001B[31mA\u001B[0m", [], "More than one account available: A\n"],
  ["something new", [], "something new\n"],
  ["Authentication error \u001B[31m[code: 10000]", ["--verbose"], "Authentication error [code: 10000]\n"],
] as const)("[ST43] of wrangler's output only what is needed is shown: %s with %o", async ([says, args, shown]) => {
  const it = account();
  await expect(it.run(args, { WRANGLER_FAILS: "deploy", WRANGLER_SAYS: says })).rejects.toThrow();
  expect(it.shown()).toBe(`Deploying the relay …\n${shown}`);
});

test("[ST12] an agent key that others can read is refused before anything is deployed", async () => {
  const it = account();
  preparePrivateDirectory(it.config);
  writeFileSync(join(it.config, "agent-key"), "k", { mode: 0o644 });
  await expect(it.run([], URL_PRINTED)).rejects.toThrow(/can be read by other accounts: run chmod 600/);
  expect(it.calls()).toEqual([]);
});

test("[ST43] without wrangler there is a sentence too", async () => {
  await expect(account().run([], { PIMCP_WRANGLER: "/nowhere/wrangler" })).rejects.toThrow("wrangler is not installed: run npm ci in the checkout");
});

test("[ST44] a dry run with the real wrangler prints bindings and a size within the budget, and touches nothing", async () => {
  const it = account();
  expect(await it.run(["--dry-run"], { PIMCP_WRANGLER: "", CLOUDFLARE_API_TOKEN: "" })).toBe(0);
  expect(it.shown()).toMatch(/^Your Worker has access[^]*WORKSPACE[^]*WorkspaceObject/);
  expect(it.shown()).toMatch(/The Worker's bundle: \d+\.\d KiB gzip, our own limit is 60\. Nothing was deployed\.\n$/);
  expect(it.shown()).not.toMatch(/Total Upload|wrangler|update/);
  expect(() => preparePrivateDirectory(it.config)).not.toThrow();
  expect(chooseRelay(plainStart, it.config).kind).toBe("embedded");
});

test("[ER1] the file of the embedded relay, just built, is what a checkout uploads, and nothing else", { timeout: 60_000 }, async () => {
  const { worker } = findInstallation(join(packageRoot, "dist/pimcp.mjs"));
  const uploaded = await uploadedFrom(packageRoot);
  expect(uploaded).toEqual({ names: ["index.js"], code: readFileSync(worker, "utf8") });
});

test("[ST44] from a package without sources, what is there is uploaded", { timeout: 60_000 }, async () => {
  const published = tempDir("package");
  for (const path of ["package.json", "wrangler.toml"]) cpSync(join(packageRoot, path), join(published, path));
  mkdirSync(join(published, "dist/worker"), { recursive: true });
  const code = 'import { DurableObject } from "cloudflare:workers";\nexport class WorkspaceObject extends DurableObject {}\nexport default {};\n';
  writeFileSync(join(published, "dist/worker/index.js"), code);
  expect(await uploadedFrom(published)).toEqual({ names: ["index.js"], code });
});

/** What `npx wrangler deploy` would upload from this directory. */
async function uploadedFrom(cwd: string) {
  const outdir = tempDir("uploaded");
  const [program, ...before] = wranglerCommand({ packageRoot, env: {} });
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };
  await promisify(execFile)(program, [...before, "deploy", "--dry-run", "--outdir", outdir], { cwd, env, timeout: 50_000 });
  return { names: readdirSync(outdir).filter((name) => name !== "README.md"), code: readFileSync(join(outdir, "index.js"), "utf8") };
}

test.for<[string, string]>([
  ["--dry-rum", "Unknown flag --dry-rum. Did you mean --dry-run? See npm run deploy -- --help."],
  ["--name A_b", '--name must be lower-case letters, digits and dashes, got "A_b".'],
  ["--name --env", '--name must be lower-case letters, digits and dashes, got "--env".'],
  ["--url http://x.example", '--url must be https: only a loopback address may be http, got "http://x.example".'],
  ["now", 'Unexpected argument "now". See npm run deploy -- --help.'],
])("[ST3] deploy %s is one sentence", ([line, sentence]) => {
  expect(readDeployArguments(line.split(" "), "npm run deploy --")).toEqual({ ok: false, error: sentence });
});

test("[ST40] a name is handed to both commands", async () => {
  const it = account();
  await it.run(["--name", "second-relay"], URL_PRINTED);
  expect(it.calls().map((call) => call.args.slice(-2))).toEqual([
    ["--name", "second-relay"],
    ["--name", "second-relay"],
  ]);
});
