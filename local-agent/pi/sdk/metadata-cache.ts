/** What `import … from "pi-relay/metadata-cache"` gives: what is kept of servers' tools between runs (declared/metadata-cache.d.ts). */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isJsonObject, parseJson, type JsonObject } from "../../../shared/json.ts";
import { configHash } from "../../adapter/catalog/config-hash.ts";
import { freshnessOf, fromFileEntry } from "../../adapter/catalog/stored-catalog.ts";
import { agentDirectory } from "../../node/agent-directory.ts";
import { METADATA_FILE } from "../../node/metadata-file.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** No plugin's: its values are expanded. */
const TRANSPORT = { kind: "socket", path: "" } as const;

export function getMetadataCachePath(): string {
  return join(agentDirectory(process.env, homedir()), METADATA_FILE);
}

/** Null: there is none, or it is of another kind or version. */
export function loadMetadataCache(): JsonObject | null {
  const content = parseJson(readText(getMetadataCachePath()));
  if (!isJsonObject(content) || content["version"] !== 1 || !isJsonObject(content["servers"])) return null;
  const servers = Object.entries(content["servers"]).filter(([, entry]) => fromFileEntry(entry) !== null);
  return { version: 1, servers: Object.fromEntries(servers) };
}

export function computeServerHash(definition: object, env: Environment = process.env): string {
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
  return configHash({ entry: definition as JsonObject, transport: TRANSPORT }, { env, home: homedir(), sha256 });
}

export function isServerCacheValid(entry: object, definition: object, maxAgeMs = Infinity, env: Environment = process.env): boolean {
  const stored = fromFileEntry(entry);
  if (stored === null || stored.configHash !== computeServerHash(definition, env)) return false;
  const now = Date.now();
  return freshnessOf(stored.catalog, now) === "cached" && (maxAgeMs <= 0 || now - stored.catalog.listedAt <= maxAgeMs);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // As good as none.
  }
}
