/** A configuration that a program hands over instead of files: checked like one. Pure. */
import type { JsonObject } from "../../../shared/json.ts";
import type { ConfigSource, Environment } from "../ports.ts";
import { readConfigDocument } from "./config-document.ts";
import { mergeLayers, type ConfigLayer } from "./merge.ts";

/**
 * @param content as a configuration file has it; a copy is made at once, so that neither side sees what the other changes later
 * @param around.project the directory the session works in
 * @param around.weakest what others configure; the given configuration goes before it
 */
export function createMemoryConfig(
  content: JsonObject,
  { weakest = [], ...around }: { readonly env: Environment; readonly project: string; readonly weakest?: readonly ConfigLayer[] },
): ConfigSource {
  const origin = { layer: "memory", file: "the given configuration" } as const;
  const copy = structuredClone(content);
  return {
    load: async () => {
      // Each load has its own: a session cannot change another's.
      const { imports, ...document } = readConfigDocument(structuredClone(copy));
      const ignored = imports.map((kind) => ({ server: null, message: `"imports" means nothing here: "${kind}" is not read` }));
      const layer = { origin, inProject: false, document: { ...document, imports: [], problems: [...document.problems, ...ignored] }, plugin: null };
      const sources = [{ origin, found: true, servers: [...document.servers.keys()] }];
      return mergeLayers([...weakest, layer], { ...around, projectSettings: "use", warnings: [], sources });
    },
  };
}
