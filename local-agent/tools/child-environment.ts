/** What the tool host and the person's shell find in their environment. */
import { markEntry } from "./process-marker.ts";

/** The agent's own settings, tokens among them, begin so (contract); nothing a tool runs is given one. */
const AGENT_PREFIX = /^PI_AS_MCP_/i;
/** Ours for the agent's process alone: options of its Node must not bend another one. */
const FOR_THIS_NODE = ["NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_UNIQUE_ID"];

/** The agent's environment without its secrets. */
export function shellEnvironment(env: NodeJS.ProcessEnv, secretEnv: readonly string[]): Record<string, string> {
  const removed = new Set([...secretEnv, ...FOR_THIS_NODE].map((name) => name.toUpperCase()));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !AGENT_PREFIX.test(name) && !removed.has(name.toUpperCase())) kept[name] = value;
  }
  return kept;
}

export interface HostPlaces {
  readonly agentDir: string;
  readonly spillDir: string;
  /** Where Node keeps the compiled bundle: a quarter of the start and 3 MB are saved by it. */
  readonly compileCache: string;
  readonly mark: string;
}

/**
 * The shell's, with what is set for the host alone: Pi stays offline and off the person's own Pi settings, long output
 * goes to the private directory. `NODE_OPTIONS` is the shell's business (a debugger port would be taken already).
 */
export function hostEnvironment(shellEnv: Readonly<Record<string, string>>, places: HostPlaces): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _ofTheShell, ...rest } = shellEnv;
  return {
    ...rest,
    PI_OFFLINE: "1",
    PI_CODING_AGENT_DIR: places.agentDir,
    TMPDIR: places.spillDir,
    TMP: places.spillDir,
    TEMP: places.spillDir,
    NODE_COMPILE_CACHE: places.compileCache,
    ...markEntry(places.mark, "host"),
  };
}
