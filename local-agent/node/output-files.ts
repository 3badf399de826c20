/** Answers of upstream servers that are too large for a model's context, as private files. They end with the adapter. */
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log, Timers } from "../../shared/ports.ts";
import type { OutputFiles } from "../adapter/ports.ts";

/** Of one adapter: a server that answers at length must not fill the disk. */
const MAX_BINARY_BYTES = 10 * 1024 * 1024;
const MAX_TOTAL_BYTES = 100 * 1024 * 1024;
const MAX_FILES = 10_000;
/** A file that something still has open cannot be removed on every system; this often, this far apart. */
const REMOVALS = { tries: 3, waitMs: 30_000 } as const;

interface Kept {
  readonly path: string;
  readonly bytes: number;
  /** A text can be asked for again. */
  readonly replaceable: boolean;
}

/**
 * Nothing is made before something is kept. Texts and binary data have a directory (0700) each below `directory`, the files are 0600.
 * All count to the same bounds; the oldest texts give way to what is new.
 */
export function createOutputFiles(options: { readonly directory: string; readonly timers: Timers; readonly log: Log }): OutputFiles {
  const { directory, timers, log } = options;
  const made = new Map<string, Promise<string>>();
  const ledger = createLedger();
  let numbered = 0;
  let closed = false;

  return {
    async keepText(text, name) {
      const dir = await place("output");
      const path = join(dir, `${name}-${randomBytes(8).toString("hex")}.txt`);
      await write({ path, bytes: Buffer.byteLength(text), replaceable: true }, text);
      return path;
    },
    async keepBinary(base64) {
      const bytes = Buffer.byteLength(base64, "base64");
      if (bytes > MAX_BINARY_BYTES) throw new Error(`it has ${bytes} bytes, and files of up to ${MAX_BINARY_BYTES} are kept`);
      const dir = await place("resource");
      numbered += 1;
      const path = join(dir, `resource-${numbered}.bin`);
      const data = Buffer.from(base64, "base64");
      await write({ path, bytes: data.length, replaceable: false }, data);
      return { path, bytes: data.length };
    },
    async close() {
      closed = true;
      for (const dir of await Promise.allSettled(made.values())) if (dir.status === "fulfilled") await remove(dir.value, REMOVALS.tries);
    },
  };

  function place(kind: "output" | "resource"): Promise<string> {
    if (closed) return Promise.reject(new Error("the agent is ending"));
    const known = made.get(kind);
    if (known !== undefined) return known;
    const making = mkdir(directory, { recursive: true, mode: 0o700 })
      .then(() => mkdtemp(join(directory, `pi-mcp-${kind}-`)))
      .catch((error: unknown) => {
        made.delete(kind); // The next one tries again.
        throw unwritable(error);
      });
    made.set(kind, making);
    return making;
  }

  async function write(file: Kept, data: string | Buffer): Promise<void> {
    // Counted before anything is awaited, so that many at once stay within the bounds together.
    const gone = ledger.add(file);
    try {
      for (const { path } of gone) await rm(path, { force: true });
      await writeFile(file.path, data, { mode: 0o600, flag: "wx" });
    } catch (error) {
      ledger.remove(file);
      throw unwritable(error);
    }
  }

  function unwritable(error: unknown): Error {
    return new Error(`${directory} cannot be written (${codeOf(error)})`, { cause: error });
  }

  async function remove(dir: string, tries: number): Promise<void> {
    try {
      await rm(dir, { recursive: true, force: true });
    } catch (error) {
      log.event("warn", "output.kept", { tries, code: codeOf(error) });
      if (tries > 1) timers.after(REMOVALS.waitMs, () => void remove(dir, tries - 1));
    }
  }
}

/** What is kept, within the bounds. */
function createLedger(): { add(file: Kept): readonly Kept[]; remove(file: Kept): void } {
  const kept = new Set<Kept>();
  let total = 0;

  function remove(file: Kept): void {
    if (kept.delete(file)) total -= file.bytes;
  }

  return {
    remove,
    /** Gives what has to go for it. @throws when nothing more may go */
    add(file) {
      const fixed = [...kept].filter((each) => !each.replaceable);
      const fixedBytes = fixed.reduce((sum, each) => sum + each.bytes, 0);
      if (fixedBytes + file.bytes > MAX_TOTAL_BYTES || fixed.length >= MAX_FILES) {
        throw new Error(`${total} bytes in ${kept.size} files are kept already; one session keeps ${MAX_TOTAL_BYTES} bytes in ${MAX_FILES} files`);
      }
      const gone: Kept[] = [];
      for (const each of kept) {
        if (total + file.bytes <= MAX_TOTAL_BYTES && kept.size < MAX_FILES) break;
        if (!each.replaceable) continue;
        remove(each);
        gone.push(each);
      }
      kept.add(file);
      total += file.bytes;
      return gone;
    },
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
