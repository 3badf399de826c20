/** The prompts of MCP servers as slash commands of Pi. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { Adapter, PromptCommand } from "../adapter/adapter.ts";
import { flattenPrompt } from "../adapter/proxy/prompts.ts";
import type { PiHost } from "./pi-host.ts";
import { sayToModel } from "./say-to-model.ts";
import { showAnswer } from "./show-answer.ts";

export interface PromptCommands {
  /** Registers what is new or changed. Pi cannot forget a command: one that is gone says so. */
  sync(adapter: Adapter): void;
}

/** A turn does not wait longer for the lists of servers that are kept connected. */
const REFRESH_MS = 5000;
/** It is said to the model whole and stays in the session: what no model takes would be refused at every turn from then on. */
const MAX_PROMPT_CHARS = 262_144;

/** @param adapter the one of now: commands outlive the adapter they were registered for */
export function createPromptCommands(host: PiHost, adapter: () => Promise<Adapter>): PromptCommands {
  const registered = new Map<string, string>();

  function register({ command, prompt, server }: PromptCommand): void {
    const description = visibleLine(`${prompt.description ?? prompt.title ?? prompt.name} (${server})`, 300);
    if (registered.get(command) === description) return;
    registered.set(command, description);
    host.pi.registerCommand(command, {
      description,
      async handler(args, ctx) {
        const signal = ctx.signal ?? new AbortController().signal;
        const fetched = await fetchPrompt(command, args, signal);
        if (fetched.ok) await sayToModel(host.pi, ctx, fetched.text);
        else await showAnswer(host.pi, ctx, { text: fetched.text, level: "error" });
      },
    });
  }

  async function fetchPrompt(command: string, args: string, signal: AbortSignal): Promise<{ readonly ok: boolean; readonly text: string }> {
    try {
      const current = await adapter();
      const call = { callId: command, caller: { kind: "pi" }, signal, onProgress: () => {} } as const;
      const fetched = await current.prompt(command, args, call);
      if (!fetched.ok) return { ok: false, text: fetched.error };
      const text = flattenPrompt(fetched.value);
      if (text.length > MAX_PROMPT_CHARS) return { ok: false, text: tooLong(command, text.length) };
      // The turn this begins is to know what servers offer now.
      await current.pool.refreshKeptAlive(AbortSignal.timeout(REFRESH_MS));
      return { ok: true, text };
    } catch (error) {
      return { ok: false, text: `MCP servers are not available: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  return {
    sync(now) {
      for (const prompt of now.promptCommands()) register(prompt);
    },
  };
}

function tooLong(command: string, chars: number): string {
  return `/${command} gave ${chars} characters, and a prompt of up to ${MAX_PROMPT_CHARS} is said to the model. Nothing was said.`;
}
