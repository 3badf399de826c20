/** Agent Plugins in directories of this machine → layers of configuration. Reads two files of each, and nothing outside of it. */
import { join, resolve } from "node:path";
import { readPluginManifest, readPluginServers } from "../adapter/config/agent-plugins.ts";
import { withoutNames } from "../adapter/config/imports.ts";
import { expandHome } from "../adapter/config/expansion.ts";
import type { ConfigLayer } from "../adapter/config/merge.ts";
import type { ConfigSourceReport, ConfigWarning } from "../adapter/config/server-definition.ts";
import { agentDirectory } from "./agent-directory.ts";
import type { ConfigPlacesOptions } from "./config-places.ts";
import { readParsedFile } from "./parsed-file.ts";
import { isDirectory, isWithin, realPath } from "./real-paths.ts";

export interface FoundPlugins {
  readonly layers: readonly ConfigLayer[];
  readonly warnings: readonly ConfigWarning[];
  readonly sources: readonly ConfigSourceReport[];
}

/**
 * @param paths as the settings name them; relative ones are below the project
 * @param named whether a project's file names them
 */
export async function readAgentPlugins(
  paths: readonly string[],
  named: { readonly inProject: boolean },
  options: ConfigPlacesOptions,
): Promise<FoundPlugins> {
  const layers: ConfigLayer[] = [];
  const warnings: ConfigWarning[] = [];
  const sources: ConfigSourceReport[] = [];
  const taken = new Set<string>();
  for (const path of paths) {
    const plugin = await readPlugin(resolve(options.cwd, expandHome(path, options.home)), options);
    for (const message of plugin.problems) warnings.push({ file: plugin.file, server: null, message });
    const { document } = plugin;
    for (const name of document.servers.keys()) {
      if (taken.has(name))
        warnings.push({ file: plugin.file, server: name, message: "another plugin has a server of this name already; the server is skipped" });
    }
    const fresh = withoutNames(document, taken);
    for (const name of fresh.servers.keys()) taken.add(name);
    const origin = { layer: "plugin", file: plugin.file } as const;
    sources.push({ origin, found: plugin.places !== null, servers: [...fresh.servers.keys()] });
    // Whoever can write into the project can change what a plugin there runs, whichever file names it.
    const inProject = named.inProject || isWithin(plugin.places?.root ?? "/", realPath(options.cwd) ?? options.cwd);
    layers.push({ origin, inProject, document: fresh, plugin: plugin.places });
  }
  return { layers, warnings, sources };
}

interface ReadPlugin extends Pick<ConfigLayer, "document"> {
  /** The file that says what there is: `mcp.json`, or the directory when it is no plugin. */
  readonly file: string;
  readonly problems: readonly string[];
  readonly places: { readonly root: string; readonly data: string } | null;
}

async function readPlugin(directory: string, options: ConfigPlacesOptions): Promise<ReadPlugin> {
  const root = realPath(directory);
  if (root === null || !isDirectory(root)) return refused(directory, "expected the directory of an Agent Plugin, and there is none");
  const insideRoot = (path: string): string | null => {
    const real = realPath(join(root, path));
    return real !== null && isWithin(real, root) ? real : null;
  };
  const manifestPath = insideRoot("plugin.json");
  if (manifestPath === null) return refused(directory, `expected a file "plugin.json" in the plugin, and there is none`);
  const parsed = await readParsedFile(manifestPath, "jsonc");
  if (parsed.state !== "read") return refused(manifestPath, parsed.state === "absent" ? "it is gone" : parsed.problem);
  const manifest = readPluginManifest(parsed.content);
  if (!manifest.ok) return refused(manifestPath, `${manifest.error}; the plugin is not used`);
  const { name, problems } = manifest.value;
  const places = { root, data: join(agentDirectory(options.env, options.home), "agent-plugin-data", name) };
  const file = join(root, "mcp.json");
  const servers = await readServersFile(file, insideRoot);
  if ("problem" in servers)
    return { ...refused(file, servers.problem), problems: [...problems, ...(servers.problem === "" ? [] : [servers.problem])], places };
  return { file, problems, places, document: readPluginServers(servers.content, { name, places, insideRoot }) };
}

type ServersFile =
  | { readonly content: Extract<Awaited<ReturnType<typeof readParsedFile>>, { state: "read" }>["content"] }
  | { readonly problem: string };

/** A plugin without the file has no servers, and that is no problem. */
async function readServersFile(file: string, insideRoot: (path: string) => string | null): Promise<ServersFile> {
  const path = insideRoot("mcp.json");
  const parsed = await readParsedFile(path ?? file, "jsonc");
  if (parsed.state === "absent") return { problem: "" };
  if (path === null) return { problem: `"mcp.json" leads out of the plugin; none of its servers is used` };
  return parsed.state === "read" ? { content: parsed.content } : { problem: parsed.problem };
}

function refused(file: string, problem: string): ReadPlugin {
  return { file, problems: [problem], places: null, document: { servers: new Map(), settings: {}, imports: [], problems: [] } };
}
