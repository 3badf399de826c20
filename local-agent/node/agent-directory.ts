/** Where Pi keeps what is its own, also under another name: a program built on Pi says in its manifest what it is called. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expandHome } from "../adapter/config/expansion.ts";
import type { Environment } from "../adapter/ports.ts";
import { isJsonObject, parseJson } from "../../shared/json.ts";

export interface HostBrand {
  /** Name of the directory of settings, in the home directory and in a project. */
  readonly configDir: string;
  /** The variable that puts the agent directory elsewhere. */
  readonly variable: string;
}

const PI: HostBrand = { configDir: ".pi", variable: "PI_CODING_AGENT_DIR" };

/** From `piConfig` of the manifest in `PI_PACKAGE_DIR`; Pi's own names without one, or when it cannot be used. */
export function hostBrand(env: Environment): HostBrand {
  const directory = env["PI_PACKAGE_DIR"] ?? "";
  if (directory === "") return PI;
  const manifest = parseJson(readText(join(directory, "package.json")));
  const brand = isJsonObject(manifest) ? manifest["piConfig"] : undefined;
  if (!isJsonObject(brand)) return PI;
  const { name, configDir } = brand;
  return {
    // One plain directory name: a manifest must not lead out of the project or the home directory.
    configDir: typeof configDir === "string" && /^[\w.-]*[\w-][\w.-]*$/.test(configDir) ? configDir : PI.configDir,
    variable: typeof name === "string" && name !== "" ? `${name.toUpperCase()}_CODING_AGENT_DIR` : PI.variable,
  };
}

/** Absolute path of Pi's agent directory: `~/.pi/agent`, or what the variable of the host says. */
export function agentDirectory(env: Environment, home: string): string {
  const { configDir, variable } = hostBrand(env);
  const given = env[variable] ?? "";
  return given === "" ? join(home, configDir, "agent") : resolve(expandHome(given, home));
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // No manifest: nobody renamed Pi.
  }
}
