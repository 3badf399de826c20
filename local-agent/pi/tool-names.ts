/**
 * What the adapter's own tools are called in a session. Pi keeps the first tool of a name: a second one would be reached by nobody, so
 * where another extension has `mcp`, this one has `mcp_2`.
 */
import type { OfferedTool } from "../adapter/adapter.ts";

export interface ToolNames {
  /** The wanted name, or the first of `name_2`, `name_3`, … that is free. */
  free(wanted: string): string;
  /** [PI80] The tool under a name that is free; its description says so where that is another one. */
  named<T extends OfferedTool | null>(tool: T): T;
}

export function createToolNames(session: {
  readonly isOwn: (name: string) => boolean;
  readonly others: () => readonly { readonly name: string }[];
}): ToolNames {
  function free(wanted: string): string {
    const others = new Set(session.others().map(({ name }) => name));
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted}_${number}`;
      if (session.isOwn(name) || !others.has(name)) return name;
    }
  }

  return {
    free,
    named(tool) {
      if (tool === null) return tool;
      const name = free(tool.name);
      if (name === tool.name) return tool;
      const note = `Another extension has ${tool.name}. For these servers use ${name} wherever ${tool.name} is said.`;
      return { ...tool, name, description: `${note} ${tool.description}` };
    },
  };
}
