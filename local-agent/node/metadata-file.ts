/**
 * The metadata cache `<agentDir>/mcp-cache.json`: what upstreams offered, kept between runs, in the form other packages read (0600, one
 * compact JSON object, replaced as a whole). It is a cache: whatever goes wrong with it is logged and costs a connection, nothing else.
 */
import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from "../../shared/json.ts";
import type { Log } from "../../shared/ports.ts";
import { fromFileEntry, toFileEntry } from "../adapter/catalog/stored-catalog.ts";
import type { MetadataStore, StoredCatalog } from "../adapter/ports.ts";
import { fittingText, METADATA_VERSION } from "./metadata-text.ts";
import { readAtMost } from "./read-at-most.ts";

/** In Pi's directory. */
export const METADATA_FILE = "mcp-cache.json";

/** Thousands of tools are a few megabytes; reading more would only delay the start. Nothing is written that would not be read. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Of one server; a list beyond it is listed anew each time. */
const MAX_ENTRY_CHARS = 8 * 1024 * 1024;
/**
 * Another process holds the file for milliseconds; one that died holding it is overruled after ten seconds, and so is this one when it stood
 * still that long: its write goes on, and the worst is that the other's is lost.
 */
const LOCK = { realpath: false, stale: 10_000, retries: { retries: 60, factor: 1.3, minTimeout: 10, maxTimeout: 500 }, onCompromised: () => {} };

interface Waiting {
  readonly server: string;
  readonly entry: JsonObject;
  readonly done: () => void;
}

export interface MetadataFileOptions {
  readonly path: string;
  readonly log: Log;
  /** Absent: 64 MiB. */
  readonly maxBytes?: number;
}

export function createMetadataFile({ path, log, maxBytes = MAX_FILE_BYTES }: MetadataFileOptions): MetadataStore {
  let waiting: Waiting[] = [];
  let isWriting = false;

  /** Twenty servers that connect at once are one or two writes. */
  async function drain(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const left = await merge(path, batch, maxBytes);
        if (left > 0) log.event("warn", "metadata.lost", { servers: left, reason: "no room" });
      } catch (error) {
        log.event("warn", "metadata.lost", { servers: batch.length, reason: codeOf(error) });
      }
      for (const { done } of batch) done();
    }
    isWriting = false;
  }

  return {
    async read() {
      const servers = await readServers(path, maxBytes).catch((error: unknown) => {
        log.event("warn", "metadata.unreadable", { reason: codeOf(error) });
        return new Map<string, JsonValue>();
      });
      return new Map(
        [...servers].flatMap(([server, value]): [string, StoredCatalog][] => {
          const stored = fromFileEntry(value);
          return stored === null ? [] : [[server, stored]];
        }),
      );
    },
    async write(server, stored) {
      const entry = toFileEntry(stored);
      const chars = JSON.stringify(entry).length;
      if (chars > MAX_ENTRY_CHARS) {
        log.event("warn", "metadata.lost", { servers: 1, reason: "too large", chars });
        return;
      }
      await new Promise<void>((done) => {
        waiting.push({ server, entry, done });
        if (!isWriting) void drain();
      });
    },
  };
}

/**
 * Under a lock, so that two processes that write at once both find their servers in the file afterwards. Resolves with how many servers
 * it had no room for.
 */
async function merge(path: string, batch: readonly Waiting[], maxBytes: number): Promise<number> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A start that finds everything in the file has no use for them.
  const [{ default: lockfile }, { default: writeFileAtomic }] = await Promise.all([import("proper-lockfile"), import("write-file-atomic")]);
  const release = await lockfile.lock(path, LOCK);
  try {
    const servers = await readServers(path, maxBytes).catch(() => new Map<string, JsonValue>());
    for (const { server, entry } of batch) servers.set(server, entry);
    const { text, left } = fittingText(servers, new Set(batch.map(({ server }) => server)), maxBytes);
    await writeFileAtomic(path, text, { mode: 0o600 });
    return left;
  } finally {
    // Overruled meanwhile, there is nothing left to release.
    await release().catch(() => {});
  }
}

/** Empty when there is no file, or one of another kind or version. Rejects with what the system says otherwise. */
async function readServers(path: string, maxBytes: number): Promise<Map<string, JsonValue>> {
  const text = await readBounded(path, maxBytes);
  const content = text === null ? undefined : parseJson(text);
  if (!isJsonObject(content) || content["version"] !== METADATA_VERSION || !isJsonObject(content["servers"])) return new Map();
  return new Map(Object.entries(content["servers"]));
}

async function readBounded(path: string, maxBytes: number): Promise<string | null> {
  // A pipe in its place would keep the reader waiting for ever.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const stat = await file.stat();
    const bytes = stat.isFile() && stat.size <= maxBytes ? await readAtMost(file, maxBytes) : null;
    if (bytes === null) throw Object.assign(new Error("no file, or too large"), { code: "EFBIG" });
    return bytes.toString("utf8");
  } finally {
    await file.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}
