/**
 * One server's part of the metadata cache file, and how long it counts as fresh. Other packages read the file, so its members are theirs:
 * `tools[].name` is the upstream's own name, what a tool says of its window is in flat members. Ours beyond that are extra members, which
 * they ignore. Pure.
 */
import * as v from "valibot";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import type { StoredCatalog } from "../ports.ts";
import { STREAM_MODE, uiResourceUri, uiStreamMode, uiVisibility } from "./ui-marks.ts";
import type { UpstreamCatalog, UpstreamPrompt, UpstreamResource, UpstreamTool } from "./upstream-catalog.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** However long a server vouches for its list. */
const MAX_FRESH_MS = 7 * DAY_MS;

/**
 * How far a kept catalog of the same definition may be relied on. `cached`: as good as listed now. `stale`: still an index of what there may
 * be, to be listed again on the next connection.
 */
export function freshnessOf({ listedAt, ttlMs }: Pick<UpstreamCatalog, "listedAt" | "ttlMs">, now: number): "cached" | "stale" {
  const ageMs = now - listedAt;
  // A list from the future is of a clock that was wrong; its age is not known.
  if (ageMs < 0 || ageMs > MAX_FRESH_MS) return "stale";
  return ttlMs === null || ageMs < ttlMs ? "cached" : "stale";
}

/** The entry as it stands in the file. */
export function toFileEntry({ configHash, catalog }: StoredCatalog): JsonObject {
  const { tools, resources, prompts, instructions, ttlMs, cacheScope, listedAt } = catalog;
  return present({
    configHash,
    tools: tools.map(fileTool),
    resources: resources.map(fileResource),
    prompts: prompts.map(filePrompt),
    instructions,
    ttlMs,
    cacheScope,
    cachedAt: listedAt,
  });
}

/** Null: not what this file's entries look like. Members and items that cannot be read are left out, as if they had not been listed. */
export function fromFileEntry(value: unknown): StoredCatalog | null {
  const read = v.safeParse(FileEntry, value);
  if (!read.success) return null;
  const { configHash, tools, resources, prompts, instructions, ttlMs, cacheScope, cachedAt } = read.output;
  return {
    configHash,
    catalog: {
      tools: tools.flatMap((item) => readItem(FileTool, item)).map(upstreamTool),
      resources: resources.flatMap((item) => readItem(FileResource, item)) as UpstreamResource[],
      prompts: prompts.flatMap((item) => readItem(FilePrompt, item)) as UpstreamPrompt[],
      instructions: instructions ?? null,
      ttlMs: ttlMs ?? null,
      cacheScope: cacheScope ?? null,
      listedAt: cachedAt,
    },
  };
}

/** What is not as expected is as good as absent. */
function tolerant<T extends v.GenericSchema>(schema: T) {
  return v.fallback(v.optional(schema), undefined);
}

const Items = v.fallback(v.optional(v.array(v.unknown()), []), []);

/** Any object, kept as it is: rebuilding it would lose a member called `__proto__`. */
const Whole = v.custom<JsonObject>(isJsonObject);

const FileEntry = v.object({
  configHash: v.string(),
  tools: Items,
  resources: Items,
  prompts: Items,
  instructions: tolerant(v.string()),
  ttlMs: tolerant(v.pipe(v.number(), v.finite(), v.minValue(0))),
  cacheScope: tolerant(v.picklist(["public", "private"])),
  cachedAt: v.pipe(v.number(), v.finite()),
});

const FileTool = v.object({
  name: v.string(),
  title: tolerant(v.string()),
  description: tolerant(v.string()),
  inputSchema: tolerant(Whole),
  outputSchema: tolerant(Whole),
  annotations: tolerant(
    v.object({
      title: tolerant(v.string()),
      readOnlyHint: tolerant(v.boolean()),
      destructiveHint: tolerant(v.boolean()),
      idempotentHint: tolerant(v.boolean()),
      openWorldHint: tolerant(v.boolean()),
    }),
  ),
  uiResourceUri: tolerant(v.string()),
  uiVisibility: v.optional(v.fallback(v.array(v.picklist(["model", "app"])), [])),
  uiStreamMode: tolerant(v.string()),
});

const FileResource = v.object({
  uri: v.string(),
  name: v.string(),
  title: tolerant(v.string()),
  description: tolerant(v.string()),
  mimeType: tolerant(v.string()),
});

const FilePrompt = v.object({
  name: v.string(),
  title: tolerant(v.string()),
  description: tolerant(v.string()),
  arguments: tolerant(v.array(v.object({ name: v.string(), description: tolerant(v.string()), required: tolerant(v.boolean()) }))),
});

function readItem<T extends v.GenericSchema>(schema: T, item: unknown): v.InferOutput<T>[] {
  const read = v.safeParse(schema, item);
  return read.success ? [read.output] : [];
}

function fileTool(tool: UpstreamTool): JsonObject {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return present({
    name,
    title,
    description,
    inputSchema: inputSchema as JsonValue,
    outputSchema: outputSchema as JsonValue | undefined,
    annotations: annotations as JsonValue | undefined,
    uiResourceUri: uiResourceUri(tool),
    uiVisibility: uiVisibility(tool),
    uiStreamMode: uiStreamMode(tool),
  });
}

function upstreamTool(read: v.InferOutput<typeof FileTool>): UpstreamTool {
  const { uiResourceUri, uiVisibility, uiStreamMode, inputSchema, ...tool } = read;
  const ui = present({ resourceUri: uiResourceUri, visibility: uiVisibility, [STREAM_MODE]: uiStreamMode });
  const meta = Object.keys(ui).length > 0 ? { _meta: { ui } } : {};
  const schema = (inputSchema ?? { type: "object" }) as UpstreamTool["inputSchema"];
  return { ...tool, inputSchema: schema, ...meta };
}

function fileResource({ uri, name, title, description, mimeType }: UpstreamResource): JsonObject {
  return present({ uri, name, title, description, mimeType });
}

function filePrompt({ name, title, description, arguments: args }: UpstreamPrompt): JsonObject {
  const listed = args?.map(({ name, description, required }) => present({ name, description, required }));
  return present({ name, title, description, arguments: listed });
}

function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined && member !== null)) as JsonObject;
}
