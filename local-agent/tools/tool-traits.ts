/** What Pi's definitions do not say about its tools: names for people, and what a call can do (MCP tool annotations). */
import type { ToolDescriptor } from "../../shared/tool.ts";

/** All tools there are, in the order they are listed. */
export const TOOL_NAMES = ["read", "write", "edit", "ls", "grep", "find", "bash", "powershell"] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export interface ToolTraits {
  readonly title: string;
  readonly annotations: ToolDescriptor["annotations"];
}

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
/** A shell can do anything the account can, the network included. */
const RUNS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

export const TOOL_TRAITS: Readonly<Record<ToolName, ToolTraits>> = {
  read: { title: "Read file", annotations: READS },
  write: { title: "Write file", annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } },
  edit: { title: "Edit file", annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false } },
  ls: { title: "List directory", annotations: READS },
  grep: { title: "Search file contents", annotations: READS },
  find: { title: "Find files", annotations: READS },
  bash: { title: "Run shell command", annotations: RUNS },
  powershell: { title: "Run PowerShell command", annotations: RUNS },
};

export function isToolName(name: string): name is ToolName {
  return (TOOL_NAMES as readonly string[]).includes(name);
}

/** The platform's default: PowerShell is offered on Windows only, because Pi runs it nowhere else. */
export function defaultTools(platform: NodeJS.Platform): ToolName[] {
  return TOOL_NAMES.filter((name) => name !== "powershell" || platform === "win32");
}

/** What was asked for, in listing order. @throws with a sentence naming what is unknown and what there is */
export function chooseTools(asked: readonly string[] | undefined, platform: NodeJS.Platform): ToolName[] {
  if (asked === undefined) return defaultTools(platform);
  const unknown = asked.filter((name) => !isToolName(name));
  if (unknown.length > 0) {
    throw new Error(`unknown tool${unknown.length === 1 ? "" : "s"} ${unknown.join(", ")}: choose from ${TOOL_NAMES.join(", ")}`);
  }
  if (asked.length === 0) throw new Error(`no tool was chosen: give at least one of ${TOOL_NAMES.join(", ")}`);
  return TOOL_NAMES.filter((name) => asked.includes(name));
}
