/** `mcp({server})`, `mcp({connect})` and `mcp({instructions})`: what one server offers and says. */
import { visibleBlock } from "../../../../shared/visible-text.ts";
import type { AdapterCall, AdapterResult } from "../../adapter.ts";
import type { ProxyParts } from "../proxy-parts.ts";
import { disabledFailure, noSuchServer, quoted, serverNamed, waitsForRetry } from "../proxy-parts.ts";
import { changedResourceLines } from "../changed-resources.ts";
import { cut, toolLine } from "../tool-lines.ts";
import { answerProblem, answerText } from "./answer.ts";

const PREVIEW_CHARS = 300;

export async function listMode(asked: string, parts: ProxyParts): Promise<AdapterResult> {
  const details = { mode: "list", server: asked };
  const server = serverNamed(asked, parts);
  if (server === null) return answerProblem(parts.presenter, { code: "not_found", message: noSuchServer(asked, parts) }, details);
  const standing = parts.view.servers().find(({ name }) => name === server)?.standing;
  if (standing === "disabled") return answerProblem(parts.presenter, disabledFailure(server, parts), details);
  if (standing === "backoff") return answerProblem(parts.presenter, waitsForRetry(server, parts), details);
  const held = parts.pool.held(server);
  if (held !== null) return answerText(parts.presenter, listing(server, parts), { ...details, ...listDetails(server, parts) });
  const message = `${standingOf(server, parts)} Nothing is known of its tools yet; ${connectAdvice(server)} lists them.`;
  return answerProblem(parts.presenter, { code: "not_connected", message }, details);
}

/** [CL65] Lists anew also what is connected, and takes the new connection only when it works. */
export async function connectMode(asked: string, parts: ProxyParts, call: AdapterCall): Promise<AdapterResult> {
  const details = { mode: "connect", server: asked };
  const server = serverNamed(asked, parts);
  if (server === null) return answerProblem(parts.presenter, { code: "not_found", message: noSuchServer(asked, parts) }, details);
  const before = new Set(namesOf(server, parts));
  const connected = await parts.pool.connect(server, { signal: call.signal, caller: call.caller, ignoreBackoff: true, replace: true });
  if (!connected.ok) return answerProblem(parts.presenter, connected.error, details);
  const addedTools = namesOf(server, parts).filter((name) => !before.has(name));
  return answerText(parts.presenter, listing(server, parts), { ...details, ...listDetails(server, parts), addedTools });
}

export async function instructionsMode(asked: string, parts: ProxyParts): Promise<AdapterResult> {
  const details = { mode: "instructions", server: asked };
  const server = serverNamed(asked, parts);
  if (server === null) return answerProblem(parts.presenter, { code: "not_found", message: noSuchServer(asked, parts) }, details);
  const held = parts.pool.held(server);
  if (held === null) {
    const message = `${standingOf(server, parts)} Nothing is known of it yet; ${connectAdvice(server)} asks it.`;
    return answerProblem(parts.presenter, { code: "not_connected", message }, details);
  }
  const instructions = visibleBlock(held.catalog.instructions ?? "");
  if (instructions.trim() === "") {
    return answerProblem(parts.presenter, { code: "no_instructions", message: `${quoted(server)} gives no instructions.` }, details);
  }
  return answerText(parts.presenter, instructions, { ...details, length: instructions.length });
}

function listing(server: string, parts: ProxyParts): string {
  const state = parts.pool.state(server);
  const held = parts.pool.held(server);
  const own = parts.view.all().entries.filter((entry) => entry.server === server);
  const when =
    state.at === "connected"
      ? "connected"
      : held?.freshness === "stale"
        ? "an old list; it is made anew when it connects"
        : "connects when it is used";
  const count = own.length === 1 ? "1 tool" : `${own.length} tools`;
  const instructions = visibleBlock((held?.catalog.instructions ?? "").replaceAll(/\s+/g, " ").trim());
  const lines = [`${quoted(server)} (${when}): ${count}`, ...changedResourceLines(state), ...own.map((entry) => toolLine(entry))];
  if (instructions !== "") lines.push("", `Instructions: ${cut(instructions, PREVIEW_CHARS)}`);
  if (instructions.length > PREVIEW_CHARS) lines.push(`All of them: mcp({instructions: ${JSON.stringify(server)}})`);
  return lines.join("\n");
}

function listDetails(server: string, parts: ProxyParts) {
  const tools = namesOf(server, parts);
  const held = parts.pool.held(server);
  const hasInstructions = (held?.catalog.instructions ?? "").trim() !== "";
  const kept = held === null || held.freshness === "live" ? {} : { cached: true, stale: held.freshness === "stale" };
  return { server, tools, count: tools.length, hasInstructions, ...kept };
}

function namesOf(server: string, { view }: ProxyParts): readonly string[] {
  return view.all().entries.flatMap((entry) => (entry.server === server ? [entry.displayed] : []));
}

function standingOf(server: string, { pool }: ProxyParts): string {
  return pool.state(server).at === "connecting" ? `${quoted(server)} is still connecting.` : `${quoted(server)} is not connected.`;
}

function connectAdvice(server: string): string {
  return `mcp({connect: ${JSON.stringify(server)}})`;
}
