/**
 * Other hosts' configuration, parsed already → servers in this program's words. Pure. What cannot be carried over is a problem of that
 * server, in a sentence; the others are used.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { kindOf } from "../../../shared/kind-of.ts";
import { EMPTY_DOCUMENT, readConfigDocument, type ConfigDocument, type DocumentProblem, type ImportKind } from "./config-document.ts";

export interface ImportContext {
  readonly project: string;
  readonly home: string;
}

/**
 * A host's files as one document without settings and imports: a host's file configures servers and nothing else.
 * @param contents the weakest first; their entries are merged field by field
 */
export function readImported(kind: ImportKind, contents: readonly (JsonValue | undefined)[], context: ImportContext): ConfigDocument {
  const dialect = DIALECTS[kind];
  const entries = new Map<string, JsonObject>();
  const problems: DocumentProblem[] = [];
  for (const content of contents) {
    const document = readConfigDocument(isJsonObject(content) ? { mcpServers: tableOf(content, dialect.keys) } : content);
    problems.push(...document.problems);
    for (const [name, entry] of document.servers) entries.set(name, overlaid(entries.get(name) ?? {}, entry));
  }
  const servers = new Map<string, JsonObject>();
  for (const [name, entry] of entries) {
    const translated = dialect.translate(entry, context);
    if ("skip" in translated) continue;
    if ("problem" in translated) problems.push({ server: name, message: translated.problem });
    else servers.set(name, translated.entry);
  }
  return { ...EMPTY_DOCUMENT, servers, problems };
}

/** [UC11] What was meant for one address does not follow to another. */
function overlaid(lower: JsonObject, upper: JsonObject): JsonObject {
  const isElsewhere = upper["url"] !== undefined && upper["url"] !== lower["url"];
  const { headers: _headers, oauth: _oauth, ...bare } = lower;
  return { ...(isElsewhere ? bare : lower), ...upper };
}

function tableOf(content: JsonObject, keys: readonly string[]): JsonValue {
  return keys.map((key) => content[key]).find((value) => value !== undefined && value !== null) ?? {};
}

/** Of several imports of one file, the first one that names a server has it. */
export function withoutNames(document: ConfigDocument, taken: ReadonlySet<string>): ConfigDocument {
  return { ...document, servers: new Map([...document.servers].filter(([name]) => !taken.has(name))) };
}

type Translated = { readonly entry: JsonObject } | { readonly problem: string } | { readonly skip: true };

interface Dialect {
  /** Names of the table of servers; the first that is there counts. */
  readonly keys: readonly string[];
  readonly translate: (entry: JsonObject, context: ImportContext) => Translated;
}

const COMMON: Dialect = { keys: ["mcpServers", "mcp-servers"], translate: (entry) => ({ entry }) };

const DIALECTS: Readonly<Record<ImportKind, Dialect>> = {
  cursor: { ...COMMON, translate: fromVsCode },
  "claude-code": COMMON,
  "claude-desktop": COMMON,
  windsurf: { ...COMMON, translate: fromWindsurf },
  vscode: { keys: ["servers", "mcpServers"], translate: fromVsCode },
  opencode: { keys: ["mcp"], translate: fromOpenCode },
  codex: { keys: ["mcp_servers", "mcpServers"], translate: fromCodex },
};

/** Windsurf calls the address of a remote server `serverUrl`. */
function fromWindsurf({ serverUrl, ...entry }: JsonObject, context: ImportContext): Translated {
  return fromVsCode(serverUrl === undefined || entry["url"] !== undefined ? entry : { ...entry, url: serverUrl }, context);
}

/** VS Code, and what grew out of it. It asks for its `inputs` when a server starts; here nobody does, so a server that needs one is left out. */
function fromVsCode({ envFile, ...entry }: JsonObject, { project, home }: ImportContext): Translated {
  const asked = findText(entry, /\$\{(?:input|command|config):[^}]*\}/);
  if (asked !== null) {
    return { problem: `it needs ${asked.slice(0, 80)}, which only its own host can fill in; put \${NAME} of the environment in its place` };
  }
  if (envFile !== undefined) return { problem: `"envFile" is not supported; put the variables into "env"` };
  const replaced = (text: string): string =>
    text
      .replaceAll(/\$\{env:(\w+)\}/g, (_, name: string) => `\${${name}}`)
      .replaceAll("${userHome}", () => home)
      .replaceAll(/\$\{workspace(?:Folder|Root)\}/g, () => project);
  return { entry: mapTexts(entry, replaced) };
}

function fromOpenCode({ type, enabled, command, environment, ...entry }: JsonObject): Translated {
  if (enabled === false) return { skip: true };
  const file = findText({ ...entry, command: command ?? null, environment: environment ?? null }, /\{file:[^}]*\}/);
  if (file !== null) return { problem: `it needs ${file.slice(0, 80)}, which only OpenCode can read; put {env:NAME} in its place` };
  if (type === "remote") return { entry: pick(entry, ["url", "headers", "oauth"]) };
  if (type !== "local")
    return { problem: `"type" must be "local" or "remote", got ${typeof type === "string" ? JSON.stringify(type.slice(0, 40)) : kindOf(type)}` };
  const words: readonly JsonValue[] = Array.isArray(command) ? (command as readonly JsonValue[]) : [];
  const [program, ...args] = words;
  if (typeof program !== "string") return { problem: `"command" must be a list that begins with a program, got ${kindOf(command)}` };
  return { entry: { command: program, args, ...(environment === undefined ? {} : { env: environment }), ...pick(entry, ["cwd"]) } };
}

function fromCodex(codex: JsonObject): Translated {
  if (codex["enabled"] === false) return { skip: true };
  const { bearer_token_env_var: tokenVariable, http_headers: fixed, env_http_headers: variables } = codex;
  const entry: Record<string, JsonValue> = { ...pick(codex, ["command", "args", "env", "cwd", "url"]) };
  if (tokenVariable !== undefined) Object.assign(entry, { bearerTokenEnv: tokenVariable, auth: "bearer" });
  const fromEnvironment = isJsonObject(variables)
    ? Object.fromEntries(Object.entries(variables).map(([header, name]) => [header, typeof name === "string" ? `$env:${name}` : name]))
    : {};
  const headers = { ...(isJsonObject(fixed) ? fixed : {}), ...fromEnvironment };
  if (Object.keys(headers).length > 0) entry["headers"] = headers;
  const seconds = codex["tool_timeout_sec"];
  if (typeof seconds === "number") entry["requestTimeoutMs"] = seconds * 1000;
  return { entry: { ...entry, ...listed(codex, { enabled_tools: "includeTools", disabled_tools: "excludeTools" }) } };
}

function listed(codex: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(names).flatMap(([theirs, ours]) => {
      const value = codex[theirs];
      return value === undefined ? [] : [[ours, value]];
    }),
  );
}

function pick(entry: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.flatMap((field) => (entry[field] === undefined ? [] : [[field, entry[field]]])));
}

function findText(value: JsonValue, pattern: RegExp): string | null {
  if (typeof value === "string") return pattern.exec(value)?.[0] ?? null;
  if (typeof value !== "object" || value === null) return null;
  for (const inner of Object.values(value)) {
    const found = findText(inner, pattern);
    if (found !== null) return found;
  }
  return null;
}

function mapTexts(entry: JsonObject, change: (text: string) => string): JsonObject {
  const mapped = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map(mapped);
    return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapped(inner)])) : value;
  };
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, mapped(value)]));
}
