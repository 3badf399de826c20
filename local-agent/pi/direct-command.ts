/** `/mcp direct`: which of a server's tools the model sees by their own names. What is chosen holds at once and is kept. */
import { nearest } from "../../shared/nearest.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type { CatalogEntry } from "../adapter/catalog/upstream-catalog.ts";
import type { DirectTools } from "../adapter/config/server-definition.ts";
import { info, OF_PROGRAM, unknownServer, type CommandAnswer, type McpCommandParts } from "./mcp-subcommand.ts";

/** [PI76] @param rest the server, and `on`, `off`, `search` or names of its tools; only the server: what is direct now */
export async function direct({ adapter, edits }: McpCommandParts, rest: string | undefined): Promise<CommandAnswer> {
  if (rest === undefined) return complaint("Name a server: /mcp direct <server> on|off|search|<tool> ….");
  const servers = adapter.pool.servers();
  const server = named(rest, servers);
  if (server === undefined) return unknownServer(rest.split(" ")[0] ?? rest, servers);
  const words = rest
    .slice(server.length)
    .split(/[\s,]+/)
    .filter((word) => word !== "");
  if (words.length === 0) return info(`${standing(adapter, server)} ${usage(server)}`);
  if (edits === null) return { text: `/mcp direct is not available here: ${OF_PROGRAM}`, level: "warning" };
  const wanted = wantedBy(
    words,
    adapter.entries().filter((entry) => entry.server === server),
  );
  if (!wanted.ok) return complaint(`${wanted.problem} ${usage(server)}`);
  try {
    const file = await edits.keepDirectTools(server, wanted.directTools);
    const holds = adapter.setDirectTools(server, wanted.directTools);
    return info(`${holds ? standing(adapter, server) : "MCP_DIRECT_TOOLS decides which tools are direct in this session."} Kept in ${file}.`);
  } catch (error) {
    return complaint(error instanceof Error ? error.message : String(error));
  }
}

/** The longest that fits: names of servers may have spaces in them. */
function named(rest: string, servers: readonly string[]): string | undefined {
  const meant = servers.filter((server) => rest === server || rest.startsWith(`${server} `));
  return meant.toSorted((a, b) => b.length - a.length)[0];
}

type Wanted = { readonly ok: true; readonly directTools: DirectTools } | { readonly ok: false; readonly problem: string };

/** Pure. Tools are kept by the names their server gives them, whichever was typed. */
function wantedBy(words: readonly string[], own: readonly CatalogEntry[]): Wanted {
  const [word] = words;
  if (words.length === 1 && (word === "on" || word === "off")) return { ok: true, directTools: word === "on" };
  if (words.length === 1 && word === "search") return { ok: true, directTools: "search" };
  if (own.length === 0) return { ok: false, problem: "Its tools are not known yet: /mcp reconnect lists them." };
  const found = words.map((name) => own.find(({ original, displayed }) => name === original || name === displayed)?.original ?? null);
  const missing = words.find((_, index) => found[index] === null);
  if (missing === undefined) return { ok: true, directTools: [...new Set(found.filter((name) => name !== null))] };
  const near = nearest(
    missing,
    own.map(({ original }) => original),
  );
  return { ok: false, problem: `It has no tool ${missing}${near === undefined ? "." : `; did you mean ${near}?`}` };
}

/** Counted where it holds: a name that Pi has already is not offered a second time. */
function standing(adapter: Adapter, server: string): string {
  const own = adapter.entries().filter((entry) => entry.server === server);
  const tools = adapter.directTools().filter(({ entry }) => entry.server === server);
  const hidden = tools.filter(({ shown }) => !shown).length;
  const names = tools.length === 0 || tools.length === own.length ? "" : `: ${tools.map(({ name }) => name).join(", ")}`;
  const later = hidden === 0 ? "" : " once a search finds them";
  return `${server}: ${tools.length} of ${own.length} tools are direct${later}${names}.`;
}

function usage(server: string): string {
  return `/mcp direct ${server} on|off|search|<tool> … changes that.`;
}

function complaint(text: string): CommandAnswer {
  return { text, level: "error" };
}
