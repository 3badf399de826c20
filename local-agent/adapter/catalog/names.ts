/**
 * How what upstreams offer is called here (docs/spec/upstream-catalog.md). Names come from strangers: whatever is not a letter, a digit,
 * `_` or `-` is written as its number, so that a shown name can neither break a provider's rules nor pass for another one.
 */
import type { ToolPrefix } from "../config/server-definition.ts";

const UNSAFE = /[^A-Za-z0-9_-]/gu;

/** A server's name with every other character as `_<hex code>_`. */
export function serverForm(server: string): string {
  return server.replace(UNSAFE, numbered);
}

/** What stands before `_<tool>`; empty: nothing does. */
export function serverPrefix(server: string, mode: ToolPrefix): string {
  switch (mode) {
    case "server":
      return serverForm(server);
    case "short":
      return shortForm(server);
    case "mcp":
      return `mcp__${serverForm(server)}`;
    case "none":
      return "";
  }
}

/** The name a tool is shown under, before anything is known of others that want the same one. */
export function displayedName(tool: string, server: string, mode: ToolPrefix): string {
  return prefixed(serverPrefix(server, mode), toolForm(tool));
}

/** The prefix before the tool's safe name, unless that bears it already. */
export function prefixed(prefix: string, name: string): string {
  if (prefix === "" || (name.startsWith(`${prefix}_`) && name.length > prefix.length + 1)) return name;
  return `${prefix}_${name}`;
}

/** Dots are common in tool names and get the plain underscore. */
export function toolForm(tool: string): string {
  return tool.replaceAll(".", "_").replace(UNSAFE, numbered);
}

/** `read_…`: the tool that reads a resource. */
export function resourceToolName(resource: string): string {
  const slug = resource
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  if (slug === "") return "read_resource";
  return /^\d/.test(slug) ? `read_resource_${slug}` : `read_${slug}`;
}

/** The slash command of a prompt, without the slash: `mcp__<server>__<prompt>`. */
export function promptCommand(prompt: string, server: string, mode: ToolPrefix): string {
  return `mcp__${mode === "short" ? shortForm(server) : serverForm(server)}__${promptForm(prompt)}`;
}

/** The tool that stands for a whole server: `mcp__<server>`, 64 characters at most, distinct for distinct servers but for `-` and `_`. */
export function namespaceProxyName(server: string, sha256: (text: string) => string): string {
  const plain = /^[A-Za-z0-9_-]*$/.test(server) && !server.startsWith("_mcpns_");
  const form = plain ? server.replaceAll("-", "_") : server.replace(/[-_]/g, "__").replace(UNSAFE, numbered);
  const whole = plain ? form : `_mcpns_${form}`;
  if (whole.length <= MAX_NAMESPACE) return `mcp__${whole}`;
  return `mcp___mcpns__h_${form.slice(0, 32)}_${sha256(whole).slice(0, 16)}`;
}

/** With `mcp__` it is 64, the most that every provider takes. */
const MAX_NAMESPACE = 59;

function shortForm(server: string): string {
  const short = server.replace(/-?mcp$/i, "");
  return short === "" ? "mcp" : serverForm(short);
}

function promptForm(prompt: string): string {
  const form = prompt.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^[_-]+|[_-]+$/g, "");
  if (form === "") return "prompt";
  return /^\d/.test(form) ? `_${form}` : form;
}

function numbered(character: string): string {
  return `_${(character.codePointAt(0) ?? 0).toString(16)}_`;
}
