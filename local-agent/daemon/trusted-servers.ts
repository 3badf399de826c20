/** Which entries of project files the person allowed to run: `trusted-servers.json` in the state directory, 0600, by hash only. */
import { join } from "node:path";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import type { TrustMemory } from "../desk/server-trust.ts";
import { readPrivateFile, writePrivateFile } from "./config-dir.ts";
import { underGuard } from "./guard.ts";

const FILE = "trusted-servers.json";
/** The oldest is asked about again. */
const MAX_KEPT = 500;
/** Enough to know a server again, and so that as many as are kept can always be read back. */
const MAX_NAME_CHARS = 200;
const MAX_BYTES = 1024 * 1024;

interface TrustedServer {
  readonly entrySha256: string;
  /** For people who look into the file. */
  readonly server: string;
}

/** @param stateDir private and existing. A file that makes no sense trusts nothing. */
export function openTrustedServers(stateDir: string): TrustMemory {
  const path = join(stateDir, FILE);
  return {
    has(entrySha256) {
      try {
        return read(path).some((entry) => entry.entrySha256 === entrySha256);
      } catch {
        return false; // One that others may write trusts nothing either; keeping the next decision says what is wrong with it.
      }
    },
    add: ({ entrySha256, server }) =>
      underGuard(stateDir, () => {
        const others = read(path).filter((entry) => entry.entrySha256 !== entrySha256);
        const kept = [...others, { entrySha256, server: server.slice(0, MAX_NAME_CHARS) }].slice(-MAX_KEPT);
        writePrivateFile(path, `${JSON.stringify({ version: 1, trusted: kept }, null, 2)}\n`);
      }),
  };
}

function read(path: string): readonly TrustedServer[] {
  const value = parseJson(readPrivateFile(path, MAX_BYTES) ?? "");
  const list = isJsonObject(value) && value["version"] === 1 ? value["trusted"] : undefined;
  return Array.isArray(list) ? list.filter(isTrusted) : [];
}

function isTrusted(value: unknown): value is TrustedServer {
  return isJsonObject(value) && typeof value["entrySha256"] === "string" && typeof value["server"] === "string";
}
