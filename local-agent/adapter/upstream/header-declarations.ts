/** Whether a tool's `x-mcp-header` declarations keep to MCP 2026-07-28 basic/transports; a client must leave out a tool whose do not. Pure. */
import { HEADER_NAME } from "../../../shared/http-header.ts";
import type { UpstreamTool } from "../catalog/upstream-catalog.ts";

const DECLARATION = "x-mcp-header";
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];

/** Keywords that hold data, not schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "examples", "required"]);

/** A schema that is deeper or larger is not searched further; what it hides there is not sent as a header either. */
const MAX_NODES = 20_000;
const MAX_DEPTH = 64;

export function declaresValidHeaders(tool: UpstreamTool): boolean {
  const names = new Set<string>();
  let left = MAX_NODES;

  const valid = (node: unknown, depth: number, reachable: boolean): boolean => {
    if (typeof node !== "object" || node === null || depth > MAX_DEPTH || left-- <= 0) return true;
    if (Array.isArray(node)) return node.every((each) => valid(each, depth + 1, false));
    const schema: Readonly<Record<string, unknown>> = { ...node };
    if (DECLARATION in schema && !(reachable && depth > 0 && isFresh(schema))) return false;
    return Object.entries(schema).every(([keyword, value]) => {
      if (DATA.has(keyword)) return true;
      if (keyword !== "properties" || typeof value !== "object" || value === null) return valid(value, depth + 1, false);
      return Object.values(value).every((property) => valid(property, depth + 1, reachable));
    });
  };

  /** A well-formed declaration whose name no other one has, whatever its case. */
  const isFresh = (schema: Readonly<Record<string, unknown>>): boolean => {
    const name = schema[DECLARATION];
    if (typeof name !== "string" || !HEADER_NAME.test(name) || !TYPES.includes(schema["type"])) return false;
    const key = name.toLowerCase();
    return !names.has(key) && names.add(key) !== undefined;
  };

  return valid(tool.inputSchema, 0, true);
}
