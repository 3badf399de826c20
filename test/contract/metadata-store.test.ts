import { join } from "node:path";
import { describe } from "vitest";
import { createMetadataFile } from "../../local-agent/node/metadata-file.ts";
import { memoryMetadataStore } from "../support/memory-metadata-store.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { tempDir } from "../support/temp-dir.ts";
import { describeMetadataStore } from "./metadata-store.contract.ts";

describe("[CT20] [CT21] catalogs in memory", () => {
  describeMetadataStore(() => {
    const store = memoryMetadataStore();
    return () => store;
  });
});

describe("[CT20] [CT21] catalogs in the cache file", () => {
  describeMetadataStore(() => {
    const path = join(tempDir(), "agent", "mcp-cache.json");
    return () => createMetadataFile({ path, log: silentLog });
  });
});
