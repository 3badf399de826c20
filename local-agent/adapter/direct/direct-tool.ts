/** A tool of an upstream, offered by its own name. Pure. */
import type { DirectTool } from "../adapter.ts";
import { directSchema } from "../catalog/direct-schema.ts";
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";

const SNIPPET_CHARS = 100;

/** [CL85] Name, description and schema as providers take them. */
export function directTool(entry: CatalogEntry, shown: boolean): DirectTool {
  const { displayed, title, description, annotations } = entry;
  const said = description === "" ? "(no description)" : description;
  const hints = { readOnlyHint: annotations?.readOnlyHint, destructiveHint: annotations?.destructiveHint };
  const more = { idempotentHint: annotations?.idempotentHint, openWorldHint: annotations?.openWorldHint };
  const given = Object.entries({ ...hints, ...more }).filter(([, hint]) => typeof hint === "boolean");
  return {
    name: displayed,
    title: title ?? displayed,
    description: said,
    inputSchema: directSchema(entry.inputSchema),
    annotations: Object.fromEntries(given),
    promptSnippet: said
      .replaceAll(/\s+/g, " ")
      .slice(0, SNIPPET_CHARS)
      .replace(/[\ud800-\udbff]$/, ""),
    entry,
    shown,
  };
}
