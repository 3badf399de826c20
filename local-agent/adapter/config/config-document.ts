/** A configuration file's content, parsed already → its servers, settings and imports. Pure; tolerant of what other programs keep in it. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { kindOf } from "../../../shared/kind-of.ts";

/** Hosts whose own configuration can be imported. */
export const IMPORT_KINDS = ["cursor", "claude-code", "claude-desktop", "opencode", "vscode", "windsurf", "codex"] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface ConfigDocument {
  readonly servers: ReadonlyMap<string, JsonObject>;
  readonly settings: JsonObject;
  /** In their order, each once. */
  readonly imports: readonly ImportKind[];
  /** `server` null: about the file. */
  readonly problems: readonly DocumentProblem[];
}

export interface DocumentProblem {
  readonly server: string | null;
  readonly message: string;
}

export const EMPTY_DOCUMENT: ConfigDocument = { servers: new Map(), settings: {}, imports: [], problems: [] };

/** Different programs, different names for the same table; the first that is there counts. */
export const SERVER_KEYS = ["mcpServers", "mcp-servers", "servers"];
/** Of a server, wherever it is configured. */
export const MAX_NAME_CHARS = 200;

/** @param content `undefined`: the file is empty */
export function readConfigDocument(content: JsonValue | undefined): ConfigDocument {
  if (content === undefined) return EMPTY_DOCUMENT;
  if (!isJsonObject(content)) return rejected(`expected a JSON object with "mcpServers", got ${kindOf(content)}`);
  const settings = content["settings"] ?? {};
  if (!isJsonObject(settings)) return rejected(`"settings" must be an object, got ${kindOf(settings)}; nothing of this file is used`);
  const problems: DocumentProblem[] = [];
  if (Object.hasOwn(content, "claudePlugins")) problems.push({ server: null, message: NO_CLAUDE_PLUGINS });
  return { servers: readServers(content, problems), settings: present(settings), imports: readImports(content["imports"], problems), problems };
}

/** [UC35] */
const NO_CLAUDE_PLUGINS = '"claudePlugins" has no effect here yet: put the servers of a plugin\'s .mcp.json under "mcpServers"';

function rejected(message: string): ConfigDocument {
  return { ...EMPTY_DOCUMENT, problems: [{ server: null, message }] };
}

function readServers(content: JsonObject, problems: DocumentProblem[]): ReadonlyMap<string, JsonObject> {
  const servers = new Map<string, JsonObject>();
  const key = SERVER_KEYS.find((name) => Object.hasOwn(content, name) && content[name] !== null);
  const table = key === undefined ? {} : (content[key] ?? {});
  if (!isJsonObject(table)) {
    problems.push({ server: null, message: `"${key}" must be an object of servers, got ${kindOf(table)}` });
    return servers;
  }
  for (const [name, entry] of Object.entries(table)) {
    if (name.trim() === "" || name.length > MAX_NAME_CHARS) {
      problems.push({ server: null, message: `a server's name must have 1 to ${MAX_NAME_CHARS} characters, got ${name.length}` });
    } else if (isJsonObject(entry)) servers.set(name, present(entry));
    else problems.push({ server: name, message: `the entry must be an object, got ${kindOf(entry)}; it is ignored` });
  }
  return servers;
}

/** `null` says the same as leaving the field out. */
function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function readImports(value: JsonValue | undefined, problems: DocumentProblem[]): readonly ImportKind[] {
  if (value === undefined || value === null) return [];
  const expected = `"imports" must be a list of ${IMPORT_KINDS.map((kind) => `"${kind}"`).join(", ")}`;
  if (!Array.isArray(value)) {
    problems.push({ server: null, message: `${expected}, got ${kindOf(value)}` });
    return [];
  }
  const kinds = new Set<ImportKind>();
  for (const item of value as readonly JsonValue[]) {
    if (isImportKind(item)) kinds.add(item);
    else problems.push({ server: null, message: `${expected}, got ${typeof item === "string" ? JSON.stringify(item.slice(0, 40)) : kindOf(item)}` });
  }
  return [...kinds];
}

function isImportKind(value: JsonValue): value is ImportKind {
  return IMPORT_KINDS.some((kind) => kind === value);
}
