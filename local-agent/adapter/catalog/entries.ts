/** From what upstreams listed to what a model can call: filtered, named, bounded (docs/spec/upstream-catalog.md). Pure. */
import { isJsonObject } from "../../../shared/json.ts";
import { visibleBlock, visibleLine } from "../../../shared/visible-text.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { displayedName, resourceToolName } from "./names.ts";
import { isWithinBounds } from "./schema-bounds.ts";
import { uiVisibility } from "./ui-marks.ts";
import { createToolSelectors, type NamedTool, type ToolSelectors } from "./selectors.ts";
import { uniqueNames } from "./unique-names.ts";
import type { CatalogEntry, HeldCatalog, UpstreamResource, UpstreamTool } from "./upstream-catalog.ts";

/** An enabled server with what is known of it; null: nothing yet. */
export interface CatalogSource {
  readonly definition: ServerDefinition;
  readonly held: HeldCatalog | null;
}

export interface CatalogWarning {
  readonly server: string;
  /** For the person: what was left out or renamed, and why. */
  readonly message: string;
}

export interface Catalog {
  /** In the order of the sources, tools before resources, each in the order it was listed. */
  readonly entries: readonly CatalogEntry[];
  readonly warnings: readonly CatalogWarning[];
  readonly selectors: ToolSelectors;
}

/** Longer ones are no names but attacks on whoever shows them. */
const MAX_NAME = 256;
const MAX_URI = 8 * 1024;
const MAX_DESCRIPTION = 8 * 1024;
const MAX_TITLE = 200;
/** Of one server; a hostile one could otherwise fill a person's screen. */
const MAX_WARNINGS = 10;

export function catalogEntries(sources: readonly CatalogSource[]): Catalog {
  const warnings = new Warnings();
  const definitions = new Map(sources.map(({ definition }) => [definition.name, definition]));
  const prefixOf = (server: string) => definitions.get(server)?.toolPrefix ?? "server";
  const offered = sources.flatMap((source) => offers(source, warnings));
  const selectors = createToolSelectors(offered, prefixOf);
  const byServer = Map.groupBy(offered, ({ server }) => server);
  const kept = sources.flatMap(({ definition }) => {
    const own = (byServer.get(definition.name) ?? []).filter((offer) => isSelected(offer, definition, selectors));
    return unequal(own, definition, warnings);
  });

  const { named, renamed, nameless } = uniqueNames(kept, prefixOf);
  for (const [offer, wanted] of renamed) {
    warnings.add(offer.server, `"${line(wanted)}" is offered by several servers; here it is "${named.get(offer) ?? ""}".`);
  }
  for (const offer of nameless) warnings.add(offer.server, `"${line(offer.original)}" is left out: every name for it is taken by another tool, too.`);

  const entries = kept.flatMap((offer) => {
    const displayed = named.get(offer);
    const definition = definitions.get(offer.server);
    return displayed === undefined || definition === undefined ? [] : [entryOf(offer, displayed, keywordsOf(offer, definition, selectors))];
  });
  return { entries, warnings: warnings.list(), selectors };
}

type Offer = NamedTool & { readonly freshness: HeldCatalog["freshness"] } & (
    | { readonly kind: "tool"; readonly tool: UpstreamTool; readonly schemas: Schemas }
    | { readonly kind: "resource"; readonly resource: UpstreamResource }
  );

type Schemas = Pick<CatalogEntry, "inputSchema" | "outputSchema">;

function offers({ definition, held }: CatalogSource, warnings: Warnings): Offer[] {
  if (held === null) return [];
  const { freshness, catalog } = held;
  const server = definition.name;
  const tools = catalog.tools.filter((tool) => isForModels(tool) && isNamed(tool.name, server, warnings));
  const resources = definition.exposeResources ? catalog.resources.filter(({ uri }) => isAddressed(uri, server, warnings)) : [];
  return [
    ...tools.map((tool): Offer => ({ kind: "tool", server, original: tool.name, freshness, tool, schemas: schemasOf(tool, server, warnings) })),
    ...resources.map((resource): Offer => ({
      kind: "resource",
      server,
      original: resourceToolName(resource.name.slice(0, MAX_NAME)),
      freshness,
      resource,
    })),
  ];
}

/** MCP Apps: a tool can be for its own window only. A value that is not one of the known ones makes it nobody's. */
function isForModels(tool: UpstreamTool): boolean {
  const visibility = uiVisibility(tool);
  return visibility === null || visibility.includes("model");
}

function isNamed(name: string, server: string, warnings: Warnings): boolean {
  if (name !== "" && name.length <= MAX_NAME) return true;
  warnings.add(
    server,
    name === "" ? "A tool without a name is left out." : `The tool "${line(name)}" is left out: its name is longer than ${MAX_NAME}.`,
  );
  return false;
}

function isAddressed(uri: string, server: string, warnings: Warnings): boolean {
  if (uri !== "" && uri.length <= MAX_URI) return true;
  warnings.add(server, `A resource is left out: its address is ${uri === "" ? "empty" : `longer than ${MAX_URI}`}.`);
  return false;
}

function schemasOf(tool: UpstreamTool, server: string, warnings: Warnings): Schemas {
  const { inputSchema, outputSchema } = tool;
  const input = isWithinBounds(inputSchema);
  const output = outputSchema === undefined || isWithinBounds(outputSchema);
  if (!input || !output) warnings.add(server, `The schema of "${line(tool.name)}" is too large or too deep and is ignored.`);
  return {
    inputSchema: input && isJsonObject(inputSchema) && inputSchema.type === "object" ? inputSchema : { type: "object" },
    outputSchema: output ? (outputSchema ?? null) : null,
  };
}

function isSelected(offer: NamedTool, { includeTools, excludeTools }: ServerDefinition, selectors: ToolSelectors): boolean {
  if (includeTools !== null && !selectors.matches(offer, includeTools)) return false;
  return !selectors.guards(offer, excludeTools);
}

/** Of one server: a tool listed twice counts once, a resource gives way to a tool, and all others that would look the same go. */
function unequal(own: readonly Offer[], { name: server, toolPrefix }: ServerDefinition, warnings: Warnings): Offer[] {
  const wanted = Map.groupBy(own, ({ original }) => displayedName(original, server, toolPrefix));
  return [...wanted].flatMap(([name, claimants]) => {
    const tools = claimants.filter(({ kind }) => kind === "tool");
    const rivals = tools.length > 0 ? tools : claimants;
    if (rivals.length < claimants.length) warnings.add(server, `Resources are left out, because a tool is called "${line(name)}", too.`);
    const [first] = rivals;
    if (first === undefined || rivals.length === 1) return rivals;
    if (first.kind === "tool" && rivals.every(({ original }) => original === first.original)) {
      warnings.add(server, `"${line(first.original)}" is listed more than once; the first counts.`);
      return [first];
    }
    warnings.add(server, `${rivals.length} ${first.kind}s are left out, because all of them would be called "${line(name)}".`);
    return [];
  });
}

function keywordsOf(offer: NamedTool, { searchKeywords }: ServerDefinition, selectors: ToolSelectors): string[] {
  return Object.entries(searchKeywords).flatMap(([pattern, words]) => (selectors.matches(offer, [pattern]) ? words : []));
}

function entryOf(offer: Offer, displayed: string, keywords: readonly string[]): CatalogEntry {
  const { server, original, freshness } = offer;
  const shared = { server, original, displayed, keywords, freshness };
  if (offer.kind === "resource") {
    const { uri, description, title } = offer.resource;
    const said = bounded(description ?? "");
    return {
      ...shared,
      kind: "resource",
      resourceUri: uri,
      title: titleOf(title),
      description: said === "" ? `Read resource: ${line(uri)}` : said,
      inputSchema: { type: "object", properties: {} },
      outputSchema: null,
      annotations: { readOnlyHint: true },
    };
  }
  const { description, title, annotations } = offer.tool;
  return {
    ...shared,
    kind: "tool",
    resourceUri: null,
    title: titleOf(title ?? annotations?.title),
    description: bounded(description ?? ""),
    ...offer.schemas,
    annotations: annotations ?? null,
    ...(isOnlyTask(offer.tool) && { onlyAsTask: true }),
  };
}

function isOnlyTask({ execution }: { readonly execution?: unknown }): boolean {
  return typeof execution === "object" && execution !== null && "taskSupport" in execution && execution.taskSupport === "required";
}

function titleOf(title: string | undefined): string | null {
  return title === undefined || title === "" ? null : visibleLine(title, MAX_TITLE);
}

/** Line breaks stay; what hides or reorders text is shown as its number. */
function bounded(text: string): string {
  const cut = text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION).replace(/[\ud800-\udbff]$/, "")}…` : text;
  const trimmed = cut.trim();
  // Nearly every description is plain, and this looks at thousands of them before anybody gets an answer.
  return PLAIN.test(trimmed) ? trimmed : visibleBlock(trimmed);
}

const PLAIN = /^[ -~\n\t]*$/;

function line(text: string): string {
  return visibleLine(text, 100);
}

class Warnings {
  readonly #said = new Map<string, string[]>();

  add(server: string, message: string): void {
    const said = this.#said.get(server) ?? [];
    this.#said.set(server, said);
    said.push(message);
  }

  list(): CatalogWarning[] {
    return [...this.#said].flatMap(([server, said]) => {
      const more = said.length - MAX_WARNINGS;
      const shown = more > 0 ? [...said.slice(0, MAX_WARNINGS), `And ${more} more of that kind.`] : said;
      return shown.map((message) => ({ server, message }));
    });
  }
}
