/** Answers of an HTTP upstream, bounded: what is read into memory at once never grows without end. */

/** As for a line of a child process. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Of a refusal only the beginning is ever shown. */
const MAX_REFUSAL_BYTES = 64 * 1024;

export interface AnyResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Iterable<[string, string]> & { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * The same answer with a body that fails with a sentence beyond the bound: of one event in an event stream, of the whole otherwise.
 * A refusal's body is cut instead.
 */
export function boundedResponse(response: AnyResponse, maxBytes = MAX_BYTES): Response {
  const { status, statusText } = response;
  const headers = new Headers([...response.headers]);
  // It was decoded on the way, and may be cut.
  headers.delete("content-length");
  headers.delete("content-encoding");
  const { body } = response;
  if (body === null || status === 204 || status === 304) return new Response(null, { status, statusText, headers });
  const isStream = response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") === true;
  const bound = status >= 400 ? cutAfter(MAX_REFUSAL_BYTES) : isStream ? boundedEvents(maxBytes) : boundedWhole(maxBytes);
  return new Response(body.pipeThrough(bound), { status, statusText, headers });
}

function cutAfter(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const room = maxBytes - bytes;
      bytes += chunk.length;
      if (chunk.length <= room) controller.enqueue(chunk);
      else {
        controller.enqueue(chunk.subarray(0, room));
        controller.terminate();
      }
    },
  });
}

function boundedWhole(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLong(maxBytes);
      controller.enqueue(chunk);
    },
  });
}

const LF = 0x0a;
const CR = 0x0d;

/** An event ends with an empty line (HTML, server-sent events); line ends may be CR, LF or both. */
function boundedEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let before = 0;
  let last = 0;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        bytes += 1;
        const isEnd = (byte === LF && (last === LF || (last === CR && before === LF))) || (byte === CR && last === CR);
        if (isEnd) bytes = 0;
        before = last;
        last = byte;
      }
      if (bytes > maxBytes) throw tooLong(maxBytes);
      controller.enqueue(chunk);
    },
  });
}

function tooLong(maxBytes: number): Error {
  return new Error(`The server's answer is longer than ${maxBytes} bytes, so it was not taken.`);
}
