/** What an upstream returned, as content that a model is given. */
import type { CallToolResult, ContentBlock, ReadResourceResult } from "@modelcontextprotocol/client";
import type { JsonValue } from "../../../shared/json.ts";
import { canonicalJson, isJsonObject, parseJson } from "../../../shared/json.ts";
import type { ToolContent } from "../../../shared/tool.ts";
import type { OutputFiles } from "../ports.ts";
import { imageType } from "./image-type.ts";
import { readableJson } from "./readable-json.ts";

type KeepBinary = OutputFiles["keepBinary"];

/**
 * [CL10] Text and images as they are, everything else as text that says what it is; binary data goes to a file, whose path is named.
 * [CL11] `structuredContent` follows as JSON, unless a text says the same already.
 */
export async function toolContent(result: CallToolResult, keepBinary: KeepBinary): Promise<readonly ToolContent[]> {
  const blocks: ToolContent[] = [];
  for (const block of result.content) blocks.push(await shown(block, keepBinary));
  const structured = result.structuredContent as JsonValue | undefined;
  if (structured !== undefined && !saidAlready(structured, blocks)) blocks.push(text(readableJson(structured) ?? TOO_DEEP));
  return blocks.some(saysSomething) ? blocks : [text("(empty result)")];
}

/** [CL12] The same for a resource. */
export async function resourceContent(result: ReadResourceResult, keepBinary: KeepBinary): Promise<readonly ToolContent[]> {
  const blocks: ToolContent[] = [];
  for (const part of result.contents)
    blocks.push("text" in part ? text(part.text) : await image("Binary resource", part.blob, { mimeType: part.mimeType, keepBinary }));
  return blocks.some(saysSomething) ? blocks : [text("(empty resource)")];
}

const TOO_DEEP = "[structured content that is nested too deeply to be shown]";

/** Deeper values are not compared: they are shown twice at worst. */
const MAX_COMPARED_CHARS = 1_000_000;

async function shown(block: ContentBlock, keepBinary: KeepBinary): Promise<ToolContent> {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return image("Image", block.data, { mimeType: block.mimeType, keepBinary });
    case "audio":
      return text(await kept(`Audio (${block.mimeType})`, block.data, keepBinary));
    case "resource_link":
      return text(`[Resource: ${block.title ?? block.name}] ${block.uri}${block.description === undefined ? "" : ` - ${block.description}`}`);
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return text(`[Resource: ${resource.uri}]\n${resource.text}`);
      return text(await kept(`Resource ${resource.uri} (${resource.mimeType ?? "binary"})`, resource.blob, keepBinary));
    }
    default:
      return text(`[content of an unknown type: ${String(Reflect.get(block, "type")).slice(0, 100)}]`);
  }
}

async function image(
  what: string,
  data: string,
  { mimeType = "unknown type", keepBinary }: { readonly mimeType: string | undefined; readonly keepBinary: KeepBinary },
): Promise<ToolContent> {
  const type = imageType(data);
  return type === null ? text(await kept(`${what} (${mimeType})`, data, keepBinary)) : { type: "image", data, mimeType: type };
}

async function kept(what: string, base64: string, keepBinary: KeepBinary): Promise<string> {
  try {
    const { path, bytes } = await keepBinary(base64);
    return `[${what}, ${bytes} bytes, saved to ${path}]`;
  } catch (error) {
    return `[${what} could not be saved: ${error instanceof Error ? error.message : String(error)}]`;
  }
}

/** SDKs repeat the value as JSON text; some wrap a plain answer as `{result: …}` beside it. */
function saidAlready(structured: JsonValue, blocks: readonly ToolContent[]): boolean {
  const texts = blocks.filter((block) => block.type === "text").map((block) => block.text);
  const wrapped = isJsonObject(structured) && Object.keys(structured).join() === "result" ? structured["result"] : undefined;
  // Many servers put the very text under one key.
  const [only, ...more] = isJsonObject(structured) ? Object.values(structured) : [];
  if (more.length === 0 && typeof only === "string" && texts.includes(only)) return true;
  const wanted = [structured, ...(wrapped === undefined ? [] : [wrapped])].map(comparable);
  return texts.some((said) => {
    const value = said.length > MAX_COMPARED_CHARS ? undefined : parseJson(said);
    const canonical = value === undefined ? undefined : comparable(value);
    return canonical !== undefined && wanted.includes(canonical);
  });
}

function comparable(value: JsonValue): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    return undefined; // Nested beyond what recursion can follow.
  }
}

function saysSomething(block: ToolContent): boolean {
  return block.type === "image" || block.text !== "";
}

function text(value: string): ToolContent {
  return { type: "text", text: value };
}
