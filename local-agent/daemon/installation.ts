/** Where the parts of this program are: bundled in `dist`, or sources in a checkout (the Worker and the page are always built). */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isJsonObject, parseJson } from "../../shared/json.ts";

export interface Installation {
  /** Holds package.json and wrangler.toml. */
  readonly packageRoot: string;
  readonly version: string;
  readonly toolHostChild: string;
  readonly relayChild: string;
  readonly worker: string;
  readonly uiDir: string;
}

/** `programPath`: the file that runs, `dist/pimcp.mjs` or `local-agent/cli/main.ts`. */
export function findInstallation(programPath: string): Installation {
  const here = dirname(programPath);
  const isBundled = basename(here) === "dist";
  const packageRoot = isBundled ? dirname(here) : join(here, "../..");
  const dist = join(packageRoot, "dist");
  return {
    packageRoot,
    version: readVersion(packageRoot),
    toolHostChild: isBundled ? join(dist, "tool-host-child.mjs") : join(packageRoot, "local-agent/tools/tool-host-child.ts"),
    relayChild: isBundled ? join(dist, "embedded-relay-child.mjs") : join(packageRoot, "local-agent/daemon/embedded-relay-child.ts"),
    worker: join(dist, "worker/index.js"),
    uiDir: join(dist, "ui"),
  };
}

function readVersion(packageRoot: string): string {
  const manifest = parseJson(readFileSync(join(packageRoot, "package.json"), "utf8"));
  return isJsonObject(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "0.0.0";
}
