/**
 * `/mcp direct`: which tools of a server are offered by their own names, kept in a file of Pi's own. Files that other programs read as
 * well are left alone, and definitions are never copied. Rules: docs/spec/upstream-config.md.
 */
import { err, ok, type Result } from "../../shared/result.ts";
import type { ConfiguredServer, DirectTools, LayerKind } from "../adapter/config/server-definition.ts";
import { createConfigFiles, type ConfigFilesOptions } from "./config-files.ts";
import { configPlaces, projectOverrideFile } from "./config-places.ts";
import { editServerField } from "./edit-config.ts";

/**
 * Resolves with the absolute path of the file that says so now. It holds from the next load on. The error is a sentence for the person;
 * then nothing was written.
 */
export async function keepDirectTools(server: string, directTools: DirectTools, options: ConfigFilesOptions): Promise<Result<string, string>> {
  const file = await fileFor(server, options);
  if (file === null) return err(`No file configures an MCP server "${server}".`);
  const written = await editServerField(file, { server, field: "directTools", value: directTools });
  return written.ok ? ok(file) : written;
}

/** [UC62] The strongest of Pi's files where a file of the project has a say in the server, else the one in Pi's directory. */
async function fileFor(server: string, options: ConfigFilesOptions): Promise<string | null> {
  const configured = (await createConfigFiles(options).load()).servers.get(server);
  if (configured === undefined) return null;
  const { isExclusive, global } = configPlaces(options);
  return isOfProject(configured) && !isExclusive ? projectOverrideFile(options.cwd, options.env) : (global.at(-1)?.origin.file ?? null);
}

/** Layers that lie in the project where what they brought has to be allowed as such. */
const PERHAPS_OF_PROJECT: ReadonlySet<LayerKind> = new Set(["import", "host", "plugin"]);

function isOfProject(configured: ConfiguredServer): boolean {
  const layers = Object.values(configured.state === "invalid" ? configured.origins : configured.definition.origins).map(({ layer }) => layer);
  if (layers.includes("project")) return true;
  return configured.state !== "invalid" && configured.definition.projectText !== null && layers.some((layer) => PERHAPS_OF_PROJECT.has(layer));
}
