/**
 * The operating prompt. The order is Pi's (its `buildSystemPrompt` is not exported): preamble, tools, rules, working
 * directory; rules are each tool's guidelines in tool order, then the general ones, trimmed and without repetition. Tool
 * texts come from Pi at run time. Ours is the preamble: the reader works on somebody else's computer, through a relay.
 */
import type { ToolDescriptor } from "../../shared/tool.ts";

export interface OperatingPromptInput {
  readonly root: string;
  readonly tools: readonly ToolDescriptor[];
  /** Sentences about what confines the tools and what does not. */
  readonly confinement?: readonly string[];
}

const SEARCH_TOOLS = ["grep", "find", "ls"];
const SHELLS = new Map([
  ["bash", "bash"],
  ["powershell", "PowerShell"],
]);
const CLOSING_RULES = ["Keep answers short", "Name the files you worked on by their paths"];

/** [MC25] [MC26] The essentials stand in the first 512 characters: some clients read no further. */
export function operatingPrompt(input: OperatingPromptInput): string {
  const sections: Record<string, string> = {
    tools: toolLines(input.tools),
    rules: rules(input)
      .map((rule) => `- ${rule}`)
      .join("\n"),
    ...(input.confinement !== undefined && input.confinement.length > 0 && { confinement: input.confinement.join("\n") }),
    cwd: input.root.replaceAll("\\", "/"),
  };
  return [preamble(input.root), ...Object.entries(sections).map(([name, text]) => `<${name}>\n${text}\n</${name}>`)].join("\n\n");
}

function preamble(root: string): string {
  return [
    "You work on a person's own workstation, a remote computer reached through a relay: the tools below read, change and run things there, not where you run.",
    "Give paths relative to the root directory; the file tools refuse whatever lies outside it.",
    "Changes are real and at once. When a call says that the workstation is away, say so and try again later.",
    `Root directory: ${root.replaceAll("\\", "/")}`,
  ].join("\n");
}

function toolLines(tools: readonly ToolDescriptor[]): string {
  const lines = tools.flatMap((tool) => (tool.promptSnippet ? [`- ${tool.name}: ${tool.promptSnippet}`] : []));
  return `${lines.length > 0 ? lines.join("\n") : "(none)"}\n\nThe server's tool list may name more.`;
}

function rules(input: OperatingPromptInput): string[] {
  const all = [
    ...shellRule(input.tools.map((tool) => tool.name)),
    ...input.tools.flatMap((tool) => tool.promptGuidelines ?? []),
    ...CLOSING_RULES,
  ].map((rule) => rule.trim());
  return [...new Set(all)].filter((rule) => rule !== "");
}

/** Without a tool for searching, the shell is the way to look around. */
function shellRule(names: readonly string[]): string[] {
  if (names.some((name) => SEARCH_TOOLS.includes(name))) return [];
  const shells = names.flatMap((name) => SHELLS.get(name) ?? []);
  return shells.length > 0 ? [`Use ${shells.join(" or ")} to list, search and find files`] : [];
}
