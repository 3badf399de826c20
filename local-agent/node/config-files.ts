/**
 * The port `ConfigSource` over files: reads every place, weakest first, and merges. What cannot be read is a warning, never an end.
 * Rules: docs/spec/upstream-config.md.
 */
import { EMPTY_DOCUMENT, IMPORT_KINDS, readConfigDocument, type ConfigDocument, type ImportKind } from "../adapter/config/config-document.ts";
import { hostPlaces, type HostPlace, type Surroundings } from "../adapter/config/host-places.ts";
import { readImported, withoutNames } from "../adapter/config/imports.ts";
import { mergeLayers, mergeSettings, projectSettingsText, type ConfigLayer, type MergeContext } from "../adapter/config/merge.ts";
import type { ConfigSourceReport, ConfigWarning } from "../adapter/config/server-definition.ts";
import { needsTrust, readSettings } from "../adapter/config/settings-entry.ts";
import type { ConfigSource, TrustSubject } from "../adapter/ports.ts";
import { readAgentPlugins } from "./agent-plugins.ts";
import { ancestorPlaces } from "./ancestor-roots.ts";
import { configPlaces, hostSurroundings, type ConfigPlaces, type ConfigPlacesOptions, type FilePlace } from "./config-places.ts";
import { readParsedFile } from "./parsed-file.ts";
import { realPath } from "./real-paths.ts";

export interface ConfigFilesOptions extends ConfigPlacesOptions {
  /**
   * Whether the project's settings that need trust may be used, as far as that is known now. When it says no they are left out of what
   * is loaded, which says so in a warning; `projectSettingsText` is there all the same, to ask about. Then load again.
   */
  readonly trustsProjectSettings: (subject: TrustSubject) => boolean;
  /** What something else than a file configures; every file goes before it. */
  readonly weakest?: readonly ConfigLayer[];
}

export function createConfigFiles(options: ConfigFilesOptions): ConfigSource {
  return {
    load: async () => {
      const { layers, context } = await readLayers(options);
      return mergeLayers(layers, context);
    },
  };
}

/** Whether `server` would be disabled if `file` did not say anything about that. */
export async function isDisabledWithout(file: string, server: string, options: ConfigFilesOptions): Promise<boolean> {
  const { layers, context } = await readLayers(options);
  const others = layers.map((layer) => (layer.origin.file === file ? { ...layer, document: withoutDisabled(layer.document, server) } : layer));
  return mergeLayers(others, context).servers.get(server)?.state === "disabled";
}

function withoutDisabled(document: ConfigDocument, server: string): ConfigDocument {
  const { disabled: _, ...entry } = document.servers.get(server) ?? {};
  return { ...document, servers: new Map([...document.servers, [server, entry]]) };
}

async function readLayers(options: ConfigFilesOptions): Promise<{ readonly layers: readonly ConfigLayer[]; readonly context: MergeContext }> {
  const reading: Reading = { options, around: hostSurroundings(options), warnings: [], sources: [] };
  const places = configPlaces(options);
  const globals = await readPlaces(places.global, reading);
  const ancestors = places.isExclusive ? [] : await readAncestors(globals, places, reading);
  const files = [...globals, ...ancestors, ...(await readPlaces(places.project, reading))];
  const projectSettings = decideProjectSettings(files, reading);
  const { settings, agentPluginPaths } = readSettings(mergeSettings(files, projectSettings).values, options.env);
  const plugins = places.isExclusive ? [] : await readPlugins(agentPluginPaths, { files, projectSettings }, reading);
  const hosts = places.isExclusive || settings.hostConfigDiscovery === "off" ? [] : await readHosts(reading);
  return {
    layers: [...(options.weakest ?? []), ...plugins, ...(settings.hostConfigDiscovery === "on" ? hosts : []), ...files],
    context: { env: options.env, project: options.cwd, projectSettings, warnings: reading.warnings, sources: reading.sources },
  };
}

/** What one load gathers on its way. */
interface Reading {
  readonly options: ConfigFilesOptions;
  readonly around: Surroundings;
  readonly warnings: ConfigWarning[];
  readonly sources: ConfigSourceReport[];
}

async function readPlaces(places: readonly FilePlace[], reading: Reading): Promise<ConfigLayer[]> {
  const layers: ConfigLayer[] = [];
  for (const place of places) layers.push(...(await readPlace(place, reading)));
  return layers;
}

/** [UC50] Weaker than every file. */
async function readPlugins(
  paths: readonly string[],
  { files, projectSettings }: { readonly files: readonly ConfigLayer[]; readonly projectSettings: "use" | "ignore" },
  reading: Reading,
): Promise<readonly ConfigLayer[]> {
  if (paths.length === 0) return [];
  const origin = mergeSettings(files, projectSettings).fields.get("agentPluginPaths")?.origin;
  const inProject = files.some((layer) => layer.inProject && layer.origin === origin);
  const found = await readAgentPlugins(paths, { inProject }, reading.options);
  reading.warnings.push(...found.warnings);
  reading.sources.push(...found.sources);
  return found.layers;
}

/** [UC17] A file that is one of the others by another name is read once, in the other's place. */
async function readAncestors(globals: readonly ConfigLayer[], places: ConfigPlaces, reading: Reading): Promise<readonly ConfigLayer[]> {
  const { values, fields } = mergeSettings(globals, "use");
  const ancestors = ancestorPlaces(readSettings(values, reading.options.env).ancestorConfigRoots, reading.options);
  const file = fields.get("ancestorConfigRoots")?.origin.file ?? "";
  for (const message of ancestors.problems) reading.warnings.push({ file, server: null, message });
  const known = new Set([...places.global, ...places.project].map((place) => realPath(place.origin.file)));
  const fresh = ancestors.places.filter((place) => {
    const path = realPath(place.origin.file);
    if (path === null || known.has(path)) return false;
    known.add(path);
    return true;
  });
  return readPlaces(fresh, reading);
}

/** The file's own layer, and below it what it imports. */
async function readPlace({ origin, inProject }: FilePlace, reading: Reading): Promise<readonly ConfigLayer[]> {
  const parsed = await readParsedFile(origin.file, "jsonc");
  if (parsed.state === "unusable") reading.warnings.push({ file: origin.file, server: null, message: `${parsed.problem}; the file is skipped` });
  const document = parsed.state === "read" ? readConfigDocument(parsed.content) : EMPTY_DOCUMENT;
  reading.sources.push({ origin, found: parsed.state === "read", servers: [...document.servers.keys()] });
  if (parsed.state !== "read") return [];
  const imported = await readImports(document.imports, { layer: "import", inProject }, reading);
  return [...imported, { origin, inProject, document, plugin: null }];
}

/** [UC18] As the weakest layer of all files. */
function readHosts(reading: Reading): Promise<readonly ConfigLayer[]> {
  return readImports(IMPORT_KINDS, { layer: "host", inProject: false }, reading);
}

/** One layer for each kind that has servers; a name belongs to the first kind that has it. */
async function readImports(
  kinds: readonly ImportKind[],
  { layer, inProject }: { readonly layer: "import" | "host"; readonly inProject: boolean },
  reading: Reading,
): Promise<readonly ConfigLayer[]> {
  const layers: ConfigLayer[] = [];
  const taken = new Set<string>();
  for (const kind of kinds) {
    const found = await readHost(kind, reading);
    const origin = { layer, file: found.file };
    const document = withoutNames(found.document, taken);
    for (const name of document.servers.keys()) taken.add(name);
    reading.sources.push({ origin, found: found.found, servers: [...document.servers.keys()] });
    if (found.found) layers.push({ origin, inProject: inProject || found.inProject, document, plugin: null });
  }
  return layers;
}

interface FoundHost {
  readonly document: ConfigDocument;
  /** The strongest file that was read, or where it was looked for first. */
  readonly file: string;
  readonly found: boolean;
  readonly inProject: boolean;
}

async function readHost(kind: ImportKind, reading: Reading): Promise<FoundHost> {
  const candidates = hostPlaces(kind, reading.around);
  // OpenCode's file of the project is read over the account's; of the others one file counts.
  const groups = kind === "opencode" ? [candidates.filter((place) => !place.inProject), candidates.filter((place) => place.inProject)] : [candidates];
  const read = [];
  for (const group of groups) read.push(await firstThatParses(group, reading));
  const found = read.filter((file) => file !== null);
  const strongest = found.at(-1);
  return {
    document: readImported(
      kind,
      found.map(({ content }) => content),
      { project: reading.options.cwd, home: reading.options.home },
    ),
    file: (strongest?.place ?? candidates[0])?.path ?? "",
    found: strongest !== undefined,
    inProject: found.some(({ place }) => place.inProject),
  };
}

async function firstThatParses(places: readonly HostPlace[], { warnings }: Reading) {
  for (const place of places) {
    const parsed = await readParsedFile(place.path, place.format);
    if (parsed.state === "read" && parsed.content !== undefined) return { place, content: parsed.content };
    if (parsed.state === "unusable") warnings.push({ file: place.path, server: null, message: `${parsed.problem}; the file is skipped` });
  }
  return null;
}

/** [UC32] */
function decideProjectSettings(layers: readonly ConfigLayer[], { options, warnings }: Reading): "use" | "ignore" {
  const text = projectSettingsText(layers, options.cwd);
  if (text === null) return "use";
  const asks = ({ inProject, document }: ConfigLayer): boolean =>
    inProject && Object.entries(document.settings).some(([name, value]) => needsTrust(name, value));
  const files = layers.filter(asks).map(({ origin }) => origin.file);
  if (options.trustsProjectSettings({ server: null, text, files })) return "use";
  for (const file of files) warnings.push({ file, server: null, message: "the project's settings are not used until you allow them" });
  return "ignore";
}
