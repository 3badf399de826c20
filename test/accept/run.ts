/**
 * `npm run accept`: the guided acceptance. Starts the built program with the human channel and approval of commands, plays a
 * remote agent against its URL, and has a person answer in the browser. Exits with 1 when a step did not pass, and with 130
 * after Ctrl-C; either way what it started is ended and removed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { callTool } from "../support/agent-requests.ts";
import { pageAddress } from "../support/page-shows.ts";
import { play } from "./play.ts";

const PIMCP = join(import.meta.dirname, "../../dist/pimcp.mjs");
const FLAGS = ["--human", "--approve", "bash", "--no-open", "--json", "--port", "0", "--ui-port", "0"];

interface Announcement {
  readonly mcpUrl: string;
  readonly tokenFile: string;
  readonly pageFile: string;
}

const home = mkdtempSync(join(tmpdir(), "pi-relay-accept-"));
const root = join(home, "root");
mkdirSync(root);
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PI_AS_MCP_")));
const env = { ...inherited, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
const agent = spawn(process.execPath, [PIMCP, ...FLAGS, "--root", root], { env, stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise<void>((resolve) => agent.once("exit", () => resolve()));
const stopped = new Promise<"stopped">((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve("stopped"));
});

const outcome = await Promise.race([accept(), stopped, ended.then(() => "ended" as const)]).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  return "ended" as const;
});
if (outcome === "stopped") console.log("\nStopped. Nothing is left running.");
if (outcome === "ended") console.error("\nThe agent ended before the acceptance was over; what it said is above.");
agent.kill("SIGTERM");
await ended;
rmSync(home, { recursive: true, force: true });
// A call may still wait for its answer.
process.exit(outcome === "passed" ? 0 : outcome === "stopped" ? 130 : 1);

async function accept(): Promise<"passed" | "failed"> {
  const said = await announcement(agent);
  const endpoint = { url: said.mcpUrl, token: readFileSync(said.tokenFile, "utf8").trim() };
  console.log(`Open this page in a browser, and do there what the agent asks for (Ctrl-C ends it):\n\n  ${pageAddress(said.pageFile)}\n`);
  const failed = await play({ root, pause: (ms) => pause(ms), call: (name, args) => callTool(endpoint, name, args) }, (line) => console.log(line));
  return failed.length === 0 ? "passed" : "failed";
}

function announcement({ stdout }: ChildProcess): Promise<Announcement> {
  const { promise, resolve } = Promise.withResolvers<Announcement>();
  let text = "";
  stdout?.on("data", (piece: Buffer) => {
    text += piece.toString();
    if (text.includes("\n")) resolve(JSON.parse(text.slice(0, text.indexOf("\n"))) as Announcement);
  });
  return promise;
}
