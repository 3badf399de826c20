/** What a modern server asks inside an `input_required` (MCP 2026-07-28), read as nobody has looked at it before. Pure. */
import {
  isSpecType,
  SdkError,
  SdkErrorCode,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
} from "@modelcontextprotocol/client";
import { isJsonObject } from "../../../shared/json.ts";

type EmbeddedQuestion =
  | { readonly asks: "person"; readonly params: ElicitRequestFormParams | ElicitRequestURLParams }
  | { readonly asks: "model"; readonly params: CreateMessageRequestParams };

/** @throws SdkError `CapabilityNotSupported` for what was not declared to be answered, `InvalidResult` for what is no question at all */
export function embeddedQuestion(key: string, question: unknown, declared: ClientCapabilities): EmbeddedQuestion {
  if (!isJsonObject(question)) throw malformed("no request");
  const { method, params } = question;
  if (method === "elicitation/create") return { asks: "person", params: elicitation(key, params, declared.elicitation) };
  if (method === "sampling/createMessage") {
    if (declared.sampling === undefined) throw unsupported("sampling");
    if (!isSpecType.CreateMessageRequestParams(params)) throw malformed("a sampling request of a wrong shape");
    return { asks: "model", params };
  }
  throw method === "roots/list" ? unsupported("roots") : malformed("a request that is no question");
}

function elicitation(key: string, params: unknown, declared: ClientCapabilities["elicitation"]): ElicitRequestFormParams | ElicitRequestURLParams {
  const isUrl = isJsonObject(params) && params["mode"] === "url";
  if (declared === undefined || (isUrl ? declared.url : declared.form) === undefined) throw unsupported(`elicitation (${isUrl ? "url" : "form"})`);
  if (!isUrl && isSpecType.ElicitRequestFormParams(params)) return params;
  // The id went with this revision; the type is that of both.
  const opened = isUrl ? { ...params, elicitationId: key } : null;
  if (isSpecType.ElicitRequestURLParams(opened)) return opened;
  throw malformed("a form of a wrong shape");
}

function malformed(what: string): SdkError {
  return new SdkError(SdkErrorCode.InvalidResult, `The server asked for input with ${what}.`);
}

function unsupported(capability: string): SdkError {
  return new SdkError(SdkErrorCode.CapabilityNotSupported, `it asks for ${capability}, which was not declared to it`);
}
