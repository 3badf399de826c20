/**
 * One merged entry of `mcpServers` → a checked definition, or one sentence that says what is wrong with it. Pure; expands nothing.
 * A problem names the field and the kind of what came, never a value that could be a secret.
 */
import * as v from "valibot";
import { HEADER_NAME } from "../../../shared/http-header.ts";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { kindOf } from "../../../shared/kind-of.ts";
import { err, ok, type Result } from "../../../shared/result.ts";
import type { ApproveTools, DirectTools, HttpServer, ServerDefinition, ServerTransport, ToolPrefix } from "./server-definition.ts";

/** What the `settings` say for servers that do not say it themselves. */
export interface EntryDefaults {
  /** 0: never disconnected for being idle. */
  readonly idleTimeoutMinutes: number;
  /** 0 or less: the SDK's own. */
  readonly requestTimeoutMs: number;
  readonly directTools: DirectTools;
  readonly toolPrefix: ToolPrefix;
  readonly approveTools: ApproveTools;
  readonly trace: boolean;
}

/** Directories of the Agent Plugin an entry comes from: its values are literal but for these two. */
export interface PluginPlaces {
  readonly root: string;
  readonly data: string;
}

export interface EntryContext {
  readonly defaults: EntryDefaults;
  readonly plugin: PluginPlaces | null;
}

export type CheckedEntry = Omit<ServerDefinition, "origins" | "projectText">;

/** [UC20] to [UC29] of docs/spec/upstream-config.md. `entry` is kept in the definition as it is. */
export function readServerEntry(name: string, entry: JsonObject, context: EntryContext): Result<CheckedEntry, string> {
  const ways = ["command", "url", "socket"].filter((field) => entry[field] !== undefined);
  if (ways.length !== 1) {
    const got = ways.length === 0 ? "none" : ways.map((way) => JSON.stringify(way)).join(" and ");
    return err(`expected exactly one of "command", "url" and "socket", got ${got}.`);
  }
  const parsed = v.safeParse(FIELDS, entry);
  if (!parsed.success) return err(explain(parsed.issues[0]));
  const fields = parsed.output;
  const transport = readTransport(fields, context.plugin);
  if (!transport.ok) return transport;
  const { defaults } = context;
  const { lifecycle, protocolVersion, exposeResources, includeTools, excludeTools, searchKeywords, debug } = fields;
  return ok({
    name,
    transport: transport.value,
    entry,
    lifecycle,
    idleTimeoutMs: idleTimeoutMs(fields, defaults),
    requestTimeoutMs: positiveMs(fields.requestTimeoutMs ?? defaults.requestTimeoutMs),
    protocolVersion,
    exposeResources,
    directTools: fields.directTools ?? defaults.directTools,
    toolPrefix: fields.toolPrefix ?? defaults.toolPrefix,
    // A list that names nothing is as good as none: to leave out every tool there is `disabled`.
    includeTools: includeTools?.length === 0 ? null : includeTools,
    excludeTools,
    searchKeywords,
    approveTools: fields.approveTools ?? defaults.approveTools,
    debug,
    trace: fields.trace ?? defaults.trace,
  });
}

function readTransport(fields: Fields, plugin: PluginPlaces | null): Result<ServerTransport, string> {
  const mismatch = typeMismatch(fields);
  if (mismatch !== null) return err(mismatch);
  if (fields.command !== undefined) {
    const { command, args, env, cwd, inheritEnv } = fields;
    return ok({ kind: "stdio", command, args, env, cwd, inheritEnv, plugin });
  }
  if (fields.socket !== undefined) return ok({ kind: "socket", path: fields.socket });
  const url = fields.url ?? "";
  const problem = urlProblem(url, plugin !== null);
  return problem === null ? ok(httpServer(url, fields, plugin)) : err(problem);
}

function httpServer(url: string, fields: Fields, plugin: PluginPlaces | null): HttpServer {
  const { headers, bearerToken, bearerTokenEnv, bearerTokenStore, requestHeadersCommand, caFile, oauth } = fields;
  return {
    kind: "http",
    url,
    speaks: SPOKEN[fields.type ?? "http"] ?? "any",
    headers,
    auth: fields.auth === false ? "none" : (fields.auth ?? "unset"),
    bearerToken,
    bearerTokenEnv,
    bearerTokenStore,
    requestHeadersCommand,
    caFile,
    oauth,
    literal: plugin !== null,
  };
}

/** As clients write them. `http` means both transports, as it does for VS Code and Claude Code. */
const SPOKEN: Readonly<Record<string, HttpServer["speaks"]>> = {
  http: "any",
  "streamable-http": "streamable-http",
  streamableHttp: "streamable-http",
  sse: "sse",
};

function typeMismatch({ type, command, url, socket }: Fields): string | null {
  if (type === undefined) return null;
  const expected = type === "stdio" ? "command" : "url";
  const got = command === undefined ? (url === undefined ? "socket" : "url") : "command";
  if (got === expected && socket === undefined) return null;
  return `"type": ${JSON.stringify(type)} goes with "${expected}", but the entry has "${got}": remove "type" or change it.`;
}

const PLACEHOLDER = /\$\{|\$env:|\{env:/;

/** What can be said before placeholders are resolved. Says nothing of the value: it may hold a secret. */
function urlProblem(url: string, literal: boolean): string | null {
  if (!literal && PLACEHOLDER.test(url)) return null;
  if (!URL.canParse(url)) return `"url" must be an absolute http or https URL, e.g. https://example.com/mcp.`;
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return `"url" must begin with http:// or https://.`;
  if (username !== "" || password !== "") return `"url" must not hold a user name or password: put them into "headers".`;
  return null;
}

function idleTimeoutMs({ lifecycle, idleTimeout }: Fields, defaults: EntryDefaults): number | null {
  if (lifecycle === "keep-alive" || lifecycle === "lazy-keep-alive") return null;
  // An eager server stays unless it was asked to go itself; the global default is meant for lazy ones.
  const minutes = idleTimeout ?? (lifecycle === "eager" ? 0 : defaults.idleTimeoutMinutes);
  return positiveMs(minutes * 60_000);
}

/** What timers can hold; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

function positiveMs(ms: number): number | null {
  return ms > 0 ? Math.min(Math.ceil(ms), MAX_TIMER_MS) : null;
}

/** Such a text cannot be handed to another program. */
const TEXT = v.pipe(
  v.string(),
  v.check((text) => !text.includes("\0")),
);
const FILLED = v.pipe(
  TEXT,
  v.check((text) => text.trim() !== ""),
);
/** Says what to do until there is an OAuth client. */
export const NO_LOGIN =
  'logging in with OAuth is not possible yet; give the server a "bearerToken", "bearerTokenEnv", "bearerTokenStore" or "headers"';

/** People write ports and switches without quotes. */
const SCALAR = v.pipe(v.union([TEXT, v.number(), v.boolean()]), v.transform(String));
const VARIABLES = v.record(v.pipe(TEXT, v.regex(/^[^=]+$/)), SCALAR);
const HEADERS = v.record(v.pipe(v.string(), v.regex(HEADER_NAME)), SCALAR);
const NAMES = v.array(v.string());
const NUMBER = v.pipe(v.number(), v.finite());

export const DIRECT_TOOLS = v.union([v.boolean(), v.literal("search"), NAMES]);
export const APPROVE_TOOLS = v.union([v.boolean(), NAMES]);
export const TOOL_PREFIX = v.picklist(["server", "short", "none", "mcp"]);

const FIELDS = v.object({
  type: v.optional(v.picklist(["stdio", "http", "streamable-http", "streamableHttp", "sse"])),
  command: v.optional(FILLED),
  args: v.optional(v.array(SCALAR), []),
  env: v.optional(VARIABLES, {}),
  cwd: v.optional(v.nullable(FILLED), null),
  inheritEnv: v.optional(v.boolean(), true),
  socket: v.optional(FILLED),
  url: v.optional(FILLED),
  headers: v.optional(HEADERS, {}),
  auth: v.optional(v.union([v.picklist(["bearer", "oauth"]), v.literal(false)])),
  bearerToken: v.optional(v.nullable(TEXT), null),
  bearerTokenEnv: v.optional(v.nullable(TEXT), null),
  bearerTokenStore: v.optional(v.boolean(), false),
  requestHeadersCommand: v.optional(
    v.nullable(
      v.object({
        command: FILLED,
        args: v.optional(v.array(SCALAR), []),
        env: v.optional(VARIABLES, {}),
        timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(60_000)), 10_000),
      }),
    ),
    null,
  ),
  caFile: v.optional(v.nullable(FILLED), null),
  oauth: v.optional(v.nullable(v.union([v.literal(false), v.custom<JsonObject>(isJsonObject)])), null),
  lifecycle: v.optional(v.picklist(["lazy", "eager", "keep-alive", "lazy-keep-alive"]), "lazy"),
  idleTimeout: v.optional(v.pipe(NUMBER, v.minValue(0))),
  requestTimeoutMs: v.optional(NUMBER),
  protocolVersion: v.optional(v.picklist(["legacy", "auto", "2026-07-28"]), "legacy"),
  exposeResources: v.optional(v.boolean(), true),
  directTools: v.optional(DIRECT_TOOLS),
  toolPrefix: v.optional(TOOL_PREFIX),
  includeTools: v.optional(v.nullable(NAMES), null),
  excludeTools: v.optional(NAMES, []),
  searchKeywords: v.optional(v.record(v.string(), NAMES), {}),
  approveTools: v.optional(APPROVE_TOOLS),
  debug: v.optional(v.boolean(), false),
  trace: v.optional(v.boolean()),
});
type Fields = v.InferOutput<typeof FIELDS>;

const EXPECTED: Readonly<Record<keyof Fields, string>> = {
  type: '"stdio", "http", "streamable-http" or "sse"',
  command: "the name or path of a program",
  args: "a list of strings",
  env: "an object of strings",
  cwd: "the path of a directory",
  inheritEnv: "true or false",
  socket: "the path of a Unix socket",
  url: "an http or https URL",
  headers: "an object of header names and strings",
  auth: '"bearer", "oauth" or false',
  bearerToken: "a string",
  bearerTokenEnv: "the name of an environment variable",
  bearerTokenStore: "true or false",
  requestHeadersCommand: 'an object with "command", and perhaps "args", "env" and "timeoutMs" (1 to 60000)',
  caFile: "the path of a PEM file",
  oauth: "an object or false",
  lifecycle: '"lazy", "eager", "keep-alive" or "lazy-keep-alive"',
  idleTimeout: "a number of minutes, 0 or more",
  requestTimeoutMs: "a number of milliseconds",
  protocolVersion: '"legacy", "auto" or "2026-07-28"',
  exposeResources: "true or false",
  directTools: 'true, false, "search" or a list of tool names',
  toolPrefix: '"server", "short", "none" or "mcp"',
  includeTools: "a list of tool names or patterns",
  excludeTools: "a list of tool names or patterns",
  searchKeywords: "an object of lists of words",
  approveTools: "true, false or a list of patterns",
  debug: "true or false",
  trace: "true or false",
};

/** Their values are words of this program's vocabulary, so what came can be shown. */
const SHOWN: ReadonlySet<string> = new Set(["type", "lifecycle", "protocolVersion", "toolPrefix"]);

function explain(issue: v.BaseIssue<unknown>): string {
  const [first, ...deeper] = issue.path ?? [];
  const field = typeof first?.key === "string" ? first.key : "";
  const expected = EXPECTED[field as keyof Fields];
  const value = first?.value;
  const got = SHOWN.has(field) && typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : kindOf(value);
  const where = deeper.length === 0 ? "" : ` (at ${deeper.map(({ key }) => JSON.stringify(String(key).slice(0, 60))).join(".")})`;
  return `"${field}" must be ${expected}, got ${got}${where}.`;
}
