/** What programs that are started for an upstream find in their environment. Pure. */
import type { Environment } from "../adapter/ports.ts";

/** The agent's own settings and tokens, and what opens the person's Cloudflare account: no upstream has any use for them. */
const OF_THE_AGENT = /^(?:PI_AS_MCP_|CLOUDFLARE_|CF_API_|WRANGLER_)/i;
/** Meant for the agent's own Node process. */
const OF_THIS_NODE: ReadonlySet<string> = new Set(["NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_UNIQUE_ID"]);

const DEFAULT_POSIX = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
const DEFAULT_WINDOWS = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/**
 * What a configured value may name: a person's own variable, also a secret one, but nothing that opens this agent itself. On Windows in
 * whatever case, as of `process.env` itself.
 */
export function nameableEnvironment(env: Environment, platform: NodeJS.Platform): Environment {
  const nameable = Object.fromEntries(Object.entries(env).filter(([name]) => !/^PI_AS_MCP_/i.test(name)));
  return platform === "win32" ? inAnyCase(nameable) : nameable;
}

function inAnyCase(env: Environment): Environment {
  const names = new Map(Object.keys(env).map((name) => [name.toUpperCase(), name]));
  const own = (name: string | symbol): string | symbol => (typeof name === "string" ? (names.get(name.toUpperCase()) ?? name) : name);
  return new Proxy(env, {
    get: (target, name) => Reflect.get(target, own(name)) as unknown,
    has: (target, name) => Reflect.has(target, own(name)),
    getOwnPropertyDescriptor: (target, name) => Reflect.getOwnPropertyDescriptor(target, own(name)),
  });
}

/** `whole`: all of the agent's environment but its secrets; `default`: what a program needs on this platform to run at all. */
export function upstreamEnvironment(env: Environment, inherit: "whole" | "default", platform: NodeJS.Platform): Record<string, string> {
  const defaults = new Set(platform === "win32" ? DEFAULT_WINDOWS : DEFAULT_POSIX);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || OF_THE_AGENT.test(name) || OF_THIS_NODE.has(name)) continue;
    // An exported shell function is code, and no setting.
    if (inherit === "default" && (!defaults.has(platform === "win32" ? name.toUpperCase() : name) || value.startsWith("()"))) continue;
    kept[name] = value;
  }
  return kept;
}
