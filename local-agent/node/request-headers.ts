/** Headers that a program makes for every single request, such as a signature over it (`requestHeadersCommand`). Fails closed. */
import type { RequestHeadersCommand } from "../adapter/config/server-definition.ts";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { filledIn, pathOf, secretTable, type ValueHost } from "./configured-values.ts";
import { runProgram } from "./run-program.ts";
import { upstreamEnvironment } from "./upstream-environment.ts";

export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

const MAX_BYTES = 64 * 1024;
/** What frames the request belongs to the transport. */
const NOT_TO_BE_SET: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "connection",
  "transfer-encoding",
  "upgrade",
  "keep-alive",
  "te",
  "trailer",
]);

/** The headers of this request. Rejects with a sentence, and then nothing may be sent. */
export async function requestHeaders(command: RequestHeadersCommand, request: SignedRequest, host: ValueHost): Promise<Headers> {
  const env = await secretTable(command.env, "requestHeadersCommand.env", host, request.signal);
  const result = await runProgram(
    {
      command: pathOf(command.command, host),
      args: command.args.map((arg) => filledIn(arg, host)),
      env: { ...upstreamEnvironment(host.env, "whole", host.platform), ...env },
      cwd: host.cwd,
      input: JSON.stringify({ version: 1, method: request.method, url: request.url, bodyBase64: Buffer.from(request.body).toString("base64") }),
      timeoutMs: command.timeoutMs,
      maxBytes: MAX_BYTES,
      signal: request.signal,
    },
    host,
  );
  if (!result.ok) throw new Error(`The "requestHeadersCommand" ${result.error}; nothing was sent.`);
  return readHeaders(result.value);
}

function readHeaders(output: string): Headers {
  const parsed = parseJson(output);
  if (!isJsonObject(parsed)) throw new Error(`The "requestHeadersCommand" must print one JSON object of headers; nothing was sent.`);
  const headers = new Headers();
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value !== "string" || NOT_TO_BE_SET.has(name.toLowerCase()) || !isAcceptable(headers, name, value)) {
      throw new Error(`The "requestHeadersCommand" printed a header that cannot be sent (${JSON.stringify(name.slice(0, 60))}); nothing was sent.`);
    }
  }
  return headers;
}

function isAcceptable(headers: Headers, name: string, value: string): boolean {
  try {
    headers.set(name, value);
    return true;
  } catch {
    return false; // No token of HTTP, or a line break in the value.
  }
}
