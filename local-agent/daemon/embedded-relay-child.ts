/**
 * The process around the embedded relay: miniflare, which runs the very same Worker bundle in workerd. It lives exactly as
 * long as its IPC channel: when the agent ends, however it ends, the channel closes and this ends too, workerd first.
 *
 * Clients reach the Worker through a direct socket rather than miniflare's entry: that one obeys request headers that
 * rewrite the URL, invents a location, and costs more than the relay itself.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { convertV4MiniflareOptions, Miniflare, Response as MiniflareResponse, type Request as MiniflareRequest } from "miniflare";
import { fetchPublic } from "./public-fetch.ts";
import { RelayOrder, type RelayReport } from "./embedded-relay-protocol.ts";

const DISPOSE_DEADLINE_MS = 2000;
const MAX_LOGGED = 2000;

// workerd's SQLite files hold grants: no other account may read them (ST11).
process.umask(0o077);

let miniflare: Miniflare | undefined;
let ending = false;

watchRuntime();
process.on("disconnect", () => void end(0));
// A terminal's Ctrl-C reaches whole process groups; the agent decides when its relay ends.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.on("SIGTERM", () => void end(0));
process.once("message", (message) => {
  void run(v.parse(RelayOrder, message)).catch((error: unknown) => {
    report({ t: "failed", code: codeOf(error), message: error instanceof Error ? error.message : String(error) });
    void end(1);
  });
});
if (!process.connected) void end(1);

async function run(order: RelayOrder): Promise<void> {
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: "relay",
      modules: [{ type: "ESModule", path: "index.js", contents: readFileSync(order.workerPath, "utf8") }],
      compatibilityDate: "2026-08-01",
      compatibilityFlags: ["enable_request_signal", "global_fetch_strictly_public"],
      bindings: { AGENT_KEY: order.agentKey, EMBEDDED: order.callers, ONLY_WORKSPACE: order.workspace },
      durableObjects: { WORKSPACE: { className: "WorkspaceObject", useSQLite: true } },
      resourcePersistencePath: order.persistDir,
      cf: false,
      outboundService: (request: MiniflareRequest) => answerPublicly(request),
      host: "127.0.0.1",
      port: 0,
      unsafeDirectSockets: [{ host: order.host, port: order.port }],
      handleStructuredLogs: ({ level, message }) => report({ t: "logged", level, message: message.slice(0, MAX_LOGGED) }),
    }),
  );
  await miniflare.ready;
  report({ t: "ready", port: Number((await miniflare.unsafeGetDirectURL()).port) });
}

/** The Worker's own requests: a failure is one to it, as on the network. */
async function answerPublicly(request: MiniflareRequest): Promise<MiniflareResponse> {
  try {
    const { status, headers, body } = await fetchPublic(new URL(request.url), { accept: request.headers.get("accept") ?? "application/json" });
    return new MiniflareResponse(status === 204 || status === 304 ? null : body, { status, headers });
  } catch (error) {
    report({ t: "logged", level: "warn", message: `document not fetched: ${error instanceof Error ? error.message : "unknown"}` });
    return new MiniflareResponse("unreachable", { status: 502 });
  }
}

/** Tells the agent which process is workerd, and ends this one with it: the agent then starts both anew. */
function watchRuntime(): void {
  subscribe("child_process", (message) => {
    const started = (message as { readonly process: ChildProcess }).process;
    // The pid is set right after this event.
    setImmediate(() => {
      if (started.pid !== undefined) report({ t: "runtime", pid: started.pid });
    });
    started.once("exit", () => void end(1));
  });
}

async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  setTimeout(() => process.exit(exitCode), DISPOSE_DEADLINE_MS);
  // Failing to close neatly must not keep the process; its exit hook still kills workerd.
  await miniflare?.dispose().catch(() => {});
  process.exit(exitCode);
}

function report(message: RelayReport): void {
  // The channel may close between the look and the send; the disconnect handler ends the process then.
  if (process.connected) process.send?.(message, () => {});
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
