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

export interface StreamEnd {
  /** Null: the server ended it. */
  readonly error: Error | null;
  /** It had numbered events, and asking for the rest can bring it. */
  readonly isResumable: boolean;
}

/**
 * The same answer with a body that fails with a sentence beyond the bound: of one event in an event stream, of the whole otherwise.
 * A refusal's body is cut instead.
 * @param onStreamEnd an event stream is over, and not because its reader wanted no more
 */
export function boundedResponse(response: AnyResponse, onStreamEnd: (end: StreamEnd) => void = () => {}, maxBytes = MAX_BYTES): Response {
  const { status, statusText } = response;
  const headers = new Headers([...response.headers]);
  // It was decoded on the way, and may be cut.
  headers.delete("content-length");
  headers.delete("content-encoding");
  const { body } = response;
  if (body === null || status === 204 || status === 304) return new Response(null, { status, statusText, headers });
  if (status >= 400) return new Response(body.pipeThrough(cutAfter(MAX_REFUSAL_BYTES)), { status, statusText, headers });
  const isStream = response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") === true;
  return new Response(isStream ? boundedEvents(body, maxBytes, onStreamEnd) : body.pipeThrough(boundedWhole(maxBytes)), {
    status,
    statusText,
    headers,
  });
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
      if (bytes > maxBytes) throw new AnswerTooLong(maxBytes);
      controller.enqueue(chunk);
    },
  });
}

function boundedEvents(body: ReadableStream<Uint8Array>, maxBytes: number, onEnd: (end: StreamEnd) => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const events = new EventLengths();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) {
          controller.close();
          onEnd({ error: null, isResumable: events.areNumbered });
          return;
        }
        if (events.add(value) > maxBytes) throw new AnswerTooLong(maxBytes);
        controller.enqueue(value as Uint8Array<ArrayBuffer>);
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        controller.error(error);
        // Asked for the rest, the server would send the same event again.
        onEnd({ error, isResumable: events.areNumbered && !(error instanceof AnswerTooLong) });
        await reader.cancel(error).catch(() => {});
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const LF = 0x0a;
const CR = 0x0d;
const ID_FIELD = [0x69, 0x64, 0x3a];

/** An event ends with an empty line (HTML, server-sent events); line ends may be CR, LF or both. */
class EventLengths {
  areNumbered = false;
  #bytes = 0;
  /** Of the current line. */
  #column = 0;
  #isId = true;
  #last = 0;

  /** How long the event is that has begun. */
  add(chunk: Uint8Array): number {
    for (const byte of chunk) this.#take(byte);
    return this.#bytes;
  }

  #take(byte: number): void {
    this.#bytes += 1;
    const isSecondHalf = byte === LF && this.#last === CR;
    this.#last = byte;
    if (isSecondHalf) return;
    if (byte === LF || byte === CR) {
      if (this.#column === 0) this.#bytes = 0;
      this.#column = 0;
      this.#isId = true;
      return;
    }
    if (this.#column < ID_FIELD.length) {
      this.#isId &&= byte === ID_FIELD[this.#column];
      if (this.#isId && this.#column === ID_FIELD.length - 1) this.areNumbered = true;
    }
    this.#column += 1;
  }
}

class AnswerTooLong extends Error {
  constructor(maxBytes: number) {
    super(`The server's answer is longer than ${maxBytes} bytes, so it was not taken.`);
  }
}
