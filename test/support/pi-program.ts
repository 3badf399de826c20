/** The real Pi with the extension, in a home of its own: one run in print or JSON mode, or a session that is driven over RPC. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { type Home, newHome } from "./pimcp.ts";
import { fixtureCommand } from "./upstream-fixture.ts";
import { waitUntil } from "./wait-until.ts";

const repository = join(import.meta.dirname, "../..");

export type Json = Readonly<Record<string, unknown>>;

export interface PiPlace extends AsyncDisposable {
  readonly home: Home;
  /** Pi's own directory. */
  readonly agentDir: string;
  /** What the servers of `config` wrote. */
  readonly journal: (name: string) => string;
}

/** An entry of `mcp.json`, or a fixture to be started as one. */
export type PlacedServer = Json & { readonly fixture?: string; readonly flags?: readonly string[] };

/** @param config what `.mcp.json` of the project says; a fixture's name stands for its command */
export function piPlace(config: { readonly mcpServers: Readonly<Record<string, PlacedServer>>; readonly settings?: Json }): PiPlace {
  const home = newHome();
  const journal = (name: string): string => join(home.dir, `${name}.journal`);
  const mcpServers = Object.fromEntries(
    Object.entries(config.mcpServers).map(([name, { fixture, flags = [], ...entry }]) => [
      name,
      fixture === undefined ? entry : { ...fixtureCommand(fixture, "--journal", journal(name), ...flags), ...entry },
    ]),
  );
  const agentDir = join(home.dir, "pi");
  mkdirSync(agentDir);
  writeFileSync(join(home.root, ".mcp.json"), JSON.stringify({ ...config, mcpServers }));
  return { home, agentDir, journal, [Symbol.asyncDispose]: () => home.remove() };
}

/** The package as it is shipped, as Pi is told to load it. */
export function builtPackage(): string {
  return join(dirname(inject("program")), "..");
}

export interface PiStart {
  readonly mode: "print" | "json" | "rpc" | "tui";
  /** Several are said one after the other. */
  readonly prompt?: string | readonly string[];
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** In place of the package as it is shipped. */
  readonly extension?: string;
  /** In place of the Node of this test. */
  readonly node?: string;
}

export function piCommand(
  { home, agentDir }: PiPlace,
  { mode, prompt, args = [], env = {}, extension = builtPackage(), node = process.execPath }: PiStart,
): {
  readonly command: string;
  readonly args: string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
} {
  const model = ["-e", join(repository, "test/fixtures/obedient-model.ts"), "--model", "obedient/one"];
  const how = { print: ["-p"], json: ["--mode", "json"], rpc: ["--mode", "rpc"], tui: [] }[mode];
  return {
    command: node,
    args: [PI, ...how, "-e", extension, ...model, ...args, ...[prompt ?? []].flat()],
    cwd: home.root,
    env: { ...home.env, PI_OFFLINE: "1", PI_CODING_AGENT_DIR: agentDir, ...env },
  };
}

const PI = join(repository, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");

/** One run to its end. Throws when it ends with an error. */
export async function runPi(place: PiPlace, start: PiStart): Promise<{ readonly stdout: string; readonly events: readonly Json[] }> {
  const { command, args, cwd, env } = piCommand(place, { ...start, args: ["--no-session", ...(start.args ?? [])] });
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 40_000 });
  const stdout = gather(child.stdout);
  const stderr = gather(child.stderr);
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`pi ended with ${String(code)}: ${stderr()}\n${stdout().slice(-2000)}`);
  return { stdout: stdout(), events: start.mode === "json" ? parsed(stdout()) : [] };
}

/** What tools answered, in order: text and whether it is an error. */
export function toolEnds(
  events: readonly Json[],
): { readonly tool: string; readonly text: string; readonly isError: boolean; readonly details: Json }[] {
  return events.flatMap((event) => {
    if (event["type"] !== "tool_execution_end") return [];
    const { content, details } = event["result"] as { content: readonly { text?: string }[]; details: Json };
    return [
      {
        tool: String(event["toolName"]),
        text: content.map(({ text = "" }) => text).join("\n"),
        isError: event["isError"] === true,
        details,
      },
    ];
  });
}

export interface RpcPi extends AsyncDisposable {
  readonly events: readonly Json[];
  readonly child: ChildProcess;
  send(command: Json): void;
  /** Says something to the model and waits until Pi is idle again; gives what came meanwhile. */
  prompt(message: string): Promise<readonly Json[]>;
  /** The first event from `from` on that fits. */
  next(what: string, fits: (event: Json) => boolean, from?: number): Promise<Json>;
  /** Waits for a dialog with these words and answers it; gives the dialog. */
  answer(words: string, value: string | null): Promise<Json>;
  end(): Promise<void>;
}

export function openRpc(place: PiPlace, start: Omit<PiStart, "mode" | "prompt"> = {}): RpcPi {
  const { command, args, cwd, env } = piCommand(place, { mode: "rpc", ...start });
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const events: Json[] = [];
  const stderr = gather(child.stderr);
  const ended = new Promise((resolve) => child.once("close", resolve));
  let partial = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = `${partial}${chunk.toString()}`.split("\n");
    partial = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) events.push(JSON.parse(line) as Json);
  });
  const answered = new Set<unknown>();

  const pi: RpcPi = {
    events,
    child,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    async prompt(message) {
      const from = events.length;
      pi.send({ type: "prompt", message });
      await pi.next("agent_settled", ({ type }) => type === "agent_settled", from);
      return events.slice(from);
    },
    async next(what, fits, from = 0) {
      await waitUntil(`Pi says: ${what}`, () => events.slice(from).some(fits) || child.exitCode !== null, 20_000).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${stderr()}\n${JSON.stringify(events.slice(-5)).slice(0, 3000)}`);
      });
      const found = events.slice(from).find(fits);
      if (found === undefined) throw new Error(`Pi ended before: ${what}\n${stderr()}`);
      return found;
    },
    async answer(words, value) {
      const isIt = (event: Json): boolean =>
        event["type"] === "extension_ui_request" && !answered.has(event["id"]) && "title" in event && JSON.stringify(event).includes(words);
      const dialog = await pi.next(`a dialog with ${words}`, isIt);
      answered.add(dialog["id"]);
      pi.send({ type: "extension_ui_response", id: dialog["id"], ...(value === null ? { cancelled: true } : { value }) });
      return dialog;
    },
    async end() {
      child.stdin.end();
      await ended;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
  return pi;
}

function gather(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

function parsed(stdout: string): Json[] {
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Json);
}
