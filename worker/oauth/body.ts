/** Reading strangers' bodies: bounded, whatever `Content-Length` claims and however well they were compressed. */
import { err, ok, type Result } from "../../shared/result.ts";
import { BodyReader, type BodyRefusal } from "../workspace/request-body.ts";
import { oauthError } from "./metadata.ts";

/** For everything the issuer reads. Real bodies have a few hundred bytes and come with their headers. */
export function createStrangersBodies(): BodyReader {
  return new BodyReader({ totalBytes: 2 * 1024 * 1024, withinMs: 10_000, from: "strangers" });
}

/** The request's body as text, or the refusal; `tooLarge` is each endpoint's own. */
export async function readText(bodies: BodyReader, request: Request, maxBytes: number, tooLarge: () => Response): Promise<Result<string, Response>> {
  const read = await bodies.read(request, maxBytes);
  return read.ok ? ok(new TextDecoder().decode(read.value)) : err(refuse(read.error, tooLarge));
}

function refuse(why: BodyRefusal, tooLarge: () => Response): Response {
  switch (why) {
    case "too_large":
      return tooLarge();
    case "too_slow":
      return oauthError(408, "invalid_request", "The body did not arrive in time. Send it at once.");
    case "too_much_held":
      return oauthError(503, "temporarily_unavailable", "Too many requests are being read. Try again shortly.", { "retry-after": "5" });
  }
}

/** The body of an answer as text, or `undefined` when it is longer than `maxBytes`. Throws when `signal` ends the wait for it. */
export async function readAnswer(answer: Response, maxBytes: number, signal?: AbortSignal): Promise<string | undefined> {
  if (Number(answer.headers.get("content-length") ?? 0) > maxBytes) return undefined;
  const reader = answer.body?.getReader();
  if (reader === undefined) return "";
  signal?.throwIfAborted();
  signal?.addEventListener("abort", () => void reader.cancel(), { once: true });
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
    signal?.throwIfAborted();
    if (done || value === undefined) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
