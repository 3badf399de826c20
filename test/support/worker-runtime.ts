/** The real Worker in real workerd, bundled from source as it is shipped, on a free loopback port. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, Response as MiniflareResponse } from "miniflare";
import { workerBundle } from "../../scripts/worker-bundle.mjs";

export const AGENT_KEY = "test-agent-key-0123456789abcdef0123456789";

const WORKER_ENTRY = join(import.meta.dirname, "../../worker/index.ts");
const bundles = new Map<string, Promise<string>>();

/** An entry as one module for workerd; built once per test process. */
export function bundleOf(entry: string): Promise<string> {
  const known = bundles.get(entry);
  if (known !== undefined) return known;
  const made = build({ ...workerBundle, entryPoints: [entry], write: false }).then((result) => result.outputFiles[0]?.text ?? "");
  bundles.set(entry, made);
  return made;
}

export interface WorkerRuntime {
  readonly origin: string;
  /** The same Worker behind miniflare's own entry, for comparisons with others measured there. */
  readonly entryOrigin: string;
  readonly port: number;
  /** Evicts the object as hibernation does: its sockets stay, its memory goes. */
  hibernate(): Promise<void>;
  /** Ends and starts workerd on the same storage and port, as a deploy does. */
  redeploy(): Promise<void>;
  close(): Promise<void>;
}

export interface WorkerRuntimeOptions {
  readonly bindings?: Record<string, string>;
  readonly stateDir?: string;
  readonly port?: number;
  readonly outbound?: (request: Request) => Response | Promise<Response>;
  readonly https?: boolean;
  /** Another entry around the real Worker, such as one whose object dies on command. */
  readonly entry?: string;
}

export async function startWorker(options: WorkerRuntimeOptions = {}): Promise<WorkerRuntime> {
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), "pi-relay-worker-")));
  const contents = await bundleOf(options.entry ?? WORKER_ENTRY);
  const settings = (port: number) =>
    convertV4MiniflareOptions({
      name: "relay",
      modules: [{ type: "ESModule", path: "worker.mjs", contents }],
      compatibilityDate: "2026-08-01",
      compatibilityFlags: ["enable_request_signal", "global_fetch_strictly_public"],
      bindings: { AGENT_KEY, EMBEDDED: "loopback", ...options.bindings },
      durableObjects: { WORKSPACE: { className: "WorkspaceObject", useSQLite: true } },
      host: "127.0.0.1",
      cf: false,
      // As the embedded relay is reached: miniflare's own entry rewrites requests and takes longer than the Worker.
      ...(options.https === true ? { port, https: true } : { port: 0, unsafeDirectSockets: [{ host: "127.0.0.1", port }] }),
      resourcePersistencePath: stateDir,
      outboundService: async (request: Request) =>
        options.outbound === undefined ? new MiniflareResponse("no network in tests", { status: 404 }) : options.outbound(request),
    } as never);
  const miniflare = new Miniflare(settings(options.port ?? 0));
  const entry = await miniflare.ready;
  const { origin, port } = options.https === true ? entry : await miniflare.unsafeGetDirectURL();
  return {
    origin,
    entryOrigin: entry.origin,
    port: Number(port),
    hibernate: () => miniflare.unsafeEvictDurableObject("relay", "WorkspaceObject", { name: "default" }),
    redeploy: async () => {
      await miniflare.setOptions(settings(Number(port)));
      await miniflare.ready;
    },
    close: async () => {
      await miniflare.dispose();
      if (options.stateDir === undefined) await rm(stateDir, { recursive: true, force: true });
    },
  };
}
