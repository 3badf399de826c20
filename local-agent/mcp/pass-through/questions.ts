/** Who answers what an upstream asks for: the client, where it said that it can; else the person, for a form; else nobody. */
import { ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { linkSignals } from "../linked-signal.ts";
import type { Caller } from "./caller.ts";
import type { AskableCapabilities, PassageForms } from "./passage.ts";
import type { UpstreamQuestion } from "./upstream-link.ts";

type Answerer = { readonly by: "client" } | { readonly by: "page" } | { readonly by: "nobody"; readonly code: number; readonly why: string };

/** A person may have to think. */
const ANSWER_MS = 30 * 60_000;

export function answererOf({ method, params }: UpstreamQuestion, can: AskableCapabilities, forms: PassageForms | null): Answerer {
  switch (method) {
    case "elicitation/create": {
      const mode = params["mode"] === "url" ? "url" : "form";
      if (can.elicitation?.[mode] !== undefined) return { by: "client" };
      if (mode === "form" && forms !== null) return { by: "page" };
      return nobody(`The client did not declare elicitation (${mode}), and nobody else can be asked.`);
    }
    case "sampling/createMessage":
      return samplerOf(params, can);
    case "roots/list":
      return can.roots === undefined ? nobody("The client did not declare roots.") : { by: "client" };
    case "ping":
      return { by: "client" };
    default:
      return { by: "nobody", code: ProtocolErrorCode.MethodNotFound, why: `Method not found: ${method}` };
  }
}

function samplerOf(params: JsonObject, { sampling }: AskableCapabilities): Answerer {
  if (sampling === undefined) return nobody("The client did not declare sampling: it lets no server ask its model.");
  const needsTools = params["tools"] !== undefined || params["toolChoice"] !== undefined;
  return needsTools && sampling.tools === undefined ? nobody("The client did not declare sampling with tools.") : { by: "client" };
}

function nobody(why: string): Answerer {
  return { by: "nobody", code: ProtocolErrorCode.InvalidRequest, why };
}

/** What the upstream is told. */
export function refusalOf(answerer: Extract<Answerer, { readonly by: "nobody" }>): ProtocolError {
  return new ProtocolError(answerer.code, answerer.why);
}

export interface AskPorts {
  readonly upstream: string;
  readonly caller: Caller;
  readonly forms: PassageForms | null;
  /** Of the request during which the upstream asks. */
  readonly signal: AbortSignal;
}

export async function askPage(params: JsonObject, { upstream, caller, forms, signal }: AskPorts): Promise<JsonObject> {
  if (forms === null) return { action: "cancel" };
  const { id: principalId, name: client } = caller.principal;
  return { ...((await forms.ask({ upstream, params, principalId, client, signal })) as JsonObject) };
}

/** For a client that can be asked while its request runs: on the stream of that request. */
export async function askNow(
  question: UpstreamQuestion,
  ports: AskPorts & { readonly context: ServerContext },
  withdrawn: AbortSignal,
): Promise<JsonObject> {
  if (question.method === "ping") return {};
  const answerer = answererOf(question, ports.caller.capabilities, ports.forms);
  if (answerer.by === "nobody") throw refusalOf(answerer);
  const ends = linkSignals(ports.signal, withdrawn);
  try {
    if (answerer.by === "page") return await askPage(question.params, { ...ports, signal: ends.signal });
    const { method, params } = question;
    const asked = { method: method as "elicitation/create", params: withoutMeta(params) };
    return (await ports.context.mcpReq.send(asked, { signal: ends.signal, timeout: ANSWER_MS })) as unknown as JsonObject;
  } finally {
    ends.unlink();
  }
}

/** A progress token or a task of the upstream's own means nothing to the client. */
export function withoutMeta(params: JsonObject): Record<string, unknown> {
  const { _meta, task, ...rest } = params;
  return isJsonObject(_meta) || task !== undefined ? rest : { ...params };
}
