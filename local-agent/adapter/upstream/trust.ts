/** What the person is asked about before a server runs that a project's own files configure. Pure. */
import type { LayerKind, ServerDefinition } from "../config/server-definition.ts";
import type { TrustSubject } from "../ports.ts";

/** Layers that may lie inside the project, where a remote client can write. */
const OF_A_PROJECT: ReadonlySet<LayerKind> = new Set(["project", "import", "host", "plugin"]);

/** null: no project file touched the server, and nobody has to be asked. */
export function trustSubject(definition: ServerDefinition): TrustSubject | null {
  if (definition.projectText === null) return null;
  const origins = Object.values(definition.origins);
  const ofProject = origins.filter((origin) => OF_A_PROJECT.has(origin.layer));
  // None: a file of the account's own names a program that lies in the project.
  const files = (ofProject.length === 0 ? origins : ofProject).map((origin) => origin.file);
  return { server: definition.name, text: definition.projectText, files: [...new Set(files)] };
}
