/**
 * [WP24] Small bodies inside their first frame: each message costs both sides a wake-up, and most requests and answers are
 * small. What is inside counts as the frames it stands for; the machines on both sides never see the difference.
 */
import type { AgentEffect } from "./agent-exchanges.ts";
import type { HeadFrame, RequestFrame } from "./frames.ts";
import { LIMITS } from "./limits.ts";
import type { RelayEffect } from "./relay-exchanges.ts";
import type { Utf8 } from "./utf8.ts";

/** A request and its only data frame as one frame; undefined when they are something else or do not fit. */
export function packRequest(effects: readonly RelayEffect[], utf8: Utf8): RequestFrame | undefined {
  const [request, data] = effects;
  if (effects.length !== 2 || request?.do !== "request" || data?.do !== "request-data") return undefined;
  const body = data.bytes.byteLength === request.frame.bytes ? inlineText(data.bytes, utf8) : undefined;
  return body === undefined ? undefined : { ...request.frame, body };
}

/** Body frame 0 of a request that carries its body. */
export function unpackRequest(frame: RequestFrame, utf8: Utf8): Uint8Array | undefined {
  return frame.body === undefined || frame.bytes === 0 ? undefined : utf8.encode(frame.body);
}

/** A head, at most one data frame and a whole end as one frame; undefined when they are something else or do not fit. */
export function packAnswer(effects: readonly AgentEffect[], utf8: Utf8): HeadFrame | undefined {
  const [head, second, third] = effects;
  if (head?.do !== "send-head" || effects.length > 3) return undefined;
  const end = second?.do === "send-data" ? third : second;
  if (end?.do !== "send-end" || !end.whole || end.x !== head.x) return undefined;
  const body = second?.do === "send-data" ? inlineText(second.bytes, utf8) : "";
  return body === undefined ? undefined : { t: "head", x: head.x, ...head.head, body };
}

/** What follows a head that carries the whole answer: data frame 1, unless it is empty, and the number of its end. */
export function unpackAnswer(frame: HeadFrame, utf8: Utf8): { readonly data: Uint8Array | undefined; readonly endSeq: number } | undefined {
  if (frame.body === undefined) return undefined;
  return frame.body === "" ? { data: undefined, endSeq: 1 } : { data: utf8.encode(frame.body), endSeq: 2 };
}

function inlineText(bytes: Uint8Array, utf8: Utf8): string | undefined {
  return bytes.byteLength > LIMITS.inlineBytes ? undefined : utf8.decode(bytes);
}
