/** A real tool host (the bundled child process) over a fresh directory. Closed when the test ends. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { findMarked } from "../../local-agent/tools/process-marker.ts";
import { createToolHost, type ToolHost, type ToolHostOptions } from "../../local-agent/tools/tool-host.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { ToolCall, ToolOutcome } from "../../shared/tool.ts";
import { tempDir } from "./temp-dir.ts";

const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");
const outdir = `node_modules/.cache/tool-host-${process.pid}`;
let built: Promise<string> | undefined;

/** Bundles the child as it is shipped; once per test process, removed when that ends. */
export function toolHostChild(): Promise<string> {
  built ??= bundle();
  return built;
}

async function bundle(): Promise<string> {
  process.once("exit", () => rmSync(join(repository, outdir), { recursive: true, force: true }));
  await promisify(execFile)(process.execPath, [join(repository, "scripts/build.mjs"), "--only=tool-host", `--outdir=${outdir}`], { timeout: 30_000 });
  return join(repository, outdir, "tool-host-child.mjs");
}

export interface ToolHostUnderTest {
  readonly host: ToolHost;
  /** Real path. */
  readonly root: string;
  readonly stateDir: string;
  readonly mark: string;
  readonly privateDir: string;
  readonly hostPid: () => number;
  readonly call: (name: string, args: JsonObject, more?: Partial<ToolCall>) => Promise<ToolOutcome>;
}

let calls = 0;

/** `files`: relative path → content; a path that ends in "/" is a directory. */
export async function toolHostUnderTest(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  more: Partial<ToolHostOptions> = {},
): Promise<ToolHostUnderTest> {
  const base = tempDir("tools");
  const root = join(base, "root");
  mkdirSync(root);
  writeTree(root, files);
  const stateDir = more.stateDir ?? join(base, "state");
  const before = existsSync(join(stateDir, "marks")) ? marksIn(stateDir) : [];
  const host = await createToolHost({
    childPath: await toolHostChild(),
    root,
    deny: [],
    closed: [],
    writeClosed: [],
    tools: undefined,
    secretEnv: [],
    log: silentLog,
    ...more,
    stateDir,
  });
  onTestFinished(() => host.close());
  const mark = marksIn(stateDir).find((candidate) => !before.includes(candidate)) ?? "";
  return {
    host,
    root,
    stateDir,
    mark,
    privateDir: privateDirOf(stateDir, mark),
    hostPid: () => {
      const [pid] = findMarked({ mark, label: "host" });
      if (pid === undefined) throw new Error("the tool host is not running"); // 0 would mean this whole process group to kill(2).
      return pid;
    },
    call: (name, args, extra) => host.call(toolCall(name, args, extra)),
  };
}

export function toolCall(name: string, args: JsonObject, more: Partial<ToolCall> = {}): ToolCall {
  calls += 1;
  return { name, args, callId: `test-${calls}`, signal: new AbortController().signal, onProgress: () => {}, ...more };
}

export function writeTree(base: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(path.endsWith("/") ? join(base, path) : dirname(join(base, path)), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(join(base, path), content);
  }
}

export function marksIn(stateDir: string): string[] {
  return readdirSync(join(stateDir, "marks")).map(
    (name) => (JSON.parse(readFileSync(join(stateDir, "marks", name), "utf8")) as { mark: string }).mark,
  );
}

export function privateDirOf(stateDir: string, mark: string): string {
  return (JSON.parse(readFileSync(join(stateDir, "marks", `${mark}.json`), "utf8")) as { privateDir: string }).privateDir;
}

export function textOf(outcome: ToolOutcome): string {
  return outcome.content.map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`)).join("\n");
}
