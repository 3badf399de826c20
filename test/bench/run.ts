/**
 * `npm run bench`: what the relay costs, as ratios within one run. Prints, asserts nothing: machines are noisy.
 * Subjects: an empty Worker, the agent's MCP surface on loopback HTTP, and the full path with a checked token.
 */
import { fork } from "node:child_process";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { TOKEN } from "../support/deposits.ts";
import { startWorker } from "../support/worker-runtime.ts";
import { measureAgent } from "./agent-start.ts";
import { measureHuman } from "./human.ts";
import { medians, throughput, type Subject } from "./measure.ts";
import { measurePage } from "./page.ts";
import { goal, ratio, report } from "./report.ts";
import { measureSignIn } from "./sign-in.ts";
import { reportUpstreams } from "./upstreams.ts";

const MIB = 1024 * 1024;

const empty = new Miniflare(
  convertV4MiniflareOptions({
    name: "empty",
    modules: [{ type: "ESModule", path: "w.mjs", contents: 'export default { fetch: async (r) => { await r.text(); return new Response("{}"); } }' }],
    compatibilityDate: "2026-08-01",
    host: "127.0.0.1",
    port: 0,
    cf: false,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  } as never),
);
const emptyEntry = (await empty.ready).origin;
const emptyOrigin = (await empty.unsafeGetDirectURL()).origin;
const worker = await startWorker();
const child = fork(join(import.meta.dirname, "agent-child.ts"), [worker.origin, worker.entryOrigin], {
  stdio: ["ignore", "inherit", "inherit", "ipc"],
});
const direct = await new Promise<string>((resolve) => child.once("message", (message: { url: string }) => resolve(message.url)));

const small: readonly Subject[] = [
  { name: "empty Worker", once: () => callBytes(emptyOrigin, 1024, false) },
  { name: "direct HTTP", once: () => callBytes(direct, 1024, true) },
  { name: "full path", once: () => callBytes(`${worker.origin}/mcp`, 1024, true) },
];
/** Behind miniflare's own entry on both sides, as the goal for this ratio was measured; the entry costs more than the Worker. */
const behindEntry: readonly Subject[] = [
  { name: "empty Worker", once: () => callBytes(emptyEntry, 1024, false) },
  { name: "full path", once: () => callBytes(`${worker.entryOrigin}/mcp`, 1024, true) },
];
const large: readonly Subject[] = [
  { name: "direct HTTP", once: () => callBytes(direct, MIB, true) },
  { name: "full path", once: () => callBytes(`${worker.origin}/mcp`, MIB, true) },
];

try {
  const p50 = await medians(small, 12, 60);
  report("1 KiB result, one at a time (median ms)", p50);
  goal("full path / direct HTTP", ratio(p50, "full path", "direct HTTP"), "≤", 3.5);
  console.log(`  full path / empty Worker ${ratio(p50, "full path", "empty Worker").toFixed(2)}`);
  const entry = await medians(behindEntry, 8, 60);
  report("1 KiB result, one at a time, both behind miniflare's entry (median ms)", entry);
  goal("full path / empty Worker", ratio(entry, "full path", "empty Worker"), "≤", 2.7);
  const rate = await throughput(small, 16, 6, 600);
  report("1 KiB result, 16 in flight (calls/s)", rate);
  goal("full path / direct HTTP", ratio(rate, "full path", "direct HTTP"), "≥", 0.5);
  const big = await medians(large, 8, 8);
  report("1 MiB result, one at a time (median ms)", big);
  goal("full path / direct HTTP", ratio(big, "full path", "direct HTTP"), "≤", 1.7);
  const bigRate = await throughput(large, 16, 3, 64);
  report("1 MiB result, 16 in flight (calls/s)", bigRate);
  console.log(`  full path / direct HTTP ${ratio(bigRate, "full path", "direct HTTP").toFixed(2)}`);
  const { costs, accessToken } = await measureSignIn(worker.origin, (token) => callBytes(`${worker.origin}/mcp`, 1024, true, token));
  report("Signing in without waiting for a person (median ms)", new Map(Object.entries(costs)));
  console.log(`  total / full path ${(costs.total / (p50.get("full path") ?? Number.NaN)).toFixed(1)}`);
  const checked = await medians(tokenChecks(accessToken), 12, 60);
  report("What a token check costs (median ms)", checked);
  const share = (of: string, without: string): number =>
    ((checked.get(of) ?? Number.NaN) - (checked.get(without) ?? Number.NaN)) / (checked.get("access token") ?? Number.NaN);
  goal("(access token - static token) / full path", share("access token", "static token"), "≤", 0.1);
  goal("(unknown token - no check) / full path", share("unknown token", "no check"), "≤", 0.1);
} finally {
  child.disconnect();
  await worker.close();
  await empty.dispose();
}

const human = await measureHuman();
report("Talking with the person (median ms)", new Map(Object.entries(human)));
goal("first byte of human_ask / plain call", human.firstByteMs / human.plainMs, "≤", 2);
goal("key press to result / plain call", human.wakeMs / human.plainMs, "≤", 3);

const agent = await measureAgent();
console.log("\nThe agent");
goal("start to ready, embedded relay (ms)", agent.readyMs, "≤", 1500);
goal("idle memory of agent and tool host, with --relay (MB)", agent.agentMb + agent.toolHostMb, "≤", 140);
console.log(`  agent ${agent.agentMb.toFixed(0)} MB, tool host ${agent.toolHostMb.toFixed(0)} MB`);

const page = await measurePage();
console.log("\nThe page with 1,000 calls and 400 entries, from a click to the drawn page (median ms)");
goal("while 5 MB of output stream in", page.streamingMs, "≤", 100);
console.log(`  idle ${page.idleMs.toFixed(0)}; memory of the page after it ${page.heapMb.toFixed(0)} MB`);

await reportUpstreams();

/**
 * The full path with either kind of token, which differ in nothing but the check; and, without a tunnel behind, a well-formed token nobody
 * issued (hashed and looked up) beside a method that is refused before any check.
 */
function tokenChecks(accessToken: string): readonly Subject[] {
  const url = `${worker.origin}/mcp`;
  const refused = async (init: RequestInit, status: number): Promise<void> => {
    const answer = await fetch(url, init);
    await answer.text();
    if (answer.status !== status) throw new Error(`${url} answered ${answer.status}, expected ${status}`);
  };
  const unknown = `${accessToken.slice(0, -8)}XXXXXXXX`;
  return [
    { name: "static token", once: () => callBytes(url, 1024, true) },
    { name: "access token", once: () => callBytes(url, 1024, true, accessToken) },
    { name: "no check", once: () => refused({ method: "PUT" }, 405) },
    { name: "unknown token", once: () => refused({ method: "DELETE", headers: { authorization: `Bearer ${unknown}` } }, 401) },
  ];
}

async function callBytes(url: string, bytes: number, isMcp: boolean, token: string = TOKEN): Promise<void> {
  const params = {
    name: "bytes",
    arguments: { bytes },
    _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "bytes",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const body = await response.text();
  if (isMcp && (response.status !== 200 || body.length < bytes)) throw new Error(`${url} answered ${response.status}: ${body.slice(0, 300)}`);
}
