import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { thrownFailure } from "../../../../local-agent/adapter/call/call-failure.ts";

const failure = (error: unknown, aborted = false) => thrownFailure(error, { server: "box", aborted });
const http = (status: number, text = "") =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, { status, text });

test.each([
  ["a refused login", http(401), "auth_required", /"box" wants a login.*401.*did not run/],
  ["a refused token", new UnauthorizedError("no"), "auth_required", /renew its token/],
  ["a server that is away for a moment", http(503), "call_failed", /temporarily unavailable \(HTTP 503\)/],
  [
    "a page instead of an answer",
    http(500, `<html>${"x".repeat(9_000)}`),
    "call_failed",
    /^Failed to call tool: "box" failed \(HTTP 500\): <html>.{1,500}$/,
  ],
  ["a proxy without its server", http(502, "<html>"), "call_failed", /"box" is temporarily unavailable \(HTTP 502\)/],
  ["a refused request", http(403, "not yours"), "call_failed", /^Failed to call tool: "box" refused it \(HTTP 403\): not yours$/],
  [
    "a lost network",
    new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") }),
    "call_failed",
    /^Failed to call tool: "box" could not be reached, so it did not run \(connect ECONNREFUSED 127/,
  ],
  [
    "a connection that breaks",
    new TypeError("fetch failed", { cause: new Error("other side closed") }),
    "call_failed",
    /The connection to "box" broke \(other side closed\)\. It may have run\./,
  ],
  ["an answer that is cut off", new SyntaxError("Unexpected end of JSON input"), "call_failed", /"box" answered with something that is no JSON/],
  [
    "JSON of another kind",
    Object.assign(new Error("[".repeat(5_000)), { issues: [] }),
    "call_failed",
    /^.{20,120}no message of MCP\. It may have run\.$/,
  ],
  [
    "a web page",
    new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, "Unexpected content type: text/html"),
    "call_failed",
    /no MCP \(.*text\/html/,
  ],
  ["a question nobody hears", new SdkError(SdkErrorCode.CapabilityNotSupported, "no handler"), "input_required_needs_ui", /nobody can be asked/],
  ["an error of the protocol", new ProtocolError(-32_000, "broken\u202e"), "call_failed", /broken‹U\+202E› \(MCP error -32000\)/],
  ["an error without words", "odd", "call_failed", /odd/],
])("[CL30] %s is told as what it is", (_what, error, code, said) => {
  const { code: told, message } = failure(error);
  expect(told).toBe(code);
  expect(message).toMatch(said);
});

test("[CL30] an error of any length is cut", () => {
  expect(failure(new ProtocolError(1, "x".repeat(1_000_000))).message.length).toBeLessThan(8_400);
});

test("[CL16] whatever ends a cancelled call, it was cancelled", () => {
  expect(failure(http(500), true)).toEqual({ code: "aborted", message: "The call was cancelled." });
});
