/** Why a call gave no result: a code for hosts, and a sentence that says the same to a model that sees no code. Pure. */
import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../shared/json.ts";
import { isJsonObject } from "../../../shared/json.ts";
import { visibleBlock } from "../../../shared/visible-text.ts";
import { failureText } from "../upstream/failure-text.ts";
import { evidenceOf } from "../upstream/negotiation.ts";
import type { ConnectFailure } from "../upstream/upstream-pool.ts";

type CallErrorCode =
  | ConnectFailure["code"]
  | "invalid_request"
  | "tool_not_found"
  | "tool_not_found_after_reconnect"
  | "ambiguous_tool"
  | "native_tool"
  | "approval_required"
  | "approval_denied"
  | "url_elicitation_required"
  | "input_required_needs_ui"
  | "call_failed"
  | "tool_error";

export interface CallFailure {
  readonly code: CallErrorCode;
  readonly message: string;
  /** More for the host's details. */
  readonly details?: JsonObject;
}

/** An upstream's error text can be as long as it likes. */
const MAX_ERROR_CHARS = 8_192;
const MAX_LINKS = 10;

/** Errors carry plain numbers. */
const LINK_REQUIRED: number = ProtocolErrorCode.UrlElicitationRequired;
const CAPABILITY_REQUIRED: number = ProtocolErrorCode.MissingRequiredClientCapability;

const NO_MCP: ReadonlySet<SdkErrorCode> = new Set([SdkErrorCode.ClientHttpUnexpectedContent, SdkErrorCode.InvalidResult]);

/** [CL30] What the SDK's client threw. The upstream may have done its work all the same, so nothing says that the call did not run. */
export function thrownFailure(error: unknown, call: { readonly server: string; readonly aborted: boolean }): CallFailure {
  if (call.aborted) return { code: "aborted", message: "The call was cancelled." };
  if (error instanceof ProtocolError) return protocolFailure(error, call.server);
  if (evidenceOf(error) === "unauthorized") {
    const message = `"${call.server}" wants a login, or another one than it was given (HTTP 401). It did not run the call. The person has to renew its token in the configuration.`;
    return { code: "auth_required", message };
  }
  if (error instanceof SdkHttpError) return httpFailure(error, call.server);
  if (!(error instanceof SdkError)) return transportFailure(error, call.server);
  if (NO_MCP.has(error.code)) return callFailed(`"${call.server}" answered with something that is no MCP (${textOf(error)}). It may have run.`);
  if (error.code === SdkErrorCode.RequestTimeout) return callFailed(`${textOf(error)} "${call.server}" may still be working on it.`);
  if (error.code !== SdkErrorCode.CapabilityNotSupported) return callFailed(textOf(error));
  return {
    code: "input_required_needs_ui",
    message: `"${call.server}" has a question for the person, and nobody can be asked here: ${textOf(error)}`,
  };
}

/** A moment later they may answer: busy, or a proxy in front of what is being started. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A proxy's whole error page helps nobody. */
function httpFailure(error: SdkHttpError, server: string): CallFailure {
  const { status } = error;
  if (TEMPORARY.has(status)) return callFailed(`"${server}" is temporarily unavailable (HTTP ${status}). Try again later.`);
  const said = failureText(new Error(error.message.replace(/^Error POSTing to endpoint(?: \(HTTP \d+\))?: /, "")), "");
  return callFailed(`"${server}" ${status >= 500 ? "failed" : "refused it"} (HTTP ${status}): ${said}`);
}

/** Nobody took the request. */
const NOT_REACHED = /\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)\b/;

function transportFailure(error: unknown, server: string): CallFailure {
  if (error instanceof SyntaxError) return callFailed(`"${server}" answered with something that is no JSON (${textOf(error)}). It may have run.`);
  // The parser's list of what it expected in its stead is pages long.
  if (isUnparsed(error)) return callFailed(`"${server}" answered with something that is no message of MCP. It may have run.`);
  if (!hasCause(error)) return callFailed(textOf(error));
  const why = failureText(error, "").replace(/^fetch failed: /, "");
  if (NOT_REACHED.test(why)) return callFailed(`"${server}" could not be reached, so it did not run (${why}). See whether the server is running.`);
  return callFailed(`The connection to "${server}" broke (${why}). It may have run.`);
}

function isUnparsed(error: unknown): boolean {
  return error instanceof Error && "issues" in error && Array.isArray(error.issues);
}

/** `fetch failed` alone says nothing; what it was caused by does. */
function hasCause(error: unknown): boolean {
  return error instanceof Error && error.cause !== undefined;
}

function protocolFailure(error: ProtocolError, server: string): CallFailure {
  if (error.code === LINK_REQUIRED) return linkFailure(error, server);
  if (error.code === CAPABILITY_REQUIRED) {
    return { code: "input_required_needs_ui", message: `"${server}" needs something of its client that is not offered here: ${textOf(error)}` };
  }
  return callFailed(`${textOf(error)} (MCP error ${error.code})`);
}

function linkFailure(error: ProtocolError, server: string): CallFailure {
  const asked = isJsonObject(error.data) && Array.isArray(error.data["elicitations"]) ? error.data["elicitations"] : [];
  const links = asked.slice(0, MAX_LINKS).flatMap((each: unknown) => {
    if (!isJsonObject(each) || typeof each["url"] !== "string" || !/^https?:\/\//i.test(each["url"])) return [];
    return [{ message: typeof each["message"] === "string" ? each["message"].slice(0, 500) : "", url: each["url"].slice(0, 2_000) }];
  });
  const lines = links.map(({ message, url }) => `- ${visibleBlock(message)} ${visibleBlock(url)}`);
  const message = [`"${server}" wants the person to open a link first. Ask them to, then call again.`, ...lines].join("\n");
  return { code: "url_elicitation_required", message, details: { elicitations: links } };
}

function callFailed(message: string): CallFailure {
  return { code: "call_failed", message: `Failed to call tool: ${message}` };
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return visibleBlock(text.length > MAX_ERROR_CHARS ? `${text.slice(0, MAX_ERROR_CHARS)}…` : text);
}
