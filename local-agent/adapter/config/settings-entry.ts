/** The files' `settings` → checked settings with defaults. Pure. A value that cannot be used is a warning and never weakens anything. */
import * as v from "valibot";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { kindOf } from "../../../shared/kind-of.ts";
import type { Environment } from "../ports.ts";
import type { AdapterSettings, OutputGuardSettings } from "./server-definition.ts";
import { APPROVE_TOOLS, DIRECT_TOOLS, NO_LOGIN, TOOL_PREFIX, type EntryDefaults } from "./server-entry.ts";

const BOOLEAN = v.boolean();
const NUMBER = v.pipe(v.number(), v.finite());
const BOUND = v.pipe(v.number(), v.integer(), v.minValue(1));
const SWITCH = "true or false";

/** What each setting may be. Names that are not here are left alone: other versions know them. */
const ENTRIES = {
  toolPrefix: v.optional(TOOL_PREFIX, "server"),
  idleTimeout: v.optional(v.pipe(NUMBER, v.minValue(0)), 10),
  requestTimeoutMs: v.optional(NUMBER, 0),
  directTools: v.optional(DIRECT_TOOLS, false),
  freezeDirectTools: v.optional(BOOLEAN, false),
  disableProxyTool: v.optional(BOOLEAN, false),
  namespaceProxyTools: v.optional(BOOLEAN, true),
  strictDirectToolArguments: v.optional(BOOLEAN, false),
  directToolResultDetails: v.optional(v.picklist(["lean", "bounded"]), "lean"),
  warnOnLargeDirectTools: v.optional(BOOLEAN, true),
  scriptMode: v.optional(BOOLEAN, true),
  approveTools: v.optional(APPROVE_TOOLS, false),
  sampling: v.optional(v.nullable(BOOLEAN), null),
  samplingAutoApprove: v.optional(BOOLEAN, false),
  elicitation: v.optional(v.nullable(BOOLEAN), null),
  autoAuth: v.optional(BOOLEAN, false),
  outputGuard: v.optional(
    v.union([BOOLEAN, v.object({ maxBytes: v.optional(BOUND), maxLines: v.optional(BOUND), detailsMaxBytes: v.optional(BOUND) })]),
    true,
  ),
  trace: v.optional(
    v.object({ enabled: v.optional(BOOLEAN), file: v.optional(v.string()), maxBytes: v.optional(BOUND), maxEvents: v.optional(BOUND) }),
    {},
  ),
  showStatusIcon: v.optional(BOOLEAN, true),
  mcpFooterStatus: v.optional(v.picklist(["full", "compact", "off"]), "full"),
  toolResultRendering: v.optional(v.picklist(["compact", "boxed"]), "boxed"),
  collapsedResultLines: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3))), null),
  notifyOnStartupConnect: v.optional(BOOLEAN, true),
  hostConfigDiscovery: v.optional(v.picklist(["off", "prompt", "on"]), "off"),
  agentPluginPaths: v.optional(v.array(v.string()), []),
  ancestorConfigRoots: v.optional(v.array(v.string()), []),
};
const MERGED = v.object(ENTRIES);
type Merged = v.InferOutput<typeof MERGED>;

const EXPECTED: Readonly<Record<keyof typeof ENTRIES, string>> = {
  toolPrefix: '"server", "short", "none" or "mcp"',
  idleTimeout: "a number of minutes, 0 or more",
  requestTimeoutMs: "a number of milliseconds",
  directTools: 'true, false, "search" or a list of tool names',
  freezeDirectTools: SWITCH,
  disableProxyTool: SWITCH,
  namespaceProxyTools: SWITCH,
  strictDirectToolArguments: SWITCH,
  directToolResultDetails: '"lean" or "bounded"',
  warnOnLargeDirectTools: SWITCH,
  scriptMode: SWITCH,
  approveTools: "true, false or a list of patterns",
  sampling: SWITCH,
  samplingAutoApprove: SWITCH,
  elicitation: SWITCH,
  autoAuth: SWITCH,
  outputGuard: 'true, false or an object with "maxBytes", "maxLines" and "detailsMaxBytes"',
  trace: 'an object with "enabled", "file", "maxBytes" and "maxEvents"',
  showStatusIcon: SWITCH,
  mcpFooterStatus: '"full", "compact" or "off"',
  toolResultRendering: '"compact" or "boxed"',
  collapsedResultLines: "1, 2 or 3",
  notifyOnStartupConnect: SWITCH,
  hostConfigDiscovery: '"off", "prompt" or "on"',
  agentPluginPaths: "a list of directories",
  ancestorConfigRoots: "a list of directories",
};

/**
 * Settings that change how things look and how many tools are shown, and nothing about what may run, is asked, or leaves the machine.
 * A project may set them unasked; for every other setting, unknown ones too, the person is asked.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  "idleTimeout",
  "requestTimeoutMs",
  "directTools",
  "freezeDirectTools",
  "disableProxyTool",
  "namespaceProxyTools",
  "directToolResultDetails",
  "warnOnLargeDirectTools",
  "showStatusIcon",
  "mcpFooterStatus",
  "toolResultRendering",
  "collapsedResultLines",
  "notifyOnStartupConnect",
]);

/** Values than which nothing is stricter: whoever sets them weakens nothing. */
const STRICTEST: Readonly<Record<string, JsonValue>> = {
  approveTools: true,
  scriptMode: false,
  sampling: false,
  samplingAutoApprove: false,
  elicitation: false,
  autoAuth: false,
  hostConfigDiscovery: "off",
};

/** [UC17] It does not count there, and nobody is asked about what does not count. */
const NEVER_OF_A_PROJECT = "ancestorConfigRoots";

export function needsTrust(setting: string, value: JsonValue): boolean {
  return setting !== NEVER_OF_A_PROJECT && !HARMLESS.has(setting) && !(Object.hasOwn(STRICTEST, setting) && STRICTEST[setting] === value);
}

/** What of a setting counts although it is not trusted: calls a project wants asked about are asked about, besides the others. */
export function untrustedPart(setting: string, value: JsonValue, weaker: JsonValue | undefined): JsonValue | undefined {
  if (setting !== "approveTools" || !Array.isArray(value) || weaker === true) return weaker;
  return [...new Set<JsonValue>([...(Array.isArray(weaker) ? (weaker as readonly JsonValue[]) : []), ...(value as readonly JsonValue[])])];
}

/**
 * What of one file's setting counts: itself, or the sentence why not. An unreadable `approveTools` counts as `true`: whoever wrote it
 * wanted to be asked.
 */
export function readSetting(name: string, value: JsonValue, inProject: boolean): { readonly value?: JsonValue; readonly problem?: string } {
  if (inProject && name === NEVER_OF_A_PROJECT) return { problem: `the setting "${name}" counts in your own files only; it is ignored` };
  const later = value === false ? undefined : LATER.get(name);
  if (later !== undefined) return { value, problem: `the setting "${name}" has no effect here yet: ${later}` };
  if (!isKnownSetting(name) || v.is(ENTRIES[name], value)) return name === "outputGuard" ? withRoom(value) : { value };
  const problem = `the setting "${name}" must be ${EXPECTED[name]}, got ${kindOf(value)}`;
  return name === "approveTools" ? { value: true, problem: `${problem}; every call is asked about` } : { problem: `${problem}; it is ignored` };
}

/** [UC27] The note that says what was cut and where the whole is takes a part of the bytes itself. */
const MIN_GUARD_BYTES = 1024;

function withRoom(value: JsonValue): { readonly value: JsonValue; readonly problem?: string } {
  const bytes = isJsonObject(value) ? value["maxBytes"] : undefined;
  if (!isJsonObject(value) || typeof bytes !== "number" || bytes >= MIN_GUARD_BYTES) return { value };
  const problem = `the setting "outputGuard" must have "maxBytes" of ${MIN_GUARD_BYTES} or more, got ${bytes}; ${MIN_GUARD_BYTES} is used`;
  return { value: { ...value, maxBytes: MIN_GUARD_BYTES }, problem };
}

/** [UC35] What other versions of these files know, with what to do instead. */
const LATER: ReadonlyMap<string, string> = new Map([
  ...["autoAuth", "oauthDir", "oauthCredentialStore", "authRequiredMessage"].map((name): [string, string] => [name, NO_LOGIN]),
  ["jev", "tools are ranked on this machine, and nothing of them is sent to a ranking service"],
]);

export function isKnownSetting(name: string): name is keyof typeof ENTRIES {
  return Object.hasOwn(ENTRIES, name);
}

export interface ReadSettings {
  readonly settings: AdapterSettings;
  readonly defaults: EntryDefaults;
  /** As written: directories, relative ones below the project. */
  readonly agentPluginPaths: readonly string[];
  readonly ancestorConfigRoots: readonly string[];
}

/** @param merged values that `readSetting` let through */
export function readSettings(merged: JsonObject, env: Environment): ReadSettings {
  const { idleTimeout, requestTimeoutMs, agentPluginPaths, ancestorConfigRoots, ...given } = v.parse(MERGED, merged);
  const settings: AdapterSettings = {
    ...given,
    outputGuard: OFF.test((env["MCP_OUTPUT_GUARD"] ?? "").trim()) ? null : outputGuard(given.outputGuard),
    trace: traceSettings(given.trace),
    collapsedResultLines: given.collapsedResultLines ?? (given.toolResultRendering === "boxed" ? 3 : 1),
  };
  const { directTools, toolPrefix, approveTools, trace } = settings;
  return {
    settings,
    defaults: { idleTimeoutMinutes: idleTimeout, requestTimeoutMs, directTools, toolPrefix, approveTools, trace: trace.enabled },
    agentPluginPaths,
    ancestorConfigRoots,
  };
}

/** [UC27] Beside the settings there is a switch for one run. */
const OFF = /^(0|false|no|off)$/i;

/** As much as Pi's own shell tool shows. */
const GUARD: OutputGuardSettings = { maxBytes: 51_200, maxLines: 2000, detailsMaxBytes: 16_384 };

function outputGuard(given: Merged["outputGuard"]): OutputGuardSettings | null {
  if (given === false) return null;
  if (given === true) return GUARD;
  return {
    maxBytes: given.maxBytes ?? GUARD.maxBytes,
    maxLines: given.maxLines ?? GUARD.maxLines,
    detailsMaxBytes: given.detailsMaxBytes ?? GUARD.detailsMaxBytes,
  };
}

function traceSettings(given: Merged["trace"]): AdapterSettings["trace"] {
  return {
    enabled: given.enabled ?? false,
    file: given.file ?? null,
    maxBytes: given.maxBytes ?? 262_144,
    maxEvents: given.maxEvents ?? 10_000,
  };
}
