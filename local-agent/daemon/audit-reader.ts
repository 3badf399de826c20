/** Reads the audit log back, whatever agents wrote it and however many files it has become. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { AuditEntry } from "../../shared/audit.ts";
import { parseJson } from "../../shared/json.ts";
import { AUDIT_FILE, AUDIT_FILES_KEPT } from "./audit-log.ts";
import { StartFailure, systemErrorCode } from "./start-failure.ts";

export interface AuditReading {
  /** Oldest first. */
  readonly entries: readonly AuditEntry[];
  /** Lines that a full disk cut short, or that another version wrote. */
  readonly unreadable: number;
}

/** The last `most` entries. Files are read from the newest back, and no further than needed. Throws `StartFailure`. */
export function readAudit(stateDir: string, most: number): AuditReading {
  const path = join(stateDir, AUDIT_FILE);
  const names = [path, ...Array.from({ length: AUDIT_FILES_KEPT }, (_, index) => `${path}.${index + 1}`)];
  let entries: AuditEntry[] = [];
  let unreadable = 0;
  for (const name of names) {
    if (entries.length >= most) break;
    const read = linesOf(name).map((line) => v.safeParse(AuditEntry, parseJson(line)));
    entries = [...read.flatMap((entry) => (entry.success ? [entry.output] : [])), ...entries];
    unreadable += read.filter((entry) => !entry.success).length;
  }
  return { entries: entries.slice(-most), unreadable };
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw new StartFailure(`Cannot read ${path} (${systemErrorCode(error) ?? String(error)}): check its permissions.`);
  }
}
