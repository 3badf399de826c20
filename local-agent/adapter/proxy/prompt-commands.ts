/** The upstreams' prompts as commands, and fetching one. */
import type { GetPromptResult } from "@modelcontextprotocol/client";
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";
import type { AdapterCall, PromptCommand } from "../adapter.ts";
import { thrownFailure } from "../call/call-failure.ts";
import { promptCommand } from "../catalog/names.ts";
import type { UpstreamPool } from "../upstream/upstream-pool.ts";
import { promptArguments } from "./prompts.ts";

/** [CL82] From what is known of the servers, connected or not. Of two that would have one name the first counts. */
export function promptCommands(pool: UpstreamPool): readonly PromptCommand[] {
  const commands = new Map<string, PromptCommand>();
  for (const server of pool.servers()) {
    const mode = pool.definition(server)?.toolPrefix ?? "server";
    for (const prompt of pool.held(server)?.catalog.prompts ?? []) {
      const command = promptCommand(prompt.name, server, mode);
      if (!commands.has(command)) commands.set(command, { command, server, prompt });
    }
  }
  return [...commands.values()];
}

export async function fetchPrompt(
  command: string,
  line: string,
  pool: UpstreamPool,
  call: Pick<AdapterCall, "signal" | "caller">,
): Promise<Result<GetPromptResult, string>> {
  const found = promptCommands(pool).find((each) => each.command === command.replace(/^\//, ""));
  if (found === undefined) return err(`There is no prompt command "/${command.replace(/^\//, "")}".`);
  const { server, prompt } = found;
  const values = promptArguments(line, prompt, found.command);
  if (!values.ok) return values;
  try {
    const used = await pool.use(server, { signal: call.signal, caller: call.caller }, (upstream) =>
      upstream.client.getPrompt({ name: prompt.name, arguments: values.value }, upstream.requestOptions()),
    );
    return used.ok ? ok(used.value) : err(used.error.message);
  } catch (error) {
    return err(thrownFailure(error, { server, aborted: call.signal.aborted }).message.replace("call tool", "fetch the prompt"));
  }
}
