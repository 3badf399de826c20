import { expect, test } from "vitest";
import type { Adapter } from "../../../../local-agent/adapter/adapter.ts";
import { createPromptCommands } from "../../../../local-agent/pi/prompt-commands.ts";
import { ok } from "../../../../shared/result.ts";

test.each([
  [262_144, ["x".repeat(262_144)], []],
  [262_145, [], ["error: /mcp__s__p gave 262145 characters, and a prompt of up to 262144 is said to the model. Nothing was said."]],
])("[PI63] a prompt of %i characters is said to the model where it takes it", async (chars, toModel, toPerson) => {
  const messages = [{ role: "user" as const, content: { type: "text" as const, text: "x".repeat(chars) } }];
  const adapter = {
    promptCommands: () => [{ command: "mcp__s__p", server: "s", prompt: { name: "p" } }],
    prompt: () => Promise.resolve(ok({ messages })),
    pool: { refreshKeptAlive: () => Promise.resolve() },
  } as unknown as Adapter;
  const said: { readonly model: string[]; readonly person: string[] } = { model: [], person: [] };
  let run: ((args: string, context: object) => Promise<void>) | undefined;
  const pi = {
    registerCommand: (_name: string, { handler }: { handler: typeof run }) => void (run = handler),
    sendUserMessage: (text: string) => void said.model.push(text),
  };
  createPromptCommands({ pi: pi as never, session: () => null }, () => Promise.resolve(adapter)).sync(adapter);
  const ui = { notify: (text: string, level: string) => void said.person.push(`${level}: ${text}`) };
  await run?.("", { hasUI: true, mode: "tui", ui });
  expect(said).toEqual({ model: toModel, person: toPerson });
});
