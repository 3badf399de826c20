/**
 * What a blocking question costs on the real program behind its embedded relay: when its first byte arrives, and how long a
 * person's key press takes to the client's result; beside a plain call of the same run.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callTool, send, type Endpoint } from "../support/agent-requests.ts";
import { pageAddress } from "../support/page-shows.ts";
import { personAt, type Person } from "../support/person.ts";
import { reply, toolCall } from "../support/surface-under-test.ts";
import { median } from "./measure.ts";

const PIMCP = join(import.meta.dirname, "../../dist/pimcp.mjs");
const ROUNDS = 60;
/** Long enough for the waiting call to have settled down. */
const SETTLE_MS = 15;

export interface HumanCosts {
  readonly plainMs: number;
  readonly firstByteMs: number;
  readonly wakeMs: number;
}

/** Medians in milliseconds. The plain call is the cheapest there is: it asks the agent itself, not the tool host. */
export async function measureHuman(): Promise<HumanCosts> {
  const home = await mkdtemp(join(tmpdir(), "pi-relay-bench-"));
  const env = { ...process.env, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
  const flags = ["--human", "--no-open", "--json", "--port", "0", "--ui-port", "0", "--root", home];
  const agent = spawn(process.execPath, [PIMCP, ...flags], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => agent.once("exit", () => resolve()));
  try {
    const said = JSON.parse(await firstLine(agent.stdout)) as { mcpUrl: string; tokenFile: string; pageFile: string };
    const endpoint = { url: said.mcpUrl, token: (await readFile(said.tokenFile, "utf8")).trim() };
    return await measure(
      endpoint,
      personAt(() => pageAddress(said.pageFile)),
    );
  } finally {
    agent.kill("SIGTERM");
    await ended;
    await rm(home, { recursive: true, force: true });
  }
}

async function measure(endpoint: Endpoint, person: Person): Promise<HumanCosts> {
  const plain: number[] = [];
  const firstByte: number[] = [];
  const wake: number[] = [];
  for (let round = -5; round < ROUNDS; round++) {
    const plainMs = await timed(() => callTool(endpoint, "get_instructions", {}));
    const once = await askOnce(endpoint, person, round);
    if (round < 0) continue; // Warming up.
    plain.push(plainMs);
    firstByte.push(once.firstByteMs);
    wake.push(once.wakeMs);
  }
  return { plainMs: median(plain), firstByteMs: median(firstByte), wakeMs: median(wake) };
}

async function askOnce(endpoint: Endpoint, person: Person, round: number): Promise<{ firstByteMs: number; wakeMs: number }> {
  const askedAt = performance.now();
  const response = await send(endpoint, toolCall(round + 1000, "human_ask", { text: `Round ${round}?` }));
  const [watched, kept] = response.body?.tee() ?? [];
  if (watched === undefined || kept === undefined) throw new Error(`human_ask answered ${response.status} without a body`);
  const reader = watched.getReader();
  await reader.read();
  const firstByteMs = performance.now() - askedAt;
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const pressedAt = performance.now();
  const typed = person.say("yes");
  await untilResult(reader);
  const wakeMs = performance.now() - pressedAt;
  const answer = await reply(new Response(kept, { headers: response.headers }));
  await typed;
  if (!JSON.stringify(answer.result).includes("yes")) throw new Error(`human_ask answered ${JSON.stringify(answer)}`);
  return { firstByteMs, wakeMs };
}

/** Clients take the event as it comes. The stream ends a moment later, and has to be read to its end to count as delivered. */
async function untilResult(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let text = "";
  while (!/"result":.*\n\n/.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`human_ask ended without a result: ${text}`);
    text += new TextDecoder().decode(value);
  }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function firstLine(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of stream) {
    text += piece.toString();
    if (text.includes("\n")) return text.slice(0, text.indexOf("\n"));
  }
  throw new Error("the agent ended before it was ready");
}
