/**
 * MCP servers that a project's own files configure. A remote client may have written those files, so none of them runs before the
 * person allowed exactly what it is configured as; a change of it is a new question. What was allowed is remembered on disk.
 */
import type { ApprovalCard, ApprovalDecision, ApprovalEnd, ApprovalOutcome } from "../../shared/approval.ts";
import type { AuditTrail } from "../../shared/audit.ts";
import type { DeskEvent } from "../../shared/desk.ts";
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from "../../shared/json.ts";
import type { Clock, Log } from "../../shared/ports.ts";
import { secretValue } from "../adapter/config/expansion.ts";
import type { ProjectTrust, TrustSubject } from "../adapter/ports.ts";
import { headOf, type ShownCall } from "./approval-card.ts";
import { DecisionUnrecorded } from "./approvals.ts";
import { sha256 } from "./sha256.ts";

/** What the person allowed earlier, by the hash of what they were shown. */
export interface TrustMemory {
  has(entrySha256: string): boolean;
  /** Rejects with a sentence when it cannot be kept. */
  add(allowed: { readonly entrySha256: string; readonly server: string }): Promise<void>;
}

export interface ServerTrustOptions {
  /** Absolute; the same entry in another directory is another question. */
  readonly root: string;
  readonly memory: TrustMemory;
  readonly audit: AuditTrail;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly publish: (event: DeskEvent) => void;
}

export interface ServerTrust extends ProjectTrust {
  /** Oldest first. */
  list(): ApprovalCard[];
  /** Null: it is no card of this list. Otherwise as `Approvals.decide`. */
  decide(decision: ApprovalDecision): Promise<ApprovalOutcome> | null;
  whole(id: string): ShownCall | null;
}

interface OpenQuestion {
  readonly card: ApprovalCard;
  readonly whole: ShownCall;
  readonly subject: TrustSubject;
  readonly entrySha256: string;
  /** Whoever waits is told. */
  readonly waiting: Set<(allowed: boolean) => void>;
}

/** What an allowance is bound to. @param root absolute */
export function entryHash(root: string, { server, text }: TrustSubject): string {
  return sha256(JSON.stringify([root, server, text]));
}

/** A project file with hundreds of servers must not bury what else waits. */
const MAX_OPEN = 30;

export function createServerTrust(options: ServerTrustOptions): ServerTrust {
  const open = new Map<string, OpenQuestion>();
  const allowed = new Set<string>();
  const denied = new Set<string>();
  const deciding = new Set<OpenQuestion>();
  const hashOf = (subject: TrustSubject): string => entryHash(options.root, subject);
  const list = (): ApprovalCard[] => [...open.values()].map(({ card }) => card);
  const showAll = (): void => options.publish({ t: "approvals", approvals: list() });

  function known(subject: TrustSubject): "allowed" | "denied" | "unasked" {
    const hash = hashOf(subject);
    if (allowed.has(hash) || options.memory.has(hash)) return "allowed";
    return denied.has(hash) ? "denied" : "unasked";
  }

  /** One question for one entry, however many ask. Undefined: too many are open. */
  function questionOf(subject: TrustSubject): OpenQuestion | undefined {
    const entrySha256 = hashOf(subject);
    const found = [...open.values()].find((question) => question.entrySha256 === entrySha256);
    if (found !== undefined || open.size >= MAX_OPEN) return found;
    const question = newQuestion(subject, { id: options.newId(), at: options.clock.now(), entrySha256 });
    open.set(question.card.id, question);
    showAll();
    return question;
  }

  function close(question: OpenQuestion, end: ApprovalEnd): void {
    if (open.get(question.card.id) !== question) return;
    open.delete(question.card.id);
    options.publish({ t: "approval_over", id: question.card.id, end });
    showAll();
    for (const tell of question.waiting) tell(end === "allowed");
  }

  async function allow(question: OpenQuestion): Promise<ApprovalOutcome> {
    deciding.add(question);
    await writeDown(question, options).finally(() => deciding.delete(question));
    allowed.add(question.entrySha256);
    close(question, "allowed");
    return { outcome: "allowed" };
  }

  function deny(question: OpenQuestion): ApprovalOutcome {
    denied.add(question.entrySha256);
    void options.audit
      .record({ event: "server.denied", ...recordOf(question) })
      .catch(() => options.log.event("error", "audit.failed", { event: "server.denied" }));
    close(question, "denied");
    return { outcome: "denied" };
  }

  return {
    known,
    ask(subject, signal) {
      if (signal.aborted) return Promise.resolve(false);
      const decided = known(subject);
      if (decided !== "unasked") return Promise.resolve(decided === "allowed");
      const question = questionOf(subject);
      if (question === undefined) return Promise.resolve(false);
      return answerOf(question, signal);
    },
    list,
    decide({ id, decision }) {
      const question = open.get(id);
      if (question === undefined) return null;
      // What is being written down is decided: a later No would stand beside a Yes on disk.
      if (deciding.has(question)) return Promise.resolve({ outcome: "gone" });
      return decision === "deny" ? Promise.resolve(deny(question)) : allow(question);
    },
    whole: (id) => open.get(id)?.whole ?? null,
  };
}

async function writeDown(question: OpenQuestion, { audit, memory }: Pick<ServerTrustOptions, "audit" | "memory">): Promise<void> {
  try {
    await audit.record({ event: "server.allowed", ...recordOf(question) });
    await memory.add({ entrySha256: question.entrySha256, server: question.subject.server ?? "" });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new DecisionUnrecorded(`The server was not allowed, because your decision could not be recorded: ${said}`, { cause });
  }
}

function newQuestion(
  subject: TrustSubject,
  { id, at, entrySha256 }: { readonly id: string; readonly at: number; readonly entrySha256: string },
): OpenQuestion {
  const whole = shownServer(subject);
  const server = { name: subject.server ?? "", files: [...subject.files] };
  const card: ApprovalCard = { id, callId: "", tool: subject.server ?? "settings", client: "", at, ...headOf(whole), server };
  return { card, whole, subject, entrySha256, waiting: new Set() };
}

/** The question stays when whoever asked has left: the person may still answer it for the next one. */
function answerOf({ waiting }: OpenQuestion, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onAbort = (): void => resolve(false);
  waiting.add(resolve);
  signal.addEventListener("abort", onAbort, { once: true });
  return promise.finally(() => {
    waiting.delete(resolve);
    signal.removeEventListener("abort", onAbort);
  });
}

function recordOf({ subject, entrySha256 }: OpenQuestion): { readonly server: string; readonly files: string[]; readonly entrySha256: string } {
  return { server: subject.server ?? "", files: [...subject.files], entrySha256 };
}

/** Pure: what runs and where to first, one a line; then everything. */
export function shownServer({ server, text }: TrustSubject): ShownCall {
  const parsed = parseJson(text);
  const whole = parsed === undefined ? text : JSON.stringify(parsed, null, 2);
  const entry = isJsonObject(parsed) ? parsed["entry"] : undefined;
  const runs = isJsonObject(entry) ? whatRuns(entry) : [];
  return server === null || runs.length === 0 ? { text: whole, beside: "" } : { text: runs.join("\n"), beside: whole };
}

function whatRuns({ command, args, url, socket, requestHeadersCommand, env, headers, bearerToken }: JsonObject): string[] {
  const address = [url, socket].find((given) => typeof given === "string");
  const signing = isJsonObject(requestHeadersCommand) ? requestHeadersCommand : {};
  const first = commandLine(command, args) ?? (address === undefined ? undefined : inOneLine(address));
  const second = commandLine(signing["command"], signing["args"]);
  return [
    ...(first === undefined ? [] : [first]),
    ...(second === undefined ? [] : [`for every request: ${second}`]),
    ...secretCommands([env, headers, bearerToken, signing["env"]]).map((line) => `for a value, in a shell: ${inOneLine(line)}`),
  ];
}

function commandLine(command: JsonValue | undefined, args: JsonValue | undefined): string | undefined {
  if (typeof command !== "string") return undefined;
  const words = Array.isArray(args) ? (args as readonly JsonValue[]) : [];
  return [command, ...words.map((word) => (typeof word === "string" ? word : JSON.stringify(word)))].map(quoted).join(" ");
}

/** Values that name a command are run when they are needed (`!command`). */
function secretCommands(values: readonly (JsonValue | undefined)[]): string[] {
  return values
    .flatMap((value) => (isJsonObject(value) ? Object.values(value) : [value]))
    .flatMap((value) => (typeof value === "string" ? [secretValue(value)] : []))
    .flatMap((secret) => (secret.kind === "command" ? [secret.command] : []));
}

/** A line break would begin what looks like another thing that runs. */
function inOneLine(text: string): string {
  return /[\s\p{Cc}]/u.test(text.replaceAll(" ", "")) ? JSON.stringify(text) : text;
}

/** So that a word with spaces is not read as two. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}
