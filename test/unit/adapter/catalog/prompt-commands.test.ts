import { expect, test } from "vitest";
import { promptCommands } from "../../../../local-agent/adapter/catalog/prompt-commands.ts";
import { catalogSource, serverDefinition } from "../../../support/server-definitions.ts";

const withPrompts = (server: string, prompts: readonly string[], toolPrefix: "server" | "short" = "server") =>
  catalogSource(server, [], { prompts: prompts.map((name) => ({ name })), fields: { toolPrefix } });

test("[CT42] each prompt is a command, of servers without prefix too", () => {
  const unlisted = { definition: serverDefinition("later"), held: null };
  const none = catalogSource("notes", [], { prompts: [{ name: "today" }], fields: { toolPrefix: "none" } });
  const { commands, warnings } = promptCommands([withPrompts("agent-board", ["create plan", "1st"]), none, unlisted]);
  expect(commands.map(({ command, server, prompt }) => [command, server, prompt.name])).toEqual([
    ["mcp__agent-board__create_plan", "agent-board", "create plan"],
    ["mcp__agent-board___1st", "agent-board", "1st"],
    ["mcp__notes__today", "notes", "today"],
  ]);
  expect(warnings).toEqual([]);
});

test("[CT42] servers that are the same in short keep their own commands", () => {
  const { commands } = promptCommands([withPrompts("github", ["x"], "short"), withPrompts("github-mcp", ["x", "y"], "short")]);
  expect(commands.map(({ command }) => command)).toEqual(["mcp__github__x", "mcp__github-mcp__x", "mcp__github__y"]);
});

test("[CT42] what would be one command is none", () => {
  const { commands, warnings } = promptCommands([withPrompts("s", ["a b", "a_b", "c", "c"]), withPrompts("a__b", ["d"]), withPrompts("a", ["b__d"])]);
  expect(commands.map(({ command }) => command)).toEqual(["mcp__s__c"]);
  expect(warnings.map(({ server }) => server)).toEqual(["s", "a__b"]);
});

test("[CT42] a name that is none, endless, or drives terminals harms nothing", () => {
  const { commands } = promptCommands([withPrompts("s", ["", "x".repeat(1_000_000), "\u001b[2J\u202e/quit now"])]);
  expect(commands.map(({ command }) => command)).toEqual(["mcp__s___2J_quit_now"]);
});
