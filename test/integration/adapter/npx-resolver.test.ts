import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createNpxResolver, type Program } from "../../../local-agent/node/npx-resolver.ts";
import { createProcessGroups } from "../../../local-agent/node/process-groups.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { waitUntil } from "../../support/wait-until.ts";

const signal = new AbortController().signal;

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly bin?: unknown;
  readonly files?: Readonly<Record<string, string>>;
}

function npmWorld(npmScript = "exit 1") {
  const home = tempDir("home");
  const cwd = tempDir("project");
  const cache = join(home, ".npm");
  const bin = tempDir("bin");
  const log = join(bin, "log");
  writeFileSync(log, "");
  writeFileSync(join(bin, "npm"), `#!/bin/sh\necho "$@" >> ${log}\n${npmScript}\n`);
  chmodSync(join(bin, "npm"), 0o755);
  const env = { HOME: home, PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  const resolver = createNpxResolver({ env, home, platform: "linux", groups: createProcessGroups(systemTimers), timers: systemTimers });
  let age = 1_000_000;
  return {
    cwd,
    cache,
    npmCalls: () =>
      readFileSync(log, "utf8")
        .trim()
        .split("\n")
        .filter((line) => line !== ""),
    /** Later ones are newer. */
    install: ({ name, version, bin: programs = "main.js", files = { "main.js": "" } }: Installed, root = join(cache, "_npx", `h${age}`)): string => {
      const folder = join(root, "node_modules", name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, bin: programs }));
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), text, { mode: 0o755 });
      }
      utimesSync(root, (age += 1), age);
      return folder;
    },
    resolve: (command: string, args: readonly string[], apart: string | null = null, cancelled = signal): Promise<Program> =>
      resolver.resolve({ command, args }, { env, cwd, signal: cancelled, apart }),
  };
}

test("[UT50] an npx call becomes the program npm has cached, with its arguments as they are", async () => {
  const { install, resolve, npmCalls } = npmWorld();
  const folder = install({ name: "@scope/tool", version: "1.0.0" });
  const main = join(folder, "main.js");
  expect(await resolve("npx", ["-y", "@scope/tool@1.0.0", "--", "--flag", "a b"])).toEqual({ command: "node", args: [main, "--", "--flag", "a b"] });
  expect(await resolve("npx", ["--yes", "--", "@scope/tool", "x"])).toEqual({ command: "node", args: [main, "x"] });
  expect(await resolve("npx", ["--package=@scope/tool", "tool", "x"])).toEqual({ command: "node", args: [main, "x"] });
  expect(await resolve("/usr/bin/npm", ["exec", "-p", "@scope/tool", "--", "tool"])).toEqual({ command: "node", args: [main] });
  expect(npmCalls()).toEqual([]);
});

test("[UT51] an exact version is that one, whatever else is cached; the newest entry serves a tag, or a range it is in", async () => {
  const { install, resolve } = npmWorld();
  const first = install({ name: "@scope/pkg", version: "1.4.0" });
  const own = (folder: string) => ({ command: "node", args: [join(folder, "main.js")] });
  const call = (spec: string) => resolve("npx", [`@scope/pkg${spec}`]);
  expect(await call("@3.0.0")).toEqual({ command: "npx", args: ["@scope/pkg@3.0.0"] });
  expect(await call("")).toEqual(own(first));
  const second = install({ name: "@scope/pkg", version: "2.0.0" });
  expect(await call("@2.0.0")).toEqual(own(second));
  expect(await call("@1.4.0")).toEqual(own(first));
  expect(await call("@^1.2.0")).toEqual(own(first));
  expect(await call("@1")).toEqual(own(first));
  expect(await call("@latest")).toEqual(own(second));
  expect(await call("")).toEqual(own(second));
  expect(await call("@~1.3.0")).toEqual({ command: "npx", args: ["@scope/pkg@~1.3.0"] });
});

test("[UT52] what is not cached is fetched once without being run; when that fails the call stays as it is and is not tried again", async () => {
  const { resolve, npmCalls } = npmWorld();
  const call = { command: "npx", args: ["-y", "absent@1.0.0", "x"] };
  expect(await resolve(call.command, call.args)).toEqual(call);
  expect(await resolve(call.command, call.args)).toEqual(call);
  expect(npmCalls()).toEqual(["exec --yes --package absent@1.0.0 -- node -e 1"]);
});

test("[UT52] what is fetched without a program in it is not fetched again", async () => {
  const { resolve, npmCalls } = npmWorld("exit 0");
  const call = { command: "npx", args: ["-y", "library@1.0.0"] };
  expect(await resolve(call.command, call.args)).toEqual(call);
  expect(await resolve(call.command, call.args)).toEqual(call);
  expect(npmCalls()).toHaveLength(1);
});

test("[UT52] a fetch that was cancelled is made again", async () => {
  const { resolve, npmCalls } = npmWorld("exec sleep 60");
  const call = { command: "npx", args: ["-y", "slow@1.0.0"] };
  for (const calls of [1, 2]) {
    const cancelling = new AbortController();
    const resolved = resolve(call.command, call.args, null, cancelling.signal);
    await waitUntil("npm runs", () => npmCalls().length === calls);
    cancelling.abort();
    expect(await resolved).toEqual(call);
  }
});

test("[UT52] what was fetched is used", async () => {
  const prepared = npmWorld();
  prepared.install({ name: "late", version: "3.0.0" });
  const { cache, resolve, npmCalls } = npmWorld(`cp -r ${prepared.cache} "$HOME/.npm"`);
  const { command, args } = await resolve("npx", ["late@3.0.0", "x"]);
  expect([command, args.at(-1)]).toEqual(["node", "x"]);
  expect(args[0]).toMatch(new RegExp(`^${cache}/_npx/.*/late/main.js$`));
  expect(npmCalls()).toHaveLength(1);
});

test.each([
  ["another flag", ["-c", "echo a"]],
  ["a flag after -y", ["-y", "--registry=https://example.com", "tool"]],
  ["a repository", ["github:someone/tool"]],
  ["a path", ["./tool"]],
  ["an archive", ["https://example.com/tool.tgz"]],
  ["a range that is not plain", ["tool@>=1 <3"]],
  ["a range with one bound", ["tool@>=1"]],
  ["nothing", []],
])("[UT53] a call with %s is left to npm", async (_what, args) => {
  const { install, resolve, npmCalls } = npmWorld();
  install({ name: "tool", version: "1.0.0" });
  expect(await resolve("npx", args)).toEqual({ command: "npx", args });
  expect(npmCalls()).toEqual([]);
});

test("[UT53] another command is left alone, and so is what the project itself has installed", async () => {
  const { cwd, install, resolve } = npmWorld();
  install({ name: "tool", version: "1.0.0" });
  expect(await resolve("node", ["tool"])).toEqual({ command: "node", args: ["tool"] });
  install({ name: "tool", version: "1.0.0" }, cwd);
  expect(await resolve("npx", ["tool"])).toEqual({ command: "npx", args: ["tool"] });
});

test("[UT55] for a server of the account's own, neither what the project has installed nor its settings of npm count", async () => {
  const { cwd, install, resolve, npmCalls } = npmWorld();
  const apart = join(tempDir("state"), "npm");
  const folder = install({ name: "tool", version: "1.0.0" });
  install({ name: "tool", version: "1.0.0" }, cwd);
  expect(await resolve("npx", ["tool"], apart)).toEqual({ command: "node", args: [join(folder, "main.js")] });
  expect(await resolve("npx", ["-y", "tool@2.0.0"], apart)).toEqual({ command: "npx", args: ["--prefix", apart, "-y", "tool@2.0.0"] });
  expect(npmCalls()).toEqual([`--prefix ${apart} exec --yes --package tool@2.0.0 -- node -e 1`]);
  expect(await resolve("npx", ["-c", "tool"], apart)).toEqual({ command: "npx", args: ["--prefix", apart, "-c", "tool"] });
  expect(await resolve("npm", ["exec", "--", "./tool"], apart)).toEqual({ command: "npm", args: ["--prefix", apart, "exec", "--", "./tool"] });
  expect(await resolve("node", ["tool"], apart)).toEqual({ command: "node", args: ["tool"] });
  expect(statSync(apart).mode & 0o777).toBe(0o700);
});

test("[UT54] the program is the one of the package's name, or the one asked for; a node script is run by node, another one itself", async () => {
  const { install, resolve } = npmWorld();
  const folder = install({
    name: "many",
    version: "1.0.0",
    bin: { many: "a/one", other: "two", native: "three" },
    files: { "a/one": "#!/usr/bin/env node\n", two: "#!/usr/bin/env -S node --no-warnings\n", three: "#!/bin/sh\n" },
  });
  expect(await resolve("npx", ["many"])).toEqual({ command: "node", args: [join(folder, "a/one")] });
  expect(await resolve("npx", ["-p", "many", "other", "x"])).toEqual({ command: "node", args: [join(folder, "two"), "x"] });
  expect(await resolve("npx", ["-p", "many", "native"])).toEqual({ command: join(folder, "three"), args: [] });
});

test("[UT54] a manifest cannot name a file outside its package, nor can a link", async () => {
  const { install, resolve } = npmWorld();
  const outside = join(tempDir(), "evil.js");
  writeFileSync(outside, "");
  install({ name: "up", version: "1.0.0", bin: "../../../evil.js" });
  const folder = install({ name: "link", version: "1.0.0", bin: "linked.js", files: {} });
  symlinkSync(outside, join(folder, "linked.js"));
  expect(await resolve("npx", ["up"])).toEqual({ command: "npx", args: ["up"] });
  expect(await resolve("npx", ["link"])).toEqual({ command: "npx", args: ["link"] });
});
