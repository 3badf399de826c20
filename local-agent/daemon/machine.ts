/** Who this agent is to a relay, and what it lets in: kept over restarts, minted at first use (ST13). */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { readOrMint } from "./config-dir.ts";

/** Stable per account and machine: a settings directory shared by two machines must not make them one (DESIGN D3). */
export function readHostId(configDir: string): string {
  return sha256(`${readOrMint(join(configDir, "host-id"))}\n${machineId()}`).slice(0, 32);
}

export interface StaticToken {
  readonly token: string;
  /** Where it is kept; null when it was given for this run. */
  readonly file: string | null;
  readonly sha256: string;
}

export function readStaticToken(settingsDir: string, given: string | null): StaticToken {
  const file = join(settingsDir, "token");
  const token = given ?? readOrMint(file);
  return { token, file: given === null ? file : null, sha256: sha256(token) };
}

function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return hostname(); // macOS, Windows, and containers without one.
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
