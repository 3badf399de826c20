/** The tool that a model means, found with one new connection at most. */
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";
import type { AdapterCall } from "../adapter.ts";
import type { CallFailure } from "../call/call-failure.ts";
import type { AskedTool, Resolution } from "../catalog/resolve.ts";
import { resolveEntry } from "../catalog/resolve.ts";
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import type { ProxyParts } from "./proxy-parts.ts";
import { disabledFailure, noSuchServer, quoted, waitsForRetry } from "./proxy-parts.ts";
import { toolLine } from "./tool-lines.ts";

/** [CL70] A server whose list is not of now is asked for it before a tool of it is said not to exist. */
export async function resolveTool(
  asked: AskedTool,
  parts: ProxyParts,
  call: Pick<AdapterCall, "signal" | "caller">,
): Promise<Result<CatalogEntry, CallFailure>> {
  const first = resolveEntry(asked, parts.view.resolveContext());
  const server = serverToList(first, parts);
  if (server === null) return resolved(first, asked, parts);
  const connected = await parts.pool.connect(server, { signal: call.signal, caller: call.caller });
  if (!connected.ok) return err(connected.error);
  const second = resolveEntry(asked, parts.view.resolveContext());
  const found = resolved(second, asked, parts);
  if (found.ok || found.error.code !== "tool_not_found") return found;
  const message = `${found.error.message}\n${quoted(server)} was asked for its tools just now.`;
  return err({ ...found.error, code: "tool_not_found_after_reconnect", message });
}

/** Younger lists are of now: who keeps asking for what is not there shall not have the server list without end. */
const OF_NOW_MS = 1_000;

/** A server can be replaced by a newer version behind its connection, and not every one tells. */
function serverToList(first: Resolution, { pool, clock }: ProxyParts): string | null {
  if (first.at === "connect-first") return first.server;
  if (first.at !== "missing" || first.hintServer === null) return null;
  const held = pool.held(first.hintServer);
  return held !== null && clock.now() - held.catalog.listedAt >= OF_NOW_MS ? first.hintServer : null;
}

function resolved(resolution: Resolution, asked: AskedTool, parts: ProxyParts): Result<CatalogEntry, CallFailure> {
  switch (resolution.at) {
    case "found":
      return ok(resolution.entry);
    case "ambiguous":
      return err(ambiguous(asked, resolution.candidates));
    case "disabled":
      return err(disabledFailure(resolution.server, parts));
    case "backoff":
      return err(waitsForRetry(resolution.server, parts));
    case "server-not-found":
      return err({ code: "server_not_found", message: noSuchServer(resolution.server, parts) });
    case "native":
      return err({ code: "native_tool", message: `${quoted(resolution.name)} is a tool of your own, not of an MCP server. Call it directly.` });
    // It was connected to already, and once is enough.
    case "connect-first":
      return missing(asked, { suggestions: [], hintServer: resolution.server, unlisted: [] });
    case "missing":
      return missing(asked, resolution);
  }
}

function ambiguous({ name, server }: AskedTool, candidates: readonly CatalogEntry[]): CallFailure {
  const names = candidates.slice(0, MAX_CANDIDATES).map(({ displayed, server }) => `${displayed} (server ${quoted(server)})`);
  const advice = server === undefined ? "Use the full name, or name the server beside it." : "Use the full name.";
  return {
    code: "ambiguous_tool",
    message: `${quoted(name)} could be ${names.join(", ")}. Nothing was called. ${advice}`,
    details: { candidates: candidates.slice(0, MAX_CANDIDATES).map(({ displayed }) => displayed) },
  };
}

const MAX_CANDIDATES = 20;

type Missing = Omit<Extract<Resolution, { at: "missing" }>, "at">;

function missing({ name }: AskedTool, { suggestions, hintServer, unlisted }: Missing): Result<never, CallFailure> {
  const lines = [`No tool ${quoted(name)} was found${hintServer === null ? "" : ` on ${quoted(hintServer)}`}.`];
  if (suggestions.length > 0) lines.push("Did you mean:", ...suggestions.map((entry) => `- ${toolLine(entry)}`));
  else lines.push('Look for it with mcp({search: "what you need"}).');
  if (unlisted.length > 0 && hintServer === null)
    lines.push(`Not looked into yet: ${unlisted.slice(0, MAX_CANDIDATES).map(quoted).join(", ")}; mcp({connect: "name"}) lists one's tools.`);
  const details = { suggestions: suggestions.map(({ displayed }) => displayed), hintServer };
  return err({ code: "tool_not_found", message: lines.join("\n"), details });
}
