/**
 * `npm run accept`: the guided acceptance. Starts the built program with the human channel and approval of commands, plays a
 * remote agent against its URL, and has a person answer in the browser. Exits with 1 when a step did not pass.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { callTool } from "../support/agent-requests.ts";
import { pageAddress } from "../support/page-shows.ts";
import { STEPS, type RemoteAgent } from "./steps.ts";

const PIMCP = join(import.meta.dirname, "../../dist/pimcp.mjs");

interface Announcement {
  readonly mcpUrl: string;
  readonly tokenFile: string;
  readonly pageFile: string;
}

const home = mkdtempSync(join(tmpdir(), "pi-relay-accept-"));
const root = mkdtempSync(join(home, "root-"));
const env = { ...process.env, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
const flags = ["--human", "--approve", "bash", "--no-open", "--json", "--port", "0", "--ui-port", "0", "--root", root];
const agent = spawn(process.execPath, [PIMCP, ...flags], { env, stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise<void>((resolve) => agent.once("exit", () => resolve()));

try {
  const said = await announcement();
  const endpoint = { url: said.mcpUrl, token: readFileSync(said.tokenFile, "utf8").trim() };
  console.log(`Open this page in a browser and follow what the agent asks there:\n\n  ${pageAddress(said.pageFile)}\n`);
  const remote: RemoteAgent = { root, pause: (ms) => pause(ms), call: (name, args) => callTool(endpoint, name, args) };
  process.exitCode = (await runAll(remote)) === 0 ? 0 : 1;
} finally {
  agent.kill("SIGTERM");
  await ended;
  rmSync(home, { recursive: true, force: true });
}

async function runAll(remote: RemoteAgent): Promise<number> {
  let failed = 0;
  for (const [index, step] of STEPS.entries()) {
    console.log(`${index + 1}/${STEPS.length}  ${step.title} …`);
    const problem = await step.run(remote).catch((error: unknown) => String(error));
    console.log(problem === undefined ? "     passed" : `     FAILED: ${problem}`);
    failed += problem === undefined ? 0 : 1;
  }
  await remote.call("human_say", { text: failed === 0 ? "All steps passed. Thank you." : `${failed} steps did not pass.`, category: "done" });
  console.log(`\n${STEPS.length - failed} passed, ${failed} failed`);
  return failed;
}

async function announcement(): Promise<Announcement> {
  let text = "";
  for await (const piece of agent.stdout) {
    text += String(piece);
    if (text.includes("\n")) return JSON.parse(text.slice(0, text.indexOf("\n"))) as Announcement;
  }
  throw new Error("the agent ended before it was ready");
}
