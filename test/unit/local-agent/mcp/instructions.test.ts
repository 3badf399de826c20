import { expect, test } from "vitest";
import { operatingPrompt } from "../../../../local-agent/mcp/instructions.ts";
import { withInstructionsTool } from "../../../../local-agent/mcp/instructions-tool.ts";
import { descriptor, scriptedTools, text } from "../../../support/scripted-tools.ts";
import { context, reply, requestOf, surfaceUnderTest, toolCall } from "../../../support/surface-under-test.ts";

const READ = { ...descriptor("read"), promptSnippet: "reads a file", promptGuidelines: ["read before you edit", "  shared rule "] };
const BASH = { ...descriptor("bash"), promptSnippet: "runs a command", promptGuidelines: ["shared rule", "quote paths"] };

test("[MC25] the first 512 characters say what this is and where", () => {
  const head = operatingPrompt({ root: "/home/somebody/work", tools: [READ] }).slice(0, 512);
  for (const essential of ["workstation", "remote", "relay", "Root directory: /home/somebody/work"]) expect(head).toContain(essential);
});

test("[MC25] a Windows root is written with slashes", () => {
  expect(operatingPrompt({ root: "C:\\code\\x", tools: [] }).slice(0, 512)).toContain("Root directory: C:/code/x");
});

test("[MC26] tools in order, then rules in order without repetition", () => {
  const prompt = operatingPrompt({ root: "/r", tools: [READ, BASH, descriptor("mute")] });
  expect(prompt).toContain("<tools>\n- read: reads a file\n- bash: runs a command\n");
  expect(prompt).not.toContain("- mute");
  const lines = /<rules>\n([\s\S]*)\n<\/rules>/.exec(prompt)![1]!.split("\n");
  expect(lines.slice(0, 5)).toEqual([
    "- Use bash to list, search and find files",
    "- read before you edit",
    "- shared rule",
    "- quote paths",
    "- Keep answers short",
  ]);
  expect(prompt.endsWith("<cwd>\n/r\n</cwd>")).toBe(true);
});

test("[MC26] the hint to search with the shell goes when there is a tool for it", () => {
  expect(operatingPrompt({ root: "/r", tools: [BASH, descriptor("grep")] })).not.toContain("Use bash");
  expect(operatingPrompt({ root: "/r", tools: [READ] })).not.toContain("to list, search");
});

const human = { root: "/home/somebody/work", tools: [READ], human: true } as const;

test("[HU47] with a conversation, the first 512 characters say how to talk and that waiting goes on", () => {
  const head = operatingPrompt(human).slice(0, 512);
  for (const essential of ["workstation", "human_say", "human_ask", "human_wait", "must not end", "Root directory: /home/somebody/work"])
    expect(head).toContain(essential);
});

test("[HU47] a section says how to wait, to finish and to ask, and the tools are listed after Pi's", () => {
  const prompt = operatingPrompt(human);
  const section = /<human>\n([\s\S]*)\n<\/human>/.exec(prompt)![1]!;
  for (const part of ["no_message", "human_wait again at once", "category done", "instead of guessing", "oldest first", "repeat"])
    expect(section).toContain(part);
  const tools = /<tools>\n([\s\S]*)\n<\/tools>/.exec(prompt)![1]!;
  expect([...tools.matchAll(/^- (\w+):/gm)].map(([, name]) => name)).toEqual(["read", "human_say", "human_ask", "human_wait"]);
});

test("[HU47] without a conversation no word is said of one", () => {
  expect(operatingPrompt({ root: "/r", tools: [READ], approve: [] })).not.toMatch(/human|<approval>/);
});

test("[HU48] tools whose calls wait for a click are named, and what a denial means", () => {
  const prompt = operatingPrompt({ ...human, tools: [READ, BASH], approve: ["bash", "write"] });
  const section = /<approval>\n([\s\S]*)\n<\/approval>/.exec(prompt)![1]!;
  for (const part of ["bash, write", "was not run", "reason"]) expect(section).toContain(part);
});

test("[MC27] get_instructions is listed last and leaves the other tools alone", async () => {
  const tools = withInstructionsTool(scriptedTools({ read: () => text("contents") }), () => "the prompt");
  expect(tools.list().map((tool) => tool.name)).toEqual(["read", "get_instructions"]);
});

test.each(["legacy", "modern"] as const)("[MC27] the prompt is one text, by tool and by prompt (%s)", async (era) => {
  const { surface } = surfaceUnderTest({}, { instructions: () => "the very text" });
  const ask = async (message: Parameters<typeof requestOf>[1]) => (await reply(await surface.handle(requestOf(era, message), context()))).result;
  expect(await ask(toolCall(1, "get_instructions"))).toMatchObject({ content: [{ type: "text", text: "the very text" }], isError: false });
  expect(await ask({ id: 2, method: "prompts/list" })).toMatchObject({ prompts: [{ name: "pi_as_mcp_instructions" }] });
  const prompt = await ask({ id: 3, method: "prompts/get", params: { name: "pi_as_mcp_instructions" } });
  expect(prompt).toMatchObject({ messages: [{ role: "user", content: { type: "text", text: "the very text" } }] });
});
