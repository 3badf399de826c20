/**
 * Agent Plugins 1.0 (agent-plugins.org, §5, §7.2 and §9): a plugin's manifest and its servers, parsed already → entries of this program.
 * Pure but for where a path of the plugin really leads, which is asked. A plugin's values stay text: only `${PLUGIN_ROOT}` and
 * `${PLUGIN_DATA}` stand for something, in the places the standard names, and that is done when the server is started.
 */
import * as v from "valibot";
import { HEADER_NAME } from "../../../shared/http-header.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { kindOf } from "../../../shared/kind-of.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import { EMPTY_DOCUMENT, MAX_NAME_CHARS, type ConfigDocument, type DocumentProblem } from "./config-document.ts";
import type { PluginPlaces } from "./server-entry.ts";

const PLUGIN_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const MCP_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

export interface PluginManifest {
  readonly name: string;
  readonly problems: readonly string[];
}

/** The error is a sentence: nothing of the plugin may be used. Fields nobody knows are problems and change nothing. */
export function readPluginManifest(content: JsonValue | undefined): Result<PluginManifest, string> {
  if (!isJsonObject(content)) return err(`expected a JSON object, got ${kindOf(content)}`);
  if (content["$schema"] !== PLUGIN_SCHEMA) return err(`"$schema" must be "${PLUGIN_SCHEMA}": other versions of Agent Plugins are not supported`);
  const parsed = v.safeParse(MANIFEST, content);
  if (!parsed.success) return err(`"${fieldOf(parsed.issues[0])}" is not as Agent Plugins 1.0 wants it`);
  const unknown = Object.keys(content).filter((field) => !Object.hasOwn(MANIFEST.entries, field) && field !== "extensions");
  const problems = unknown.map((field) => `the field ${JSON.stringify(field.slice(0, 60))} is not known to Agent Plugins 1.0; it is ignored`);
  const { extensions } = content;
  if (extensions !== undefined && !isJsonObject(extensions))
    problems.push(`"extensions" must be an object, got ${kindOf(extensions)}; it is ignored`);
  return ok({ name: parsed.output.name, problems });
}

export interface PluginContext {
  readonly name: string;
  readonly places: PluginPlaces;
  /** Where `./…` of the plugin really leads, links followed; null when there is nothing or it leads out of the plugin. */
  readonly insideRoot: (path: string) => string | null;
}

/** The servers of a plugin's `mcp.json` by the names they have here, `<plugin>__<server>`. */
export function readPluginServers(content: JsonValue | undefined, context: PluginContext): ConfigDocument {
  const table = serverTable(content);
  if (!table.ok) return { ...EMPTY_DOCUMENT, problems: [{ server: null, message: `${table.error}; none of its servers is used` }] };
  const servers = new Map<string, JsonObject>();
  const problems: DocumentProblem[] = [];
  for (const [name, entry] of Object.entries(table.value)) {
    const shown = `${sanitised(context.name)}__${sanitised(name)}`;
    if (shown.length > MAX_NAME_CHARS) {
      const message = `a server's name must have at most ${MAX_NAME_CHARS} characters, got ${shown.length}; the server is skipped`;
      problems.push({ server: shown.slice(0, MAX_NAME_CHARS), message });
      continue;
    }
    const read = readPluginServer(entry, context);
    if (!read.ok) problems.push({ server: shown, message: `${read.error}; the server is skipped` });
    else if (servers.has(shown))
      problems.push({ server: shown, message: "another server of the plugin has this name already; the server is skipped" });
    else servers.set(shown, read.value);
  }
  return { ...EMPTY_DOCUMENT, servers, problems };
}

function serverTable(content: JsonValue | undefined): Result<JsonObject, string> {
  if (!isJsonObject(content)) return err(`expected a JSON object, got ${kindOf(content)}`);
  const { $schema, mcpServers, ...others } = content;
  if ($schema !== MCP_SCHEMA) return err(`"$schema" must be "${MCP_SCHEMA}"`);
  const [other] = Object.keys(others);
  if (other !== undefined) return err(`expected "$schema" and "mcpServers" only, got ${JSON.stringify(other.slice(0, 60))}`);
  return isJsonObject(mcpServers) ? ok(mcpServers) : err(`"mcpServers" must be an object, got ${kindOf(mcpServers)}`);
}

function sanitised(name: string): string {
  return name.replaceAll(/[^\w-]/g, "_");
}

function readPluginServer(entry: JsonValue, context: PluginContext): Result<JsonObject, string> {
  if (!isJsonObject(entry)) return err(`the entry must be an object, got ${kindOf(entry)}`);
  const parsed = v.safeParse(SERVER, entry);
  if (!parsed.success) return err(`"${fieldOf(parsed.issues[0])}" is not as Agent Plugins 1.0 wants it`);
  const server = parsed.output;
  if (server.type !== "stdio") {
    const problem = urlProblem(server.url) ?? headersProblem(server.headers ?? {});
    return problem === null ? ok(entry) : err(problem);
  }
  const reserved = Object.keys(server.env ?? {}).find((name) => /^PLUGIN_(ROOT|DATA)$/i.test(name));
  if (reserved !== undefined) return err(`"env" must not set ${reserved}: it is set for every server of a plugin`);
  const command = pluginCommand(server.command, context);
  if (!command.ok) return command;
  const cwd = pluginDirectory(server.cwd ?? "${PLUGIN_ROOT}", context);
  return cwd.ok ? ok({ ...entry, command: command.value, cwd: cwd.value }) : cwd;
}

function pluginCommand(command: string, { insideRoot }: PluginContext): Result<string, string> {
  if (/^[^/\\]+$/.test(command) && command !== "." && command !== "..") return ok(command);
  if (!command.startsWith("./")) return err(`"command" must be the bare name of a program, or a path that begins with ./`);
  const path = insideRoot(command);
  return path === null ? err(`"command" must be a file inside the plugin`) : ok(path);
}

function pluginDirectory(cwd: string, { insideRoot, places }: PluginContext): Result<string, string> {
  const [, variable, below = ""] = /^\$\{PLUGIN_(ROOT|DATA)\}(\/.*)?$/.exec(cwd) ?? [];
  if (variable === "DATA") {
    return /(^|[/\\])\.\.([/\\]|$)/.test(below) ? err(`"cwd" must stay inside \${PLUGIN_DATA}`) : ok(`${places.data}${below}`);
  }
  if (variable === undefined && !cwd.startsWith("./")) return err(`"cwd" must begin with ./, \${PLUGIN_ROOT} or \${PLUGIN_DATA}`);
  const path = insideRoot(variable === undefined ? cwd : `.${below}`);
  return path === null ? err(`"cwd" must be a directory inside the plugin`) : ok(path);
}

function urlProblem(url: string): string | null {
  if (!URL.canParse(url) || url.includes("${")) return `"url" must be an absolute URL without placeholders`;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== "" || password !== "" || url.includes("#")) return `"url" must have no user name, password or fragment`;
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return null;
  return `"url" must begin with https://, or http:// for this machine itself`;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function headersProblem(headers: Readonly<Record<string, string>>): string | null {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (new Set(names).size < names.length) return `"headers" must have each name once, whatever its case`;
  const isField = Object.entries(headers).every(([name, value]) => HEADER_NAME.test(name) && !/[\r\n\0]/.test(value));
  return isField ? null : `"headers" must be valid HTTP headers`;
}

function fieldOf(issue: v.BaseIssue<unknown>): string {
  const key = issue.path?.[0]?.key;
  return typeof key === "string" ? key.slice(0, 60) : "type";
}

const FILLED = v.pipe(
  v.string(),
  v.minLength(1),
  v.check((text) => !text.includes("\0")),
);
const TEXT = v.optional(v.string());
const TEXTS = v.record(v.string(), v.string());

const MANIFEST = v.object({
  $schema: v.string(),
  name: v.pipe(v.string(), v.maxLength(64), v.regex(/^(?!.*(?:--|\.\.))[a-z\d](?:[a-z\d.-]*[a-z\d])?$/)),
  version: TEXT,
  description: TEXT,
  author: v.optional(v.strictObject({ name: TEXT, email: TEXT, url: TEXT })),
  homepage: TEXT,
  repository: TEXT,
  license: TEXT,
  keywords: v.optional(v.array(v.string())),
});

const STDIO = v.strictObject({
  type: v.literal("stdio"),
  command: FILLED,
  args: v.optional(v.array(v.string())),
  env: v.optional(TEXTS),
  cwd: v.optional(FILLED),
});
const REMOTE = { url: FILLED, headers: v.optional(TEXTS) };
const SERVER = v.variant("type", [
  STDIO,
  v.strictObject({ type: v.literal("streamable-http"), ...REMOTE }),
  v.strictObject({ type: v.literal("sse"), ...REMOTE }),
]);
