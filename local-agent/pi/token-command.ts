/** `/mcp token`: what is kept in the operating system's store for a server. A token itself is never typed into Pi. */
import type { Adapter } from "../adapter/adapter.ts";
import type { TokenStore } from "../node/keyring-tokens.ts";
import { info, unknownServer, type CommandAnswer, type McpCommandParts } from "./mcp-subcommand.ts";

/** [PI67] What was typed after `set` is not repeated: it may be a token. */
export async function token({ adapter, tokens }: McpCommandParts, rest: string | undefined): Promise<CommandAnswer> {
  const [, word = "", server = ""] = /^(\S*)\s*(.*)$/s.exec(rest ?? "") ?? [];
  if ((word !== "status" && word !== "remove") || server === "") return info(FROM_A_SHELL);
  if (!adapter.pool.servers().includes(server)) return unknownServer(server, adapter.pool.servers());
  try {
    const [store, { removedText }] = await Promise.all([tokens(), import("../node/token-state.ts")]);
    if (word === "remove") return info(removedText(await store.remove(server), server));
    return info(await status(adapter, server, store));
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), level: "error" };
  }
}

async function status({ pool }: Adapter, server: string, store: TokenStore): Promise<string> {
  const transport = pool.definition(server)?.transport;
  if (transport?.kind !== "http") return `${server} is no HTTP server ("url"), so it has no bearer token.`;
  const [{ addressOf }, { tokenState, tokenText }] = await Promise.all([import("../node/configured-values.ts"), import("../node/token-state.ts")]);
  const address = addressOf(transport.url, transport.literal, { env: process.env });
  const unsent = transport.bearerTokenStore ? "" : ' It is not sent: "bearerTokenStore" is not true in its entry.';
  const state = await tokenState(store, server, address);
  return `${tokenText(state, server, address)}${state === "kept" ? unsent : ""}`;
}

const FROM_A_SHELL =
  "A bearer token is kept from a shell, where it is not shown as it is typed: pimcp upstream-token set <server>. What is typed here stays in Pi's history. /mcp token status <server> and /mcp token remove <server> work here, too.";
