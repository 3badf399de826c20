/** What stands for something else in a configured value: placeholders, `~`, and `!command` (contract "Server Options"). Pure. */
import type { Environment } from "../ports.ts";

const PLACEHOLDER = /\$\{(\w+)(?::-([^}]*))?\}|\$env:(\w+)|\{env:(\w+)\}/g;

export interface Expanded {
  readonly text: string;
  /** Variables that are not set and had no default; they became nothing. */
  readonly missing: readonly string[];
}

/** Replaces `${NAME}`, `${NAME:-default}`, `$env:NAME` and `{env:NAME}`, once: what a variable holds is not looked into. */
export function expandPlaceholders(text: string, env: Environment): Expanded {
  const missing: string[] = [];
  const expanded = text.replaceAll(PLACEHOLDER, (...found: readonly (string | undefined)[]) => {
    const [, braced, fallback, dollar, curly] = found;
    const name = braced ?? dollar ?? curly ?? "";
    const value = variable(env, name);
    // As in a shell, `:-` also replaces what is set to nothing.
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    if (value === undefined) missing.push(name);
    return value ?? "";
  });
  return { text: expanded, missing };
}

/** What is set under the name; undefined: nothing. What every object inherits (`constructor`) is no variable. */
export function variable(env: Environment, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** `~` and what begins with `~/` (or `~\`), as below the home directory. */
export function expandHome(path: string, home: string): string {
  if (path === "~") return home;
  return /^~[/\\]/.test(path) ? `${home}${path.slice(1)}` : path;
}

/** A value that may name a command: `!command` is run when it is needed, `!!` begins with a literal `!`. */
export type SecretValue = { readonly kind: "command"; readonly command: string } | { readonly kind: "text"; readonly text: string };

export function secretValue(value: string): SecretValue {
  if (value.startsWith("!!")) return { kind: "text", text: value.slice(1) };
  return value.startsWith("!") ? { kind: "command", command: value.slice(1) } : { kind: "text", text: value };
}
