/**
 * Text ⇄ control frame and bytes ⇄ data frame. A data frame is
 * `uint32 exchange · uint32 number · payload`, big-endian, with no schema on the hot path.
 */
import * as v from "valibot";
import { parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import { AgentFrame, RelayFrame } from "./frames.ts";
import { LIMITS } from "./limits.ts";

const DATA_HEADER_BYTES = 8;

export interface DataFrame {
  readonly x: number;
  readonly seq: number;
  /** A view into the received message: copy it to keep it longer than the message. */
  readonly bytes: Uint8Array;
}

/** `unknown_type` is to be ignored (WP5); every other reason is a protocol error that ends the socket. */
export type FrameError = { readonly reason: "unknown_type" | "not_json" | "invalid" | "too_big" | "too_short"; readonly detail: string };

export function encodeControl(frame: AgentFrame | RelayFrame): string {
  return JSON.stringify(frame);
}

export function decodeAgentFrame(text: string): Result<AgentFrame, FrameError> {
  return decode(AgentFrame, AGENT_TYPES, text);
}

export function decodeRelayFrame(text: string): Result<RelayFrame, FrameError> {
  return decode(RelayFrame, RELAY_TYPES, text);
}

export function encodeData(x: number, seq: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(DATA_HEADER_BYTES + payload.byteLength);
  const view = new DataView(frame.buffer);
  view.setUint32(0, x);
  view.setUint32(4, seq);
  frame.set(payload, DATA_HEADER_BYTES);
  return frame;
}

export function decodeData(message: ArrayBuffer | Uint8Array): Result<DataFrame, FrameError> {
  const bytes = message instanceof Uint8Array ? message : new Uint8Array(message);
  if (bytes.byteLength <= DATA_HEADER_BYTES)
    return err({ reason: "too_short", detail: `a data frame carries a payload, got ${bytes.byteLength} bytes` });
  if (bytes.byteLength > DATA_HEADER_BYTES + LIMITS.chunkBytes) {
    return err({ reason: "too_big", detail: `payload ≤ ${LIMITS.chunkBytes} bytes, got ${bytes.byteLength - DATA_HEADER_BYTES}` });
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const x = view.getUint32(0);
  if (x === 0) return err({ reason: "invalid", detail: "exchange numbers start at 1" });
  return ok({ x, seq: view.getUint32(4), bytes: bytes.subarray(DATA_HEADER_BYTES) });
}

/** Cuts bytes into payloads of at most `LIMITS.chunkBytes` (WP6). No bytes, no pieces. */
export function* split(bytes: Uint8Array, size: number = LIMITS.chunkBytes): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

const AGENT_TYPES: ReadonlySet<string> = new Set(["hello", "got", "head", "end", "call", "reply", "bye"]);
const RELAY_TYPES: ReadonlySet<string> = new Set(["welcome", "request", "ack", "cancel", "call", "reply", "bye"]);

function decode<S extends typeof AgentFrame | typeof RelayFrame>(
  schema: S,
  types: ReadonlySet<string>,
  text: string,
): Result<v.InferOutput<S>, FrameError> {
  if (text.length > LIMITS.controlBytes)
    return err({ reason: "too_big", detail: `control frame ≤ ${LIMITS.controlBytes} characters, got ${text.length}` });
  const value = parseJson(text);
  if (value === undefined) return err({ reason: "not_json", detail: "a text frame is a JSON object" });
  const type = typeof value === "object" && value !== null && "t" in value ? value["t"] : undefined;
  if (typeof type === "string" && !types.has(type)) return err({ reason: "unknown_type", detail: type.slice(0, 40) });
  const parsed = v.safeParse(schema, value);
  if (!parsed.success) return err({ reason: "invalid", detail: parsed.issues.slice(0, 3).map(describe).join("; ") });
  return ok(parsed.output);
}

/** Path and rule only: a frame's values may be somebody's data. */
function describe(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? "frame"}: ${issue.type}`;
}
