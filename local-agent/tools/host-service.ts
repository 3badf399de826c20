/** Brings the tool host up: confinement, ripgrep where Pi looks for it, and the list of tools. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemTimers } from "../node/system-time.ts";
import { openConfinedRoot } from "./confined-root.ts";
import type { FromHost, HostSettings } from "./host-protocol.ts";
import { getShellConfig } from "./pi-modules.ts";
import { describeTools, type PiToolsSettings } from "./pi-tools.ts";
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
    const root = await openConfinedRoot({ root: given.root, deny: given.deny, readableDir: given.spillDir });
    const tools = chooseTools(given.tools, process.platform);
    const search = await provideRipgrep(given.agentDir);
    const settings: PiToolsSettings = { ...given, root, rgPath: search.rgPath, timers: systemTimers };
    send({ t: "ready", tools: describeTools(tools, settings), root: root.path, warnings: [...search.warnings, ...shellWarnings(tools)] });
    return { settings, tools };
  } catch (error) {
    send({ t: "unusable", reason: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** Pi takes `<agent dir>/bin/rg` before anything on PATH, and with PI_OFFLINE downloads nothing. */
async function provideRipgrep(agentDir: string): Promise<{ rgPath: string; warnings: string[] }> {
  const placed = join(agentDir, "bin", process.platform === "win32" ? "rg.exe" : "rg");
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    if (!existsSync(placed)) {
      mkdirSync(dirname(placed), { recursive: true, mode: 0o700 });
      if (process.platform === "win32") copyFileSync(rgPath, placed);
      else symlinkSync(rgPath, placed);
    }
    return { rgPath: placed, warnings: [] };
  } catch {
    const found = spawnSync("rg", ["--version"], { stdio: "ignore", timeout: 5_000 }).status === 0;
    if (found) return { rgPath: "rg", warnings: [] };
    return { rgPath: "rg", warnings: ["grep and find will fail: no ripgrep for this platform is installed; put rg on the PATH"] };
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
