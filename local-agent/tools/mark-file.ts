/**
 * Marks in use, one 0600 file each, so that the next start can end what a killed owner left running and remove what it
 * left on disk. A file names its owner (pid and start time): a live owner's mark is left alone.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { Log } from "../../shared/ports.ts";
import { parseJson } from "../../shared/json.ts";
import { identify, isStillRunning } from "../node/process-identity.ts";
import { removePrivateDir } from "./private-dir.ts";
import { endMarked, newMark } from "./process-marker.ts";

const MarkFile = v.object({
  mark: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** See `ProcessIdentity`. */
  began: v.string(),
  privateDir: v.optional(v.string()),
});
type MarkFile = v.InferOutput<typeof MarkFile>;

export interface MarkClaim {
  readonly mark: string;
  /** Forgets the mark. To be called once nothing carries it any more. */
  release(): void;
}

/** Makes a mark and remembers it under `stateDir` before anything carries it. @throws when the directory cannot be written */
export function claimMark(stateDir: string, privateDir?: string): MarkClaim {
  const mark = newMark();
  const dir = marksDir(stateDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, `${mark}.json`);
  const entry: MarkFile = { mark, pid: process.pid, began: identify(process.pid)?.began ?? "", privateDir };
  // Renamed into place, so that another start never reads half a file.
  writeFileSync(`${path}.new`, JSON.stringify(entry), { mode: 0o600, flag: "wx" });
  renameSync(`${path}.new`, path);
  return { mark, release: () => rmSync(path, { force: true }) };
}

/** Ends what owners that no longer live left running. Resolves with the number of processes ended. Never rejects. */
export async function endLeftBehind(stateDir: string, log: Log): Promise<number> {
  let total = 0;
  for (const path of markPaths(stateDir)) {
    const entry = readMark(path);
    // In doubt an owner counts as alive: a leftover is a nuisance, ending a living agent's work is not.
    if (entry !== undefined && isStillRunning(entry)) continue;
    if (entry !== undefined) {
      const ended = await endMarked({ mark: entry.mark });
      total += ended;
      removePrivateDir(entry.privateDir);
      log.event("info", "leftovers.ended", { mark: entry.mark.slice(0, 8), processes: ended });
    }
    rmSync(path, { force: true });
  }
  return total;
}

function marksDir(stateDir: string): string {
  return join(stateDir, "marks");
}

function markPaths(stateDir: string): string[] {
  try {
    return readdirSync(marksDir(stateDir))
      .filter((name) => name.endsWith(".json"))
      .map((name) => join(marksDir(stateDir), name));
  } catch {
    return []; // No agent has run here yet.
  }
}

function readMark(path: string): MarkFile | undefined {
  try {
    const entry = v.safeParse(MarkFile, parseJson(readFileSync(path, "utf8")));
    return entry.success ? entry.output : undefined;
  } catch {
    return undefined;
  }
}
