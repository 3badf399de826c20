/** Where other MCP hosts keep their configuration, per platform. Pure: paths are made, nothing is opened. */
import type { Environment } from "../ports.ts";
import type { ImportKind } from "./config-document.ts";

export interface HostPlace {
  readonly path: string;
  readonly format: "jsonc" | "toml";
  /** Below the project: whoever can write there can write it. */
  readonly inProject: boolean;
}

export interface Surroundings {
  readonly platform: string;
  readonly home: string;
  readonly env: Environment;
  /** The project's directory. */
  readonly cwd: string;
  /** `cwd` and its parents up to the repository's root, nearest first. For OpenCode, whose file may lie further up. */
  readonly upToRepository: readonly string[];
}

/**
 * Candidates of one host in the order they are tried. Of most hosts the first one that parses counts; OpenCode's two groups are merged
 * (`imports.ts`).
 */
export function hostPlaces(kind: ImportKind, around: Surroundings): readonly HostPlace[] {
  const join = joining(around.platform);
  const inHome = (...parts: string[]): HostPlace => place(join(around.home, ...parts));
  switch (kind) {
    case "cursor":
      return [inHome(".cursor", "mcp.json")];
    case "claude-code":
      return [inHome(".claude", "mcp.json"), inHome(".claude.json"), inHome(".claude", "claude_desktop_config.json")];
    case "claude-desktop":
      return [place(join(applicationData(around), "Claude", "claude_desktop_config.json"))];
    case "windsurf":
      return [inHome(".windsurf", "mcp.json"), inHome(".codeium", "windsurf", "mcp_config.json")];
    case "codex": {
      const codexHome = set(around.env["CODEX_HOME"]) ?? join(around.home, ".codex");
      return [{ ...place(join(codexHome, "config.toml")), format: "toml" }, place(join(codexHome, "config.json"))];
    }
    case "vscode":
      return [
        { ...place(join(around.cwd, ".vscode", "mcp.json")), inProject: true },
        place(join(applicationData(around), "Code", "User", "mcp.json")),
      ];
    case "opencode": {
      const inProject = around.upToRepository.flatMap((directory) => named(join, directory).map((found) => ({ ...found, inProject: true })));
      return [...inProject, ...named(join, join(configHome(around), "opencode"))];
    }
  }
}

function named(join: Join, directory: string): readonly HostPlace[] {
  return [place(join(directory, "opencode.json")), place(join(directory, "opencode.jsonc"))];
}

function place(path: string): HostPlace {
  return { path, format: "jsonc", inProject: false };
}

/** Where programs with a window keep their settings. */
function applicationData(around: Surroundings): string {
  const join = joining(around.platform);
  if (around.platform === "darwin") return join(around.home, "Library", "Application Support");
  if (around.platform === "win32") return set(around.env["APPDATA"]) ?? join(around.home, "AppData", "Roaming");
  return configHome(around);
}

function configHome({ platform, env, home }: Surroundings): string {
  return set(env["XDG_CONFIG_HOME"]) ?? joining(platform)(home, ".config");
}

type Join = (...parts: readonly string[]) => string;

function joining(platform: string): Join {
  const separator = platform === "win32" ? "\\" : "/";
  return (...parts) => parts.join(separator);
}

function set(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}
