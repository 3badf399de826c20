/** What a script said, as content for the model: emitted values and console lines in their order, then what it returned. */
import { isJsonObject, type JsonValue } from "../../../shared/json.ts";
import type { ToolContent } from "../../../shared/tool.ts";
import { imageType } from "../call/image-type.ts";
import { readableJson } from "../call/readable-json.ts";
import type { ScriptOutput } from "../ports.ts";

/** @param value undefined: nothing was returned */
export function scriptContent(output: readonly ScriptOutput[], value: JsonValue | undefined): readonly ToolContent[] {
  const content = output.map((each) => (each.from === "emit" ? block(each.value) : text(`[console.${each.level}] ${each.text}`)));
  if (value !== undefined) content.push(block(value));
  return content;
}

/** A content block of MCP is passed on as what it is, so that a script can hand on an image. */
function block(value: JsonValue): ToolContent {
  if (typeof value === "string") return text(value);
  if (isJsonObject(value)) {
    const { type, text: words, data, mimeType } = value;
    if (type === "text" && typeof words === "string") return text(words);
    if (type === "image" && typeof data === "string" && typeof mimeType === "string") return image(data, mimeType);
  }
  return text(readableJson(value) ?? "[a value that is nested too deeply to be shown]");
}

/** [CL10] */
function image(data: string, saidType: string): ToolContent {
  const type = imageType(data);
  return type === null ? text(`[an image (${saidType.slice(0, 100)}) that is no PNG, JPEG, GIF or WebP]`) : { type: "image", data, mimeType: type };
}

function text(words: string): ToolContent {
  return { type: "text", text: words };
}
