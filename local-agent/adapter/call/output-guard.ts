/** Keeps a large answer from filling a model's context: its beginning is shown, the whole of it is a file. */
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { isJsonObject } from "../../../shared/json.ts";
import type { ToolContent } from "../../../shared/tool.ts";
import type { OutputGuardSettings } from "../config/server-definition.ts";
import type { OutputFiles } from "../ports.ts";

type KeepText = OutputFiles["keepText"];

export interface Guarded {
  readonly content: readonly ToolContent[];
  /** What was cut and where the whole is; null: nothing was cut. */
  readonly cut: JsonObject | null;
}

/**
 * [CL20] All text together stays within the bounds, the note that says where the whole text is included. Images pass.
 * @param settings null: everything passes
 */
export async function guardContent(content: readonly ToolContent[], settings: OutputGuardSettings | null, keepText: KeepText): Promise<Guarded> {
  if (settings === null) return { content, cut: null };
  const whole = content
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");
  const bytes = utf8Length(whole);
  const lines = countLines(whole);
  if (bytes <= settings.maxBytes && lines <= settings.maxLines) return { content, cut: null };
  const kept = await keep(whole, "output", keepText);
  const noteFor = (shownLines: number): string =>
    `\n\n[Cut: the beginning of ${lines} lines (${bytes} bytes) is shown, up to line ${shownLines}. ${kept.sentence}]`;
  // The widest the note can be; it takes three lines, its two line breaks among them.
  const room = { maxBytes: Math.max(0, settings.maxBytes - utf8Length(noteFor(lines))), maxLines: Math.max(1, settings.maxLines - 3) };
  const head = headOf(whole, room);
  const shownLines = countLines(head);
  const images = content.filter((block) => block.type === "image");
  return {
    content: [{ type: "text", text: `${head}${noteFor(shownLines)}` }, ...images],
    cut: { bytes, lines, shownBytes: utf8Length(head), shownLines, ...(kept.path === null ? {} : { path: kept.path }) },
  };
}

/** [CL22] The raw result for a host, where it is small; else what it was made of, and the file that has it. */
export async function guardRawResult(result: JsonValue, settings: OutputGuardSettings | null, keepText: KeepText): Promise<JsonValue> {
  if (settings === null) return result;
  const json = jsonOf(result);
  if (json === undefined) return { omitted: true, notKept: "It is nested too deeply." };
  const bytes = utf8Length(json);
  if (bytes <= settings.detailsMaxBytes) return result;
  const kept = await keep(json, "mcp-result", keepText);
  return { omitted: true, bytes, ...(kept.path === null ? { notKept: kept.sentence } : { path: kept.path }), ...summaryOf(result) };
}

function jsonOf(value: JsonValue): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // Serializing recurses, and this is nested beyond that.
  }
}

/** UTF-8 bytes of a text, without making them: a lone surrogate counts as the replacement character it becomes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (isPair(text, at)) at += 1; // Two units, four bytes.
  }
  return bytes;
}

function isPair(text: string, at: number): boolean {
  const low = text.charCodeAt(at + 1);
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (low & 0xfc00) === 0xdc00;
}

/** Whole lines where there are any that fit, else the beginning of the first one; never half a character. */
function headOf(text: string, room: { readonly maxBytes: number; readonly maxLines: number }): string {
  let bytes = 0;
  let lines = 1;
  let lineEnd = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes + size > room.maxBytes) break;
    if (code === 10) {
      lineEnd = at;
      lines += 1;
      if (lines > room.maxLines) break;
    }
    bytes += size;
    at += code > 0xffff ? 2 : 1;
  }
  return text.slice(0, lineEnd > at / 2 || lines > room.maxLines ? lineEnd : at);
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

async function keep(
  text: string,
  name: "output" | "mcp-result",
  keepText: KeepText,
): Promise<{ readonly path: string | null; readonly sentence: string }> {
  try {
    const path = await keepText(text, name);
    return { path, sentence: `The whole text is in the file ${path} on the workstation; read or search it there.` };
  } catch (error) {
    return { path: null, sentence: `The rest could not be kept: ${error instanceof Error ? error.message : String(error)}. Ask for less.` };
  }
}

/** Of a summary: entries of `content`, keys of an object, bytes of a key, of a whole `structuredContent`, of one field of it. */
const SUMMARY = { blocks: 20, keys: 20, keyChars: 120, wholeBytes: 4_096, fieldBytes: 512 } as const;

function summaryOf(result: JsonValue): JsonObject {
  if (!isJsonObject(result)) return {};
  const { content, contents, structuredContent } = result;
  const listed = Array.isArray(content) ? content : Array.isArray(contents) ? contents : undefined;
  return {
    ...(listed === undefined ? {} : { contentCount: listed.length, content: listed.slice(0, SUMMARY.blocks).map(blockSummary) }),
    ...(structuredContent === undefined ? {} : { structuredContent: structuredSummary(structuredContent) }),
    ...(result["isError"] === true ? { isError: true } : {}),
  };
}

function blockSummary(block: JsonValue): JsonValue {
  if (!isJsonObject(block)) return { type: typeof block };
  const size = utf8Length(JSON.stringify(block));
  return {
    type: block["type"] ?? "resource",
    bytes: size,
    ...(typeof block["mimeType"] === "string" ? { mimeType: block["mimeType"].slice(0, 100) } : {}),
  };
}

/** Marked, so that what is left out does not look like empty data. */
function structuredSummary(value: JsonValue): JsonValue {
  const bytes = utf8Length(JSON.stringify(value));
  if (bytes <= SUMMARY.wholeBytes) return value;
  if (!isJsonObject(value)) return { omitted: true, bytes, ...(Array.isArray(value) ? { items: value.length } : {}) };
  const names = Object.keys(value);
  const small = names.slice(0, SUMMARY.keys).filter((name) => utf8Length(JSON.stringify(value[name])) <= SUMMARY.fieldBytes);
  return {
    omitted: true,
    bytes,
    keptFields: small.length,
    droppedFields: names.length - small.length,
    keys: names.slice(0, SUMMARY.keys).map((name) => name.slice(0, SUMMARY.keyChars)),
    fields: Object.fromEntries(small.map((name) => [name.slice(0, SUMMARY.keyChars), value[name] ?? null])),
  };
}
