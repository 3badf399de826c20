/**
 * Questions as tasks, for a client that declares the extension `io.modelcontextprotocol/tasks` (SEP-2663): `human_ask` answers
 * at once with a task, `tasks/get` tells how it stands and carries the answer, and `tasks/cancel` takes the question back. A
 * task is the question's own record, so it outlives the client's connection, the agent and its link. Rules HU50 to HU53.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as v from "valibot";
import type { AskedQuestion, OpenQuestion } from "../../shared/human/channel.ts";
import { EntryId } from "../../shared/human/entry.ts";
import { StoreUnreachable } from "../../shared/human/store.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { ToolOutcome } from "../../shared/tool.ts";
import type { CallScope } from "./tool-call.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** A person takes their time: asking more often finds nothing sooner. */
const POLL_MS = 3_000;

export interface HumanTasks {
  /** Null: the caller has no such question. Takes nothing. Rejects with `StoreUnreachable`. */
  find(questionId: string, scope: CallScope): Promise<AskedQuestion | null>;
  /** Its answer as a tool's result; null: there is none yet. An answer that waited is handed over with it, so only the reply that carries it may ask. */
  result(questionId: string, question: AskedQuestion, scope: CallScope): Promise<ToolOutcome | null>;
  cancel(questionId: string, scope: CallScope): Promise<void>;
}

/** [HU50] Instead of waiting: the question is before the person, and its client comes back for the answer. */
export function askedTask({ questionId, expiresAt }: OpenQuestion, now: number): ToolOutcome {
  const times = { createdAt: iso(now), lastUpdatedAt: iso(now), ttlMs: Math.max(0, expiresAt - now) };
  return {
    content: [{ type: "text", text: "Asked. The answer comes with this task." }],
    isError: false,
    task: { taskId: questionId, status: "working", statusMessage: WAITING, ...times, pollIntervalMs: POLL_MS },
  };
}

export function declaresTasks(context: ServerContext): boolean {
  const envelope: unknown = context.mcpReq.envelope;
  const declared = isObject(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined;
  const extensions = isObject(declared) ? declared["extensions"] : undefined;
  return isObject(extensions) && Object.hasOwn(extensions, TASKS_EXTENSION);
}

/** @param toResult a tool's outcome as MCP has it */
export function serveTasks(server: Server, tasks: HumanTasks, scope: CallScope, toResult: (outcome: ToolOutcome) => object): void {
  const params = v.object({ taskId: v.string() });
  server.setRequestHandler("tasks/get", { params }, async ({ taskId }, context) => {
    const question = await lookUp(tasks, taskId, scope, context);
    const result = await sayUnreachable(() => tasks.result(taskId, question, scope));
    return { resultType: "complete", ...detailedTask(taskId, question, result === null ? null : toResult(result)) };
  });
  server.setRequestHandler("tasks/cancel", { params }, async ({ taskId }, context) => {
    await lookUp(tasks, taskId, scope, context);
    await sayUnreachable(() => tasks.cancel(taskId, scope));
    return { resultType: "complete" };
  });
  // No question of ours ever asks its client for input.
  server.setRequestHandler("tasks/update", { params }, async ({ taskId }, context) => {
    await lookUp(tasks, taskId, scope, context);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This task does not wait for input: poll it with tasks/get.");
  });
}

/** [HU52] [HU53] */
async function lookUp(tasks: HumanTasks, taskId: string, scope: CallScope, context: ServerContext): Promise<AskedQuestion> {
  if (!declaresTasks(context)) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
  const found = v.is(EntryId, taskId) ? await sayUnreachable(() => tasks.find(taskId, scope)) : null;
  if (found === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown task: it is none of yours, or was forgotten.");
  return found;
}

async function sayUnreachable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof StoreUnreachable) throw new ProtocolError(ProtocolErrorCode.InternalError, `${cause.message} Poll again.`);
    throw cause;
  }
}

/** [HU51] */
function detailedTask(taskId: string, { state, askedAt, expiresAt, answer }: AskedQuestion, result: object | null): JsonObject {
  const base = { taskId, createdAt: iso(askedAt), lastUpdatedAt: iso(answer?.at ?? askedAt), ttlMs: expiresAt - askedAt, pollIntervalMs: POLL_MS };
  if (result !== null) return { ...base, status: "completed", result: result as JsonObject };
  if (state === "withdrawn") return { ...base, status: "cancelled" };
  return { ...base, status: "working", statusMessage: WAITING };
}

const WAITING = "Waiting for the person.";

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
