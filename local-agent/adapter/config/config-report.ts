/**
 * A configuration as people and programs may see it: which file set what, and no secret. Pure. Rules UC70 to UC72 of
 * docs/spec/upstream-config.md. What could be a secret is told apart by where it stands, never by how it looks alone.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import type { ConfigOrigin, ConfigSourceReport, ConfigWarning, ConfiguredServer, UpstreamConfig } from "./server-definition.ts";
import { isKnownSetting } from "./settings-entry.ts";

export interface ReportedField {
  readonly name: string;
  /** For people, on one line; `(set)` stands for what is not shown. */
  readonly value: string;
  readonly origin: ConfigOrigin;
}

export interface ReportedServer {
  readonly name: string;
  readonly state: "enabled" | "disabled" | "invalid";
  /** What is wrong with it; only with `invalid`. */
  readonly problem: string | null;
  /** A remote client may have written it: it runs for one only after the person allowed exactly this. */
  readonly needsTrust: boolean;
  readonly fields: readonly ReportedField[];
}

export interface ConfigReport {
  readonly servers: readonly ReportedServer[];
  readonly settings: readonly ReportedField[];
  readonly settingsNeedTrust: boolean;
  readonly sources: readonly ConfigSourceReport[];
  readonly warnings: readonly ConfigWarning[];
}

export function configReport(config: UpstreamConfig): ConfigReport {
  return {
    servers: [...config.servers.values()].map(reportedServer),
    settings: Object.entries(config.givenSettings ?? {}).map(([name, { value, origin }]) => ({
      name,
      // Of settings that only others know nothing is known.
      value: isKnownSetting(name) ? plain(value) : SET,
      origin,
    })),
    settingsNeedTrust: config.projectSettingsText !== null,
    sources: config.sources,
    warnings: config.warnings,
  };
}

function reportedServer(server: ConfiguredServer): ReportedServer {
  const { name, state } = server;
  // Of an entry that cannot be understood no value is shown: it could stand anywhere.
  if (state === "invalid") {
    const fields = Object.entries(server.origins).map(([field, origin]) => ({ name: field, value: SET, origin }));
    return { name, state, problem: server.problem, needsTrust: false, fields };
  }
  const { entry, origins, projectText } = server.definition;
  const fields = Object.entries(entry).flatMap(([field, value]): ReportedField[] => {
    const origin = origins[field];
    return origin === undefined ? [] : [{ name: field, value: shownValue(field, value), origin }];
  });
  return { name, state, problem: null, needsTrust: projectText !== null, fields };
}

const SET = "(set)";

/** Of these fields every value is a word of this program's vocabulary, a name or a path. */
const PLAIN = new Set([
  "type",
  "command",
  "cwd",
  "inheritEnv",
  "socket",
  "auth",
  "bearerTokenEnv",
  "bearerTokenStore",
  "caFile",
  "lifecycle",
  "idleTimeout",
  "requestTimeoutMs",
  "protocolVersion",
  "exposeResources",
  "directTools",
  "toolPrefix",
  "includeTools",
  "excludeTools",
  "searchKeywords",
  "approveTools",
  "debug",
  "trace",
  "disabled",
]);

function shownValue(field: string, value: JsonValue): string {
  if (PLAIN.has(field)) return plain(value);
  if (field === "args") return shownArguments(value);
  if (field === "url") return typeof value === "string" ? shownUrl(value) : SET;
  if (field === "bearerToken") return secret(value);
  if (field === "requestHeadersCommand" && isJsonObject(value)) return shownHeadersCommand(value);
  // Variables, headers, OAuth: their names are worth knowing.
  return isJsonObject(value) ? named(value) : value === false ? "false" : SET;
}

function plain(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A command or a bare variable names where the secret comes from, and is none. */
function secret(value: JsonValue): string {
  if (typeof value !== "string") return SET;
  if (value.startsWith("!") && !value.startsWith("!!")) return value;
  return /^(?:\$\{\w+\}|\$env:\w+|\{env:\w+\})$/.test(value) ? value : SET;
}

function named(values: JsonObject): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${secret(value)}`)
    .join(", ");
}

/** The query of an address often holds a key. */
function shownUrl(url: string): string {
  const bare = url.replace(/\/\/[^/?#]*@/, `//${SET}@`);
  const query = bare.search(/[?#]/);
  return query === -1 ? bare : `${bare.slice(0, query)}?${SET}`;
}

function shownArguments(value: JsonValue): string {
  if (!Array.isArray(value)) return SET;
  let hidesNext = false;
  const words = (value as readonly JsonValue[]).map((word) => {
    const text = plain(word);
    const isValue = hidesNext && !PLAIN_FLAG.test(text);
    hidesNext = text === HEADER_FLAG || (text.startsWith("-") && SECRET_WORD.test(text) && !text.includes("="));
    return isValue ? secret(text) : shownArgument(text);
  });
  return words.map((word) => (word === "" || /[\s"']/.test(word) ? JSON.stringify(word) : word)).join(" ");
}

const SECRET_WORD = /key|token|secret|passw|auth|credential|header|bearer/i;
/** How `curl` and many others take a header. */
const HEADER_FLAG = "-H";
/** Behind a flag that names a secret everything else is one: keys may begin with a hyphen. */
const PLAIN_FLAG = /^-(?:[a-z]|-[a-z-]+)$/i;

function shownArgument(text: string): string {
  const [, name = "", value = text] = /^([\w.-]+=)(.+)$/s.exec(text) ?? [];
  if (SECRET_WORD.test(name)) return `${name}${secret(value)}`;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return `${name}${shownUrl(value)}`;
  return /\bbearer\s|^(?:sk|gh[a-z]|xox[a-z]|glpat|eyJ)[-_]?\w{8}/i.test(text) ? SET : text;
}

function shownHeadersCommand({ command, args, env, timeoutMs }: JsonObject): string {
  const parts = [plain(command ?? ""), args === undefined ? "" : shownArguments(args)];
  if (isJsonObject(env)) parts.push(`(${named(env)})`);
  if (timeoutMs !== undefined) parts.push(`within ${plain(timeoutMs)} ms`);
  return parts.filter((part) => part !== "").join(" ");
}
