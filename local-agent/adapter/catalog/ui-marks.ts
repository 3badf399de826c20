/** What a tool says of its window (MCP Apps), as far as the catalog must know it. Pure. */
import { isJsonObject } from "../../../shared/json.ts";
import type { UpstreamTool } from "./upstream-catalog.ts";

export type UiAudience = "model" | "app";

/** Null: it says nothing, so it is for everybody. Empty: for nobody, also when the value cannot be understood. */
export function uiVisibility(tool: Pick<UpstreamTool, "_meta">): readonly UiAudience[] | null {
  const visibility = uiOf(tool)?.["visibility"];
  if (visibility === undefined) return null;
  return Array.isArray(visibility) && visibility.every(isAudience) ? visibility : [];
}

export function uiResourceUri(tool: Pick<UpstreamTool, "_meta">): string | null {
  const uri = uiOf(tool)?.["resourceUri"] ?? tool._meta?.["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : null;
}

export function uiStreamMode(tool: Pick<UpstreamTool, "_meta">): string | null {
  const mode = uiOf(tool)?.[STREAM_MODE];
  return mode === "eager" || mode === "stream-first" ? mode : null;
}

export const STREAM_MODE = "pi-mcp-adapter.streamMode";

function uiOf(tool: Pick<UpstreamTool, "_meta">): { readonly [key: string]: unknown } | null {
  const ui = tool._meta?.["ui"];
  return isJsonObject(ui) ? ui : null;
}

function isAudience(value: unknown): value is UiAudience {
  return value === "model" || value === "app";
}
