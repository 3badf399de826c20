/**
 * What a script asks for while it runs: served by the adapter's own search, describe and call, traced, and bounded in what comes back.
 * Nothing here trusts the payloads: a script may send anything.
 */
import * as v from "valibot";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import type { Clock } from "../../../shared/ports.ts";
import { utf8Length } from "../call/output-guard.ts";

/** All answers of one script together, as UTF-8 bytes of their JSON. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_OPERATIONS = 20_000;
/** Entries of the trace; what comes later is counted only, so that a host can keep the trace with the message. */
const MAX_TRACED = 500;
const MAX_TRACED_CHARS = 200;

interface ScriptSearch {
  readonly query: string;
  /** null: all servers. */
  readonly server: string | null;
  /** A whole number of at least 1. */
  readonly limit: number;
  /** A whole number of at least 0. */
  readonly offset: number;
}

export type ScriptCallAnswer =
  /** `data`: the result as the upstream gave it (MCP CallToolResult), unguarded. */
  { readonly ok: true; readonly data: JsonValue } | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** What a script can do, already bound to one call of `mcpScript`: its caller, its approvals. All of them end with the signal. */
export interface ScriptAccess {
  /** `{items: [{path, name, server, description?}], total, hasMore, nextOffset}`, with `error: {code, message}` if it could not be done. */
  search(search: ScriptSearch, signal: AbortSignal): Promise<JsonObject>;
  /** `{path, name, server, description?, inputTypeScript?, inputGuidance?, outputSchemaTarget?, outputSchema?}` or `{path, error: {code, message, suggestions?}}`. */
  describe(path: string, signal: AbortSignal): Promise<JsonObject>;
  /** `args` as the script gave them; undefined: none. Approval, validation and connection as for any call. */
  call(path: string, args: JsonValue | undefined, signal: AbortSignal): Promise<ScriptCallAnswer>;
}

export interface ScriptRequests {
  /** For `ScriptRunner.run`. Never rejects. */
  readonly request: (operation: string, payload: JsonValue) => Promise<JsonValue>;
  /** One entry per operation in the order of their start; those that have no answer yet are `incomplete`. */
  trace(): { readonly calls: readonly JsonObject[]; readonly callsOmitted: number };
}

interface Traced {
  readonly subject: JsonObject;
  readonly startedAt: number;
  end: { readonly error: string | null; readonly durationMs: number } | null;
}

interface Operation {
  /** What the trace says of it. */
  readonly subject: JsonObject;
  readonly run: () => Promise<JsonObject | ScriptCallAnswer>;
  /** An answer of this operation that says what is wrong. */
  readonly failed: (code: string, message: string) => JsonObject;
}

export function createScriptRequests(access: ScriptAccess, clock: Clock, signal: AbortSignal): ScriptRequests {
  const traced: Traced[] = [];
  let operations = 0;
  let bytesLeft = MAX_ANSWER_BYTES;

  const admitted = (answer: JsonValue, failed: Operation["failed"]): JsonValue => {
    const bytes = bytesOf(answer);
    if (bytes === undefined) return failed("intermediate_result_too_large", TOO_DEEP);
    if (bytes > bytesLeft) return failed("intermediate_result_too_large", TOO_LARGE);
    bytesLeft -= bytes;
    return answer;
  };
  const begin = (subject: JsonObject): Traced => {
    const entry: Traced = { subject, startedAt: clock.now(), end: null };
    if (operations <= MAX_TRACED) traced.push(entry);
    return entry;
  };
  return {
    async request(name, payload) {
      operations += 1;
      const operation = operationOf(name, payload, access, signal);
      const entry = begin(operation.subject);
      const answer =
        operations > MAX_OPERATIONS ? operation.failed("too_many_calls", TOO_MANY) : admitted(await answerOf(operation), operation.failed);
      entry.end = { error: errorCode(answer), durationMs: clock.now() - entry.startedAt };
      return answer;
    },
    trace: () => ({ calls: traced.map((entry) => shown(entry, clock.now())), callsOmitted: operations - traced.length }),
  };
}

const TOO_LARGE =
  "The answers of one script may have 16 MiB together, and this one goes beyond. The call itself may have had its effect. Ask for less, or use another script.";
const TOO_DEEP = "The answer is nested too deeply to be handed on. The call itself may have had its effect.";
const TOO_MANY = `A script can do ${MAX_OPERATIONS} operations. Use another script for the rest.`;

/** Of its JSON; undefined: writing recurses, and it is nested beyond that. */
function bytesOf(answer: JsonValue): number | undefined {
  try {
    return utf8Length(JSON.stringify(answer));
  } catch {
    return undefined;
  }
}

async function answerOf(operation: Operation): Promise<JsonValue> {
  try {
    return await operation.run();
  } catch (error) {
    return operation.failed("internal", error instanceof Error ? error.message : String(error));
  }
}

const Amount = v.pipe(v.number(), v.finite());
const Search = v.object({ query: v.string(), server: v.nullish(v.string()), limit: v.nullish(Amount), offset: v.nullish(Amount) });
const Describe = v.object({ path: v.pipe(v.string(), v.nonEmpty()) });
const Call = v.object({ path: v.pipe(v.string(), v.nonEmpty()), args: v.optional(v.custom<JsonValue>(() => true)) });

function operationOf(name: string, payload: JsonValue, access: ScriptAccess, signal: AbortSignal): Operation {
  const said = (member: string): string => {
    const value = isJsonObject(payload) ? payload[member] : undefined;
    return typeof value === "string" ? value.slice(0, MAX_TRACED_CHARS) : "";
  };
  if (name === "search") {
    const failed = (code: string, message: string) => ({ items: [], total: 0, hasMore: false, nextOffset: null, error: { code, message } });
    return {
      subject: { operation: "search", query: said("query") },
      failed,
      async run() {
        const read = v.safeParse(Search, payload);
        if (!read.success)
          return failed("invalid_arguments", "tools.search expects { query: string, server?: string, limit?: number, offset?: number }.");
        const { query, server, limit, offset } = read.output;
        return access.search(
          { query, server: server ?? null, limit: Math.max(1, Math.floor(limit ?? 12)), offset: Math.max(0, Math.floor(offset ?? 0)) },
          signal,
        );
      },
    };
  }
  if (name === "describe") {
    const failed = (code: string, message: string) => ({ path: said("path"), error: { code, message } });
    return {
      subject: { operation: "describe", path: said("path") },
      failed,
      async run() {
        const read = v.safeParse(Describe, payload);
        return read.success ? access.describe(read.output.path, signal) : failed("invalid_arguments", "tools.describe expects { path: string }.");
      },
    };
  }
  const failed = (code: string, message: string) => ({ ok: false, error: { code, message } });
  return {
    subject: { operation: "call", path: said("path") },
    failed,
    async run() {
      const read = v.safeParse(Call, payload);
      if (name !== "call" || !read.success)
        return failed("invalid_tool_path", "tools.call(path, args) expects the name of a tool as its first argument.");
      return access.call(read.output.path, read.output.args, signal);
    },
  };
}

/** A code is what the trace says of a failure; never its text, which may quote what was sent. */
function errorCode(answer: JsonValue): string | null {
  const error = isJsonObject(answer) ? answer["error"] : undefined;
  if (error === undefined || error === null) return null;
  const code = isJsonObject(error) ? error["code"] : undefined;
  return typeof code === "string" ? code : "failed";
}

function shown({ subject, startedAt, end }: Traced, now: number): JsonObject {
  if (end === null) return { ...subject, ok: false, error: "incomplete", durationMs: now - startedAt };
  return end.error === null
    ? { ...subject, ok: true, durationMs: end.durationMs }
    : { ...subject, ok: false, error: end.error, durationMs: end.durationMs };
}
