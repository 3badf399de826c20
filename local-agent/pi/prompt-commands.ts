/** The prompts of MCP servers as slash commands of Pi. */
import type { Adapter, PromptCommand } from "../adapter/adapter.ts";
import { flattenPrompt } from "../adapter/proxy/prompts.ts";
import type { PiHost } from "./pi-host.ts";

export interface PromptCommands {
  /** Registers what is new. Pi cannot forget a command: one that is gone says so. */
  sync(adapter: Adapter): void;
}

export function createPromptCommands(host: PiHost, adapter: () => Promise<Adapter>): PromptCommands {
  const registered = new Set<string>();

  function register({ command, prompt, server }: PromptCommand): void {
    registered.add(command);
    host.pi.registerCommand(command, {
      description: `${prompt.description ?? prompt.title ?? prompt.name} (${server})`,
      async handler(args, ctx) {
        const current = await adapter();
        const signal = ctx.signal ?? new AbortController().signal;
        const fetched = await current.prompt(command, args, { callId: command, caller: { kind: "pi" }, signal, onProgress: () => {} });
        if (fetched.ok) host.pi.sendUserMessage(flattenPrompt(fetched.value));
        else ctx.ui.notify(fetched.error, "error");
      },
    });
  }

  return {
    sync(adapter) {
      for (const prompt of adapter.promptCommands()) if (!registered.has(prompt.command)) register(prompt);
    },
  };
}
