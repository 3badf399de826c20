/**
 * A trace of the protocol for whoever looks for a fault: what kind of message went which way, when and how large. Never what was in it:
 * no parameters, no results, no addresses, and a server's own ids only as numbers. JSON lines in a 0600 file, up to a bound.
 */
import { closeSync, constants, fchmodSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../shared/ports.ts";
import { watchHandler } from "./watched-handlers.ts";

export interface TraceLimits {
  readonly maxBytes: number;
  readonly maxEvents: number;
}

interface TraceEvent {
  readonly direction: "out" | "in" | "local";
  readonly server: string;
  readonly transport: string;
  readonly kind: "request" | "response" | "notification" | "lifecycle";
  readonly status: "ok" | "error";
  readonly method?: string;
  /** Numbers only; a text could be anything, so it is `hidden`. */
  readonly id?: number | "hidden";
  readonly relatedRequestId?: number | "hidden";
  readonly errorCode?: number;
  readonly bytes?: number;
  readonly durationMs?: number;
}

export interface ProtocolTrace {
  /** Watches one transport from now on. */
  attach(transport: Transport, server: string, wire: string): void;
}

/** Creates the file and its folder at the first event. A trace that cannot be written, or is full, ends; it never disturbs. */
export function protocolTrace(file: string, limits: TraceLimits, clock: Clock): ProtocolTrace {
  let over = false;
  let bytes = 0;
  let events = 0;
  const write = (event: TraceEvent): void => {
    if (over) return;
    const line = `${JSON.stringify({ version: 1, timestamp: new Date(clock.now()).toISOString(), ...event })}\n`;
    bytes += Buffer.byteLength(line);
    events += 1;
    over = events > limits.maxEvents || bytes > limits.maxBytes;
    if (over) return;
    try {
      if (events === 1) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      append(file, line);
    } catch {
      over = true;
    }
  };
  return { attach: (transport, server, wire) => watch(transport, { server, transport: wire }, write, clock) };
}

/** A link in its place would have somebody else's file written to. */
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);

function append(file: string, line: string): void {
  const opened = openSync(file, APPEND, 0o600);
  try {
    // One that was there already may be readable by others.
    fchmodSync(opened, 0o600);
    writeSync(opened, line);
  } finally {
    closeSync(opened);
  }
}

/** Requests that were never answered are forgotten beyond this. */
const MAX_OPEN = 1000;

function watch(transport: Transport, whose: { server: string; transport: string }, write: (event: TraceEvent) => void, clock: Clock): void {
  const begun = new Map<string, number>();
  const note = (direction: "out" | "in", message: JSONRPCMessage, relatedRequestId?: unknown): void => {
    const described = describe(message);
    const key = "id" in message && message.id !== undefined ? `${typeof message.id}:${message.id}` : null;
    let duration: { durationMs: number } | undefined;
    if (key !== null && described.kind === "request" && begun.size < MAX_OPEN) begun.set(`${direction}${key}`, clock.now());
    if (key !== null && described.kind === "response") {
      const asked = `${direction === "in" ? "out" : "in"}${key}`;
      const since = begun.get(asked);
      begun.delete(asked);
      if (since !== undefined) duration = { durationMs: clock.now() - since };
    }
    write({
      direction,
      ...whose,
      ...described,
      ...(relatedRequestId !== undefined && { relatedRequestId: shownId(relatedRequestId) }),
      ...sizeOf(message),
      ...duration,
    });
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    note("out", message, options?.relatedRequestId);
    return send(message, options);
  };
  watchHandler(transport, "onmessage", (message: JSONRPCMessage) => note("in", message));
  watchHandler(transport, "onclose", () => write({ direction: "local", ...whose, kind: "lifecycle", status: "ok", method: "close" }));
  watchHandler(transport, "onerror", () => write({ direction: "local", ...whose, kind: "lifecycle", status: "error", method: "error" }));
}

/** Nothing where it is nested beyond what can be written: the message is another's, and has to arrive. */
function sizeOf(message: JSONRPCMessage): Pick<TraceEvent, "bytes"> {
  try {
    return { bytes: Buffer.byteLength(JSON.stringify(message)) };
  } catch {
    return {};
  }
}

function describe(message: JSONRPCMessage): Pick<TraceEvent, "kind" | "status" | "method" | "id" | "errorCode"> {
  if ("method" in message) {
    const method = shownMethod(message.method);
    return "id" in message ? { kind: "request", status: "ok", method, id: shownId(message.id) } : { kind: "notification", status: "ok", method };
  }
  if ("error" in message) {
    return { kind: "response", status: "error", errorCode: message.error.code, ...(message.id !== undefined && { id: shownId(message.id) }) };
  }
  return { kind: "response", status: "ok", id: shownId(message.id) };
}

function shownId(id: unknown): number | "hidden" {
  return typeof id === "number" ? id : "hidden";
}

/** A method is a word of the protocol; what does not look like one is not written down. */
function shownMethod(method: string): string {
  return /^[\w$./-]{1,80}$/.test(method) ? method : "hidden";
}
