/**
 * Layers of configuration → one configuration that knows which file set what. Pure. Rules: docs/spec/upstream-config.md.
 *
 * Invariants: a secret never follows a server to another address ([UC11]); what a project's own file touched is known as such, so that
 * it runs only for somebody who was asked ([UC30]).
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import type { Environment } from "../ports.ts";
import type { ConfigDocument } from "./config-document.ts";
import { expandPlaceholders } from "./expansion.ts";
import type {
  ConfigOrigin,
  ConfigSourceReport,
  ConfiguredServer,
  ConfigWarning,
  ServerDefinition,
  ServerTransport,
  UpstreamConfig,
} from "./server-definition.ts";
import { NO_LOGIN, readServerEntry, type EntryDefaults, type PluginPlaces } from "./server-entry.ts";
import { needsTrust, readSetting, readSettings, untrustedPart } from "./settings-entry.ts";

export interface ConfigLayer {
  readonly origin: ConfigOrigin;
  /** The file is a project's own, or lies where a project's own file said: whoever can write into the project can write it. */
  readonly inProject: boolean;
  readonly document: ConfigDocument;
  /** Its servers come from this Agent Plugin. */
  readonly plugin: PluginPlaces | null;
}

export interface MergeContext {
  readonly env: Environment;
  /** Where the session works: part of what a person is asked about, because relative commands mean it. */
  readonly project: string;
  /** `ignore`: the project's settings that need trust are left out; `projectSettingsText` still says what they are. */
  readonly projectSettings: "use" | "ignore";
  readonly warnings: readonly ConfigWarning[];
  readonly sources: readonly ConfigSourceReport[];
}

/** @param layers the weakest first */
export function mergeLayers(layers: readonly ConfigLayer[], context: MergeContext): UpstreamConfig {
  const warnings = [...context.warnings, ...layers.flatMap(documentWarnings)];
  const merged = mergeSettings(layers, context.projectSettings);
  const { settings, defaults } = readSettings(merged.values, context.env);
  const servers = new Map<string, ConfiguredServer>();
  for (const [name, fields] of mergeServers(layers)) {
    const server = configured(name, fields, { defaults, project: context.project, env: context.env });
    servers.set(name, server);
    if (server.state === "invalid") {
      warnings.push({ file: lastOrigin(fields)?.file ?? "", server: name, message: server.problem });
    }
    const login = server.state === "enabled" ? wantedLogin(server.definition) : null;
    if (login !== null)
      warnings.push({ file: fields.get(login)?.origin.file ?? "", server: name, message: `"${login}" has no effect yet: ${NO_LOGIN}` });
  }
  return {
    servers,
    settings,
    givenSettings: Object.fromEntries(merged.fields),
    projectSettingsText: projectSettingsText(layers, context.project),
    warnings: [...warnings, ...merged.warnings],
    sources: context.sources,
  };
}

/** [UC35] The field that asks for a login with OAuth; null: none does. */
function wantedLogin({ transport }: ServerDefinition): "auth" | "oauth" | null {
  if (transport.kind !== "http") return null;
  if (transport.auth === "oauth") return "auth";
  return transport.auth === "unset" && isJsonObject(transport.oauth) ? "oauth" : null;
}

function documentWarnings({ origin, document }: ConfigLayer): ConfigWarning[] {
  return document.problems.map(({ server, message }) => ({ file: origin.file, server, message }));
}

interface SettingField {
  readonly value: JsonValue;
  readonly origin: ConfigOrigin;
}

export interface MergedSettings {
  readonly fields: ReadonlyMap<string, SettingField>;
  /** The same without their origins. */
  readonly values: JsonObject;
  readonly warnings: readonly ConfigWarning[];
}

/** The settings of several layers, per setting; a later layer goes before an earlier one. */
export function mergeSettings(layers: readonly ConfigLayer[], projectSettings: "use" | "ignore"): MergedSettings {
  const merged = new Map<string, SettingField>();
  const warnings: ConfigWarning[] = [];
  for (const { origin, inProject, document } of layers) {
    for (const [name, given] of Object.entries(document.settings)) {
      const { value: read, problem } = readSetting(name, given, inProject);
      if (problem !== undefined) warnings.push({ file: origin.file, server: null, message: problem });
      if (read === undefined) continue;
      const weaker = merged.get(name)?.value;
      const isLeftOut = inProject && projectSettings === "ignore" && needsTrust(name, read);
      const value = isLeftOut ? untrustedPart(name, read, weaker) : read;
      if (value !== undefined && !(isLeftOut && value === weaker)) merged.set(name, { value, origin });
    }
  }
  return {
    fields: merged,
    values: Object.fromEntries([...merged].map(([name, { value }]) => [name, value])),
    warnings,
  };
}

/** What the project's files set that needs trust, as one text for equal settings; null: nothing. */
export function projectSettingsText(layers: readonly ConfigLayer[], project: string): string | null {
  const fields = new Map<string, JsonValue>();
  for (const { inProject, document } of layers) {
    if (!inProject) continue;
    for (const [name, value] of Object.entries(document.settings)) if (needsTrust(name, value)) fields.set(name, value);
  }
  return fields.size === 0 ? null : canonicalJson({ project, settings: Object.fromEntries(fields) });
}

interface Field {
  readonly value: JsonValue;
  readonly origin: ConfigOrigin;
  readonly inProject: boolean;
  readonly plugin: PluginPlaces | null;
}
type Fields = ReadonlyMap<string, Field>;

function mergeServers(layers: readonly ConfigLayer[]): ReadonlyMap<string, Fields> {
  const servers = new Map<string, Fields>();
  for (const { document, ...source } of layers) {
    for (const [name, entry] of document.servers) {
      const before = servers.get(name) ?? new Map<string, Field>();
      const dropped = droppedFields(before, entry);
      const kept = [...before].filter(([field]) => !dropped.has(field));
      const given = Object.entries(entry).map(([field, value]): [string, Field] => [field, { value, ...source }]);
      servers.set(name, new Map([...kept, ...given]));
    }
  }
  return servers;
}

const STDIO_SIDE = new Set(["command", "args", "env", "cwd", "inheritEnv"]);
/** Meant for one address: whoever changes the address does not get them. */
const CREDENTIALS = new Set(["headers", "bearerToken", "bearerTokenEnv", "bearerTokenStore", "requestHeadersCommand", "caFile", "oauth"]);
const URL_SIDE = new Set([...CREDENTIALS, "url", "auth"]);

/** The fields of the weaker layers that end because the stronger entry takes another way to the server, or another address. */
function droppedFields(before: Fields, entry: JsonObject): ReadonlySet<string> {
  const dropped = new Set<string>();
  if (entry["command"] !== undefined) addAll(dropped, URL_SIDE, ["socket", "type"]);
  if (entry["socket"] !== undefined) addAll(dropped, URL_SIDE, STDIO_SIDE, ["type"]);
  if (entry["url"] === undefined) return dropped;
  addAll(dropped, STDIO_SIDE, ["socket"]);
  if (before.get("url")?.value === entry["url"]) return dropped;
  addAll(dropped, CREDENTIALS, ["type"]);
  // To forbid OAuth is no credential.
  if (before.get("oauth")?.value === false) dropped.delete("oauth");
  return dropped;
}

function addAll(to: Set<string>, ...fields: readonly Iterable<string>[]): void {
  for (const field of fields.flatMap((some) => [...some])) to.add(field);
}

function configured(
  name: string,
  fields: Fields,
  { defaults, project, env }: Pick<MergeContext, "project" | "env"> & { readonly defaults: EntryDefaults },
): ConfiguredServer {
  const entry = Object.fromEntries([...fields].map(([field, { value }]) => [field, value]));
  const origins = Object.fromEntries([...fields].map(([field, { origin }]) => [field, origin]));
  const plugin = pluginOf(fields);
  const read = readServerEntry(name, entry, { defaults, plugin });
  if (!read.ok) return { state: "invalid", name, problem: read.error, origins };
  const state = entry["disabled"] === true ? "disabled" : "enabled";
  const projectText = isTouchedByProject(fields) || runsOutOfProject(read.value.transport, env) ? serverText(entry, plugin, project) : null;
  return { state, name, definition: { ...read.value, origins, projectText } };
}

/**
 * As long as anything that runs or is sent comes from a plugin, all of the server's values stay literal: a stronger layer cannot turn a
 * plugin's text into a variable's value.
 */
function pluginOf(fields: Fields): PluginPlaces | null {
  const found = [...fields].find(([field, { plugin }]) => plugin !== null && (STDIO_SIDE.has(field) || URL_SIDE.has(field)));
  return found?.[1].plugin ?? null;
}

/** To switch a server off needs nobody's trust. */
function isTouchedByProject(fields: Fields): boolean {
  return [...fields].some(([field, { value, inProject }]) => inProject && !(field === "disabled" && value === true));
}

/** A program named by a relative path lies in whatever project this is: whoever can write there says what it is. */
function runsOutOfProject(transport: ServerTransport, env: Environment): boolean {
  const isRelative = (path: string): boolean => isRelativePath(expandPlaceholders(path, env).text);
  if (transport.kind === "http") return transport.requestHeadersCommand !== null && isRelative(transport.requestHeadersCommand.command);
  if (transport.kind === "socket" || transport.plugin !== null) return false;
  const { command, cwd } = transport;
  return isRelative(command) && (cwd === null || isRelative(`${cwd}/`));
}

/** Not a bare name, which is looked for in `PATH`, nor what begins with the home directory. `$HOME/…` is one: no shell is asked. */
function isRelativePath(path: string): boolean {
  return /[/\\]/.test(path) && !/^(?:[/\\]|~[/\\]|[a-z]:)/i.test(path);
}

/** Without `disabled`: switching a server off and on again is no new question. */
function serverText(entry: JsonObject, plugin: PluginPlaces | null, project: string): string {
  const { disabled: _, ...shown } = entry;
  return canonicalJson({ entry: shown, project, ...(plugin === null ? {} : { plugin: { root: plugin.root, data: plugin.data } }) });
}

function lastOrigin(fields: Fields): ConfigOrigin | undefined {
  return [...fields.values()].at(-1)?.origin;
}
