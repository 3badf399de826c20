/** The tools by which a client talks with the person: `human_say`, `human_ask`, `human_wait` (docs/spec/human.md). */
import type { AskedQuestion, HumanChannel, WaitOutcome } from "../../shared/human/channel.ts";
import type { Typed } from "../../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import { StoreUnreachable } from "../../shared/human/store.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Clock } from "../../shared/ports.ts";
import { ok } from "../../shared/result.ts";
import type { ToolOutcome } from "../../shared/tool.ts";
import { askArguments, sayArguments, waitArguments } from "./human-arguments.ts";
import { messagesResult, noMessageResult, overResult, saidResult, type NamedQuestion } from "./human-results.ts";
import { askedTask, type HumanTasks } from "./human-tasks.ts";
import { HUMAN_TOOLS } from "./human-tool-table.ts";
import { linkSignals } from "./linked-signal.ts";
import { asGiven, prepareCall } from "./prepared-call.ts";
import type { CallScope, ScopedTools, SilenceReport } from "./tool-call.ts";
import { waitBudget, type WaitBudget } from "./wait-budget.ts";

export interface HumanToolsPorts {
  readonly channel: HumanChannel;
  readonly clock: Clock;
  /** `--block-ms`; null: not given. */
  readonly blockMs: number | null;
  /** Of the workstation, as an IANA name. */
  readonly timeZone: string;
}

/** [HU36] Often enough for the clients that give up on a call which reports nothing. */
const WAITING: SilenceReport = { everyMs: 12_000, message: (ms) => `waiting for the person, ${Math.round(ms / 1000)} s` };

/** [HU30] The same tools and, after them, those of the conversation. */
export function withHumanTools(tools: ScopedTools, ports: HumanToolsPorts): ScopedTools {
  const own: Readonly<Record<string, (args: JsonObject, scope: CallScope) => Promise<ToolOutcome>>> = {
    human_say: (args, scope) => say(ports, args, scope),
    human_ask: (args, scope) => ask(ports, args, scope),
    human_wait: (args, scope) => wait(ports, args, scope),
  };
  const source: ScopedTools = {
    list: () => [...tools.list(), ...HUMAN_TOOLS],
    silence: (name) => (name === "human_ask" || name === "human_wait" ? WAITING : tools.silence?.(name)),
    async call(call, scope) {
      const run = Object.hasOwn(own, call.name) ? own[call.name] : undefined;
      if (run === undefined) return tools.call(call, scope);
      return run(call.args, scope).catch((cause: unknown) => {
        if (cause instanceof StoreUnreachable) return failed(cause.message);
        throw cause;
      });
    },
    prepare: async (call, scope) => (Object.hasOwn(own, call.name) ? ok(asGiven(source, call, scope)) : prepareCall(tools, call, scope)),
  };
  return source;
}

async function say({ channel }: HumanToolsPorts, args: JsonObject, scope: CallScope): Promise<ToolOutcome> {
  const read = sayArguments(args);
  if (!read.ok) return failed(read.error);
  return saidResult(await channel.say({ client: clientOf(scope), ...read.value }), read.value.category);
}

async function ask(ports: HumanToolsPorts, args: JsonObject, scope: CallScope): Promise<ToolOutcome> {
  const read = askArguments(args);
  if (!read.ok) return failed(read.error);
  const { text, options, timeoutS } = read.value;
  const startedAt = ports.clock.now();
  const question = await ports.channel.ask({ client: clientOf(scope), text, options });
  if (question === "too_many") return failed(TOO_MANY);
  if (scope.takesTasks === true) return askedTask(question, startedAt);
  return listen(ports, { scope, question, startedAt, budget: budgetOf(ports, scope, timeoutS) });
}

/** The same questions for a client that polls. */
export function createHumanTasks(ports: HumanToolsPorts): HumanTasks {
  return {
    find: (questionId, scope) => ports.channel.question(clientOf(scope), questionId),
    result: (questionId, question, scope) => taskResult(ports, { ...question, questionId }, scope),
    cancel: (questionId, scope) => ports.channel.withdraw(clientOf(scope), questionId),
  };
}

/** Null: nobody has answered, or the answer is on its way into another call. */
async function taskResult(
  ports: HumanToolsPorts,
  { questionId, state, answer, expiresAt }: AskedQuestion & { readonly questionId: string },
  scope: CallScope,
): Promise<ToolOutcome | null> {
  if (answer === null) return state === "over" ? overResult() : null;
  if (answer.state !== "queued") return answerAgain(ports, answer);
  const budget = { budgetMs: 0, isClamped: false };
  const heard = await listen(ports, { scope, question: { questionId, expiresAt }, startedAt: ports.clock.now(), budget });
  return isJsonObject(heard.structuredContent) && heard.structuredContent["status"] === "messages" ? heard : null;
}

async function wait(ports: HumanToolsPorts, args: JsonObject, scope: CallScope): Promise<ToolOutcome> {
  const read = waitArguments(args);
  if (!read.ok) return failed(read.error);
  const { questionId, timeoutS } = read.value;
  const startedAt = ports.clock.now();
  const budget = budgetOf(ports, scope, timeoutS);
  if (questionId === null) return listen(ports, { scope, question: null, startedAt, budget });
  const state = await stateOf(ports.channel, scope, questionId);
  if (state.at === "unknown")
    return failed(
      `questionId: expected the id of a question of yours, got "${questionId}". Call human_wait without it to hear whatever the person says.`,
    );
  if (state.at === "over") return overResult();
  if (state.at === "told") return answerAgain(ports, state.answer);
  return listen(ports, { scope, question: { questionId, expiresAt: state.expiresAt }, startedAt, budget });
}

type QuestionState =
  | { readonly at: "unknown" }
  | { readonly at: "over" }
  /** Open, or its answer waits to be taken: both are heard by waiting. */
  | { readonly at: "awaited"; readonly expiresAt: number | null }
  | { readonly at: "told"; readonly answer: Typed };

async function stateOf(channel: HumanChannel, scope: CallScope, questionId: string): Promise<QuestionState> {
  try {
    const found = await channel.question(clientOf(scope), questionId);
    if (found === null) return { at: "unknown" };
    const { answer, state, expiresAt } = found;
    if (answer !== null && answer.state !== "queued") return { at: "told", answer };
    return state === "open" || answer !== null ? { at: "awaited", expiresAt } : { at: "over" };
  } catch (cause) {
    // Nobody can say: the waiting goes on until the relay is back or its time is over.
    if (cause instanceof StoreUnreachable) return { at: "awaited", expiresAt: null };
    throw cause;
  }
}

interface Listening {
  readonly scope: CallScope;
  readonly question: NamedQuestion | null;
  readonly startedAt: number;
  readonly budget: WaitBudget;
}

/** [HU35] Waits within the budget. The end of the waiting is never the end of the question. */
async function listen(ports: HumanToolsPorts, { scope, question, startedAt, budget }: Listening): Promise<ToolOutcome> {
  const spentMs = Math.max(0, ports.clock.now() - startedAt);
  // A legacy call goes on when its client is gone (MC13), but nobody is there to hear: the words stay in the queue.
  const ends = linkSignals(scope.signal, scope.gone);
  try {
    const outcome = await ports.channel.wait({
      client: clientOf(scope),
      x: scope.x,
      questionId: question?.questionId ?? null,
      budgetMs: Math.max(0, budget.budgetMs - spentMs),
      signal: ends.signal,
      probe: scope.probe,
    });
    if (outcome.at === "no_message") return noMessageResult({ why: outcome.why, budgetMs: budget.budgetMs, question, notes: budgetNotes(budget) });
    const result = await heard(ports, outcome, question, budget);
    if (!ends.signal.aborted) return result;
    // Cancelled while the images were fetched. The stream may still end well, and the relay would count the words as read.
    if (scope.x !== null) await ports.channel.release(scope.x);
    return noMessageResult({ why: "ended", budgetMs: budget.budgetMs, question, notes: [] });
  } finally {
    ends.unlink();
  }
}

async function heard(
  { channel, timeZone }: HumanToolsPorts,
  { messages, left }: Extract<WaitOutcome, { at: "messages" }>,
  question: NamedQuestion | null,
  budget: WaitBudget,
): Promise<ToolOutcome> {
  const isAnswered = messages.some(({ questionId }) => questionId !== null && questionId === question?.questionId);
  const open = isAnswered ? null : question;
  return messagesResult({ messages, left, open, images: await imagesOf(channel, messages), timeZone, notes: budgetNotes(budget) });
}

function budgetNotes({ isClamped, budgetMs }: WaitBudget): string[] {
  return isClamped ? [`The timeout you gave is outside of what is allowed here: this call waits ${budgetMs / 1000} s at most.`] : [];
}

/** [HU39] The answer is given as often as it is asked for. */
async function answerAgain(ports: HumanToolsPorts, answer: Typed): Promise<ToolOutcome> {
  const notes = ["You were sent this answer before. Call human_wait without questionId for what the person says next."];
  const messages = [{ ...answer, repeat: false }];
  return messagesResult({ messages, left: 0, open: null, images: await imagesOf(ports.channel, messages), timeZone: ports.timeZone, notes });
}

/** An image that cannot be had takes nothing from the words beside it. */
async function imagesOf(channel: HumanChannel, messages: readonly Typed[]): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>();
  for (const image of messages.flatMap((message) => message.images)) found.set(image.id, await channel.image(image).catch(() => null));
  return found;
}

function budgetOf({ blockMs }: HumanToolsPorts, scope: CallScope, timeoutS: number | null): WaitBudget {
  return waitBudget({ blockMs, clientName: scope.principal.name, timeoutS });
}

function clientOf({ principal }: CallScope): { readonly principalId: string; readonly name: string } {
  return { principalId: principal.id, name: principal.name };
}

const TOO_MANY = `You may have ${HUMAN_LIMITS.openPerClient} open questions, all clients together ${HUMAN_LIMITS.open}, and there are as many: nothing was asked. Call human_wait for the answers first.`;

function failed(text: string): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true };
}
