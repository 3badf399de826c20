/**
 * A modern request that needs a capability its client did not declare is refused with HTTP 400 (MCP 2026-07-28 basic/transports), but
 * a call's answer is a stream whose status has to be said before the upstream has answered. So a stream is held for a moment: a
 * refusal that comes at once becomes what it has to be.
 */
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { isJsonObject, parseJson } from "../../../shared/json.ts";
import type { Timers } from "../../../shared/ports.ts";

const MOMENT_MS = 250;

export async function withEarlyRefusal(response: Response, timers: Timers): Promise<Response> {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const first = reader.read();
  const { promise: moment, resolve } = Promise.withResolvers<null>();
  const stop = timers.after(MOMENT_MS, () => resolve(null));
  const early = await Promise.race([first, moment]);
  stop();
  const refusal = early?.value === undefined ? null : refusalIn(new TextDecoder().decode(early.value));
  if (refusal !== null) {
    await reader.cancel();
    return new Response(refusal, { status: 400, headers: { "Content-Type": "application/json" } });
  }
  return new Response(withFirst(reader, first), response);
}

/** The SDK writes whole events. */
function refusalIn(event: string): string | null {
  const data = /^data: (.*)$/m.exec(event)?.[1];
  const message = data === undefined ? undefined : parseJson(data);
  if (data === undefined || !isJsonObject(message) || !isJsonObject(message["error"])) return null;
  return message["error"]["code"] === ProtocolErrorCode.MissingRequiredClientCapability ? data : null;
}

function withFirst(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  first: ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>,
): ReadableStream<Uint8Array> {
  let next: typeof first | null = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await (next ?? reader.read());
        next = null;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
