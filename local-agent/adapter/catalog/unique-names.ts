/**
 * Gives everything one name that nothing else has (docs/spec/upstream-catalog.md). Where several want the same, none of them gets it:
 * which one a caller means could only be guessed. They fall back to longer forms, and those that have none left get no name.
 */
import type { ToolPrefix } from "../config/server-definition.ts";
import { displayedName } from "./names.ts";
import { unmistakableName, type NamedTool } from "./selectors.ts";

export interface Naming<T> {
  readonly named: ReadonlyMap<T, string>;
  /** Those that got another name than they would have alone, with the name they wanted. */
  readonly renamed: ReadonlyMap<T, string>;
  readonly nameless: readonly T[];
}

export function uniqueNames<T extends NamedTool>(tools: readonly T[], prefixOf: (server: string) => ToolPrefix): Naming<T> {
  const forms: readonly ((tool: T) => string)[] = [
    ({ original, server }) => displayedName(original, server, prefixOf(server)),
    ({ original, server }) => displayedName(original, server, "server"),
    ({ original, server }) => unmistakableName(original, server),
  ];
  const named = new Map<T, string>();
  const renamed = new Map<T, string>();
  /** Once wanted by several, a name is nobody's. */
  const spent = new Set<string>();
  let open = tools;
  for (const [round, form] of forms.entries()) {
    const { sole, contested } = claimsOf(open, form, spent);
    for (const [name, tool] of sole) {
      named.set(tool, name);
      if (round > 0) renamed.set(tool, displayedName(tool.original, tool.server, prefixOf(tool.server)));
    }
    open = contested;
  }
  return { named, renamed, nameless: open };
}

/** Adds every wanted name to `spent`. */
function claimsOf<T>(tools: readonly T[], form: (tool: T) => string, spent: Set<string>): { sole: Map<string, T>; contested: T[] } {
  const wanted = Map.groupBy(tools, form);
  const sole = new Map<string, T>();
  const contested: T[] = [];
  for (const [name, claimants] of wanted) {
    const [first, second] = claimants;
    if (first !== undefined && second === undefined && !spent.has(name)) sole.set(name, first);
    else contested.push(...claimants);
  }
  for (const name of wanted.keys()) spent.add(name);
  return { sole, contested };
}
