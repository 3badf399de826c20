/** Brings the tool host up: confinement, ripgrep where Pi looks for it, and the list of tools. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemTimers } from "../node/system-time.ts";
import { openConfinedRoot } from "./confined-root.ts";
import type { FromHost, HostSettings } from "./host-protocol.ts";
import { getShellConfig } from "./pi-modules.ts";
import { describeTools, type PiToolsSettings } from "./pi-tools.ts";
import { installImageSeam } from "./image-turn.ts";
import { installSpawnSeam } from "./spawn-seam.ts";
import { chooseTools, type ToolName } from "./tool-traits.ts";

export interface ToolService {
  readonly settings: PiToolsSettings;
  readonly tools: readonly ToolName[];
}

/** Answers `ready`, or `unusable` with a sentence; undefined in the second case. */
export async function startService(given: HostSettings, send: (message: FromHost) => void): Promise<ToolService | undefined> {
  try {
    installSpawnSeam();
    installImageSeam();
    mkdirSync(given.spillDir, { recursive: true, mode: 0o700 });
    const root = await openConfinedRoot({ ...given, readableDir: given.spillDir });
    const tools = chooseTools(given.tools, process.platform);
    const ripgrep = await findRipgrep(given.agentDir);
    const settings: PiToolsSettings = { ...given, root, rgPath: ripgrep.path, placeRipgrep: ripgrep.place, timers: systemTimers };
    const warnings = [...ripgrep.warnings, ...shellWarnings(tools)];
    send({ t: "ready", tools: describeTools(tools, settings), root: root.path, writeClosed: root.writeClosed, warnings });
    return { settings, tools };
  } catch (error) {
    send({ t: "unusable", reason: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

interface Ripgrep {
  readonly path: string;
  /** Puts it back where Pi looks: cleaners empty temporary directories of an agent that runs for weeks. */
  readonly place: () => void;
  readonly warnings: readonly string[];
}

/** Pi takes `<agent dir>/bin/rg` before anything on PATH, and with PI_OFFLINE downloads nothing. */
async function findRipgrep(agentDir: string): Promise<Ripgrep> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const path = join(agentDir, "bin", basename(rgPath));
    const place = (): void => {
      if (existsSync(path)) return;
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      if (process.platform === "win32") copyFileSync(rgPath, path);
      else symlinkSync(rgPath, path);
    };
    place();
    return { path, place, warnings: [] };
  } catch {
    const found = spawnSync("rg", ["--version"], { stdio: "ignore", timeout: 5_000 }).status === 0;
    const warnings = found ? [] : ["grep and find will fail: no ripgrep for this platform is installed; put rg on the PATH"];
    return { path: "rg", place: () => {}, warnings };
  }
}

/** Pi looks for the shell at the first call; the person should hear of a missing one at the start. */
function shellWarnings(tools: readonly ToolName[]): string[] {
  const warnings: string[] = [];
  if (tools.includes("powershell") && process.platform !== "win32") warnings.push("powershell is offered but runs on Windows only");
  if (!tools.includes("bash")) return warnings;
  try {
    getShellConfig();
  } catch (error) {
    warnings.push(`bash will fail: ${error instanceof Error ? error.message : String(error)}`);
  }
  return warnings;
}
