/** The upstreams' prompts as commands, and fetching one. */
import type { GetPromptResult } from "@modelcontextprotocol/client";
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";
import type { AdapterCall } from "../adapter.ts";
import { promptCommands as namedCommands, type PromptCommands } from "../catalog/prompt-commands.ts";
import type { UpstreamPool } from "../upstream/upstream-pool.ts";
import { promptArguments } from "./prompts.ts";

/** [CL82] From what is known of the servers, connected or not; names are those of docs/spec/upstream-catalog.md. */
export function promptCommands(pool: UpstreamPool): PromptCommands {
  const sources = pool.servers().flatMap((server) => {
    const definition = pool.definition(server);
    return definition === null ? [] : [{ definition, held: pool.held(server) }];
  });
  return namedCommands(sources);
}

export async function fetchPrompt(
  command: string,
  line: string,
  pool: UpstreamPool,
  call: Pick<AdapterCall, "signal" | "caller">,
): Promise<Result<GetPromptResult, string>> {
  const found = promptCommands(pool).commands.find((each) => each.command === command.replace(/^\//, ""));
  if (found === undefined) return err(`There is no prompt command "/${command.replace(/^\//, "")}".`);
  const { server, prompt } = found;
  const values = promptArguments(line, prompt, found.command);
  if (!values.ok) return values;
  try {
    const used = await pool.use(server, { signal: call.signal, caller: call.caller }, (upstream) =>
      upstream.getPrompt({ name: prompt.name, arguments: values.value }, upstream.requestOptions()),
    );
    return used.ok ? ok(used.value) : err(used.error.message);
  } catch (error) {
    const { thrownFailure } = await import("../call/call-failure.ts");
    return err(
      thrownFailure(error, { server, aborted: call.signal.aborted }).message.replace(/^Failed to call tool:/, "Failed to fetch the prompt:"),
    );
  }
}
