/**
 * The operating prompt. The order is Pi's (its `buildSystemPrompt` is not exported): preamble, tools, rules, working
 * directory; rules are each tool's guidelines in tool order, then the general ones, trimmed and without repetition. Tool
 * texts come from Pi at run time. Ours is the preamble: the reader works on somebody else's computer, through a relay; and
 * the sections about the person there, before the tools.
 */
import type { ToolDescriptor } from "../../shared/tool.ts";
import { HUMAN_TOOLS } from "./human-tool-table.ts";

export interface OperatingPromptInput {
  readonly root: string;
  readonly tools: readonly Pick<ToolDescriptor, "name" | "promptSnippet" | "promptGuidelines">[];
  /** Sentences about what confines the tools and what does not. */
  readonly confinement?: readonly string[];
  /** Whether clients can talk with the person. */
  readonly human?: boolean;
  /** Tools whose every call waits for the person's click. */
  readonly approve?: readonly string[];
}

const SEARCH_TOOLS = ["grep", "find", "ls"];
const SHELLS = new Map([
  ["bash", "bash"],
  ["powershell", "PowerShell"],
]);
const HUMAN_ESSENTIALS =
  "The person sees only what you send with human_say and human_ask, never your chat. Your turn must not end while you wait for them: keep calling human_wait.";
const HUMAN_RULES = [
  "Talk through the human_* tools only. What you write anywhere else does not reach the person.",
  "Ask with human_ask instead of guessing when a decision is theirs; offer options where there are few answers. A question must be understood on its own.",
  "no_message means that the person has not answered yet. It is neither an error nor a goodbye: call human_wait again at once, as often as it takes. To end your turn there is to walk away from somebody who is about to answer.",
  "Several messages come together, oldest first, each as [place/total · time]. Read all of them before you act: a later one may take back an earlier one.",
  "A message marked as a repeat may be one that you have read. Do not act on it twice.",
  "Report what matters with human_say while you work. When the work is done, say so with the category done, then call human_wait for what comes next.",
  "Your turn ends when the person says that they need nothing more.",
];
const CLOSING_RULES = ["Keep answers short", "Name the files you worked on by their paths"];

/** [MC25] [MC26] The essentials stand in the first 512 characters: some clients read no further. */
export function operatingPrompt(input: OperatingPromptInput): string {
  const sections: Record<string, string> = {
    ...(input.human === true && { human: HUMAN_RULES.map((rule) => `- ${rule}`).join("\n") }),
    ...(input.approve !== undefined && input.approve.length > 0 && { approval: approval(input.approve) }),
    tools: toolLines(input.human === true ? [...input.tools, ...HUMAN_TOOLS] : input.tools),
    rules: rules(input)
      .map((rule) => `- ${rule}`)
      .join("\n"),
    ...(input.confinement !== undefined && input.confinement.length > 0 && { confinement: input.confinement.join("\n") }),
    cwd: input.root.replaceAll("\\", "/"),
  };
  return [preamble(input), ...Object.entries(sections).map(([name, text]) => `<${name}>\n${text}\n</${name}>`)].join("\n\n");
}

function preamble({ root, human }: OperatingPromptInput): string {
  return [
    "You work on a person's own workstation, a remote computer reached through a relay: the tools below read, change and run things there, not where you run.",
    ...(human === true ? [HUMAN_ESSENTIALS] : []),
    `Root directory: ${root.replaceAll("\\", "/")}`,
    "Give paths relative to the root directory; the file tools refuse whatever lies outside it.",
    "Changes are real and at once. When a call says that the workstation is away, say so and try again later.",
  ].join("\n");
}

function approval(tools: readonly string[]): string {
  return [
    `Every call of ${tools.join(", ")} waits until the person has allowed it.`,
    "A call that is denied was not run. Read the reason and follow it: do not reach the same effect with another tool or another spelling of the command.",
  ].join(" ");
}

function toolLines(tools: OperatingPromptInput["tools"]): string {
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
