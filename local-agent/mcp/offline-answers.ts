/**
 * The answers a relay gives for an absent workstation (DESIGN D2), obtained by asking the surface itself: capabilities,
 * tools and texts are those of the live one.
 */
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import type { ApprovalGate } from "../../shared/approval.ts";
import { isJsonObject, parseJson, type JsonObject } from "../../shared/json.ts";
import type { Principal } from "../../shared/principal.ts";
import type { ToolOutcome } from "../../shared/tool.ts";
import type { OfflineAnswers } from "../../shared/wire/frames.ts";
import type { ExchangeHandler } from "./exchange.ts";
import { createExchangeHandler, type HttpExchangeOptions } from "./http-exchange.ts";
import type { Era } from "./protocol-server.ts";

const MODERN_VERSION = "2026-07-28";

/** Asked of each era; a method that the surface does not serve there is left to `otherwise`. */
const METHODS = ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "ping"];

/** `{away}` is replaced by the relay with the sentence since when. */
const AWAY: ToolOutcome = {
  content: [{ type: "text", text: "{away} Nothing was run. Tell the person that pimcp has to run on the workstation, and try again later." }],
  isError: true,
};
const ASKING: Principal = { id: "local:offline", kind: "local", name: "relay", scope: [] };
const OTHERWISE = "{away} This request needs it. Try again later.";

/** @throws when the surface answers `initialize` or a call with an error, which is a defect */
export async function askOfflineAnswers(options: HttpExchangeOptions): Promise<OfflineAnswers> {
  const absent = { list: () => options.tools.list(), call: () => Promise.resolve(AWAY) };
  // Nothing is run, so nobody has to allow it: a card would hold up the start until somebody clicks.
  const gate: ApprovalGate = { guards: () => false, ask: () => Promise.resolve({ allowed: false, text: OTHERWISE }) };
  const silent = { started() {}, progressed() {}, finished() {} };
  const handle = createExchangeHandler({ ...options, tools: absent, gate, calls: silent, log: { event() {} } });
  const legacy = (method: string, params: JsonObject): Promise<JsonObject | null> => ask(handle, "legacy", method, params);
  const modern = (method: string, params: JsonObject): Promise<JsonObject | null> => ask(handle, "modern", method, params);

  const call = { name: absent.list()[0]?.name ?? "", arguments: {} };
  const answers: OfflineAnswers = {
    legacy: {
      initialize: Object.fromEntries(
        await Promise.all(SUPPORTED_PROTOCOL_VERSIONS.map(async (version) => [version, { ...(await initialize(legacy, version)) }])),
      ),
      fallbackVersion: await fallbackVersion(legacy),
      results: await resultsOf(legacy, [...METHODS, "logging/setLevel"]),
      toolCall: { ...required(await legacy("tools/call", call), "tools/call") },
    },
    modern: { results: await resultsOf(modern, METHODS), toolCall: { ...required(await modern("tools/call", call), "tools/call") } },
    otherwise: OTHERWISE,
  };
  // Some upstreams cannot run twice: none may stay for a client that does not exist.
  await options.passThrough?.forget((principalId) => principalId === ASKING.id);
  return answers;
}

type Ask = (method: string, params: JsonObject) => Promise<JsonObject | null>;

async function initialize(legacy: Ask, version: string): Promise<JsonObject> {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "relay", version: "1" } };
  return required(await legacy("initialize", params), "initialize");
}

async function fallbackVersion(legacy: Ask): Promise<string> {
  const version = (await initialize(legacy, "unknown"))["protocolVersion"];
  if (typeof version !== "string") throw new Error("the MCP surface names no protocol version");
  return version;
}

async function resultsOf(asked: Ask, methods: readonly string[]): Promise<Record<string, Record<string, unknown>>> {
  const results: Record<string, Record<string, unknown>> = {};
  for (const method of methods) {
    const result = await asked(method, method === "logging/setLevel" ? { level: "info" } : {});
    if (result !== null) results[method] = { ...result };
  }
  return results;
}

/** The result, or null where the surface answers with an error. */
async function ask(handle: ExchangeHandler, era: Era, method: string, params: JsonObject): Promise<JsonObject | null> {
  const never = new AbortController().signal;
  const { response } = await handle(requestOf(era, method, params), { principal: ASKING, x: null, signal: never, gone: never });
  const text = await response.text();
  const json = response.headers.get("content-type")?.startsWith("text/event-stream") === true ? lastEventData(text) : text;
  const answer = parseJson(json);
  const result = isJsonObject(answer) ? answer["result"] : undefined;
  return isJsonObject(result) ? result : null;
}

function requestOf(era: Era, method: string, params: JsonObject): Request {
  const headers = new Headers({ "Content-Type": "application/json", Accept: "application/json, text/event-stream" });
  if (era === "legacy") return post(headers, method, params);
  headers.set("MCP-Protocol-Version", MODERN_VERSION);
  headers.set("Mcp-Method", method);
  if (typeof params["name"] === "string") headers.set("Mcp-Name", params["name"]);
  const envelope = { "io.modelcontextprotocol/protocolVersion": MODERN_VERSION, "io.modelcontextprotocol/clientCapabilities": {} };
  return post(headers, method, { ...params, _meta: envelope });
}

function post(headers: Headers, method: string, params: JsonObject): Request {
  return new Request("http://agent.invalid/mcp", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
}

function lastEventData(text: string): string {
  return (
    text
      .split("\n")
      .findLast((line) => line.startsWith("data: "))
      ?.slice("data: ".length) ?? ""
  );
}

function required(result: JsonObject | null, method: string): JsonObject {
  if (result === null) throw new Error(`the MCP surface answered its own ${method} with an error`);
  return result;
}
