/**
 * The page's line to the agent: one streamed answer with the desk's events, opened again by itself when it breaks, and
 * the decisions. The secret goes in a header, so this is `fetch`, not EventSource.
 */
import * as v from "valibot";
import { parseJson } from "../shared/json.ts";
import { ApprovalOutcome, type ApprovalDecision } from "../shared/approval.ts";
import { DecisionOutcome, type AuthorizationDecision, type Revocation } from "../shared/authorization.ts";
import { DeskEvent } from "../shared/desk.ts";
import { createLineReader } from "./line-reader.ts";

/** `retrying` redials by itself; the other ends wait for the person. */
export type PageLink =
  | { readonly at: "connecting" }
  | { readonly at: "live" }
  | { readonly at: "retrying"; readonly since: number }
  | { readonly at: "displaced" }
  | { readonly at: "refused" }
  | { readonly at: "outdated" };

export interface DeskConnection {
  /** Opens the event stream again after `displaced`, or at once instead of at the next try. */
  resume(): void;
  close(): void;
}

export interface ConnectionListener {
  onEvent(event: DeskEvent): void;
  onLink(link: PageLink): void;
}

/** Two missed keep-alives (15 s each) and some slack: the agent or its machine is gone. */
const SILENCE_MS = 40_000;
const RETRY_MS = [250, 500, 1_000, 2_000, 4_000] as const;
const MAX_LINE_CHARS = 64 * 1024 * 1024;
const DECIDE_DEADLINE_MS = 30_000;

type StreamEnd = "broken" | "displaced" | "refused" | "outdated";

export function connectToDesk(secret: string, listener: ConnectionListener): DeskConnection {
  const closed = new AbortController();
  let resume = (): void => {};

  async function run(): Promise<void> {
    let failures = 0;
    let brokenSince: number | undefined;
    listener.onLink({ at: "connecting" });
    while (!closed.signal.aborted) {
      const end = await followEvents(secret, closed.signal, {
        onEvent: (event) => listener.onEvent(event),
        onLink(link) {
          failures = 0;
          brokenSince = undefined;
          listener.onLink(link);
        },
      });
      if (closed.signal.aborted) return;
      if (end === "refused" || end === "outdated") return listener.onLink({ at: end });
      brokenSince ??= Date.now();
      listener.onLink(end === "displaced" ? { at: end } : { at: "retrying", since: brokenSince });
      const delayMs = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 1_000;
      failures += 1;
      await new Promise<void>((resolve) => {
        resume = resolve;
        if (end !== "displaced") setTimeout(resolve, delayMs);
      });
    }
  }

  void run();
  return {
    resume: () => resume(),
    close() {
      closed.abort();
      resume();
    },
  };
}

/** Resolves when the stream is over; never rejects. */
async function followEvents(secret: string, signal: AbortSignal, listener: ConnectionListener): Promise<StreamEnd> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await fetch("/api/events", {
      headers: authorization(secret),
      signal: AbortSignal.any([signal, silence.signal]),
      cache: "no-store",
    });
    if (response.status === 401 || response.status === 403) return "refused";
    if (!response.ok || response.body === null) return "broken";
    const readLines = createLineReader(MAX_LINE_CHARS);
    const reader = response.body.getReader();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const end = deliver(readLines(chunk.value), listener);
      if (end !== undefined) return end;
    }
    return "broken";
  } catch {
    return "broken"; // A cut connection, however it shows: the caller tries again.
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function deliver(lines: readonly string[], listener: ConnectionListener): StreamEnd | undefined {
  for (const line of lines) {
    if (line === "") continue;
    const event = v.safeParse(DeskEvent, parseJson(line));
    // The agent was updated under an open page: only its own page knows its events.
    if (!event.success) return "outdated";
    if (event.output.t === "displaced") return "displaced";
    if (event.output.t === "snapshot") listener.onLink({ at: "live" });
    listener.onEvent(event.output);
  }
  return undefined;
}

export type DecisionAnswer = DecisionOutcome["outcome"] | { readonly unanswered: string };

/** Never rejects. `unanswered` is a sentence: nothing is known to have been decided. */
export async function sendDecision(secret: string, decision: AuthorizationDecision): Promise<DecisionAnswer> {
  try {
    const response = await fetch("/api/decide", {
      method: "POST",
      headers: { ...authorization(secret), "content-type": "application/json" },
      body: JSON.stringify(decision),
      signal: AbortSignal.timeout(DECIDE_DEADLINE_MS),
    });
    const body = parseJson(await response.text());
    const outcome = v.safeParse(DecisionOutcome, body);
    if (response.ok && outcome.success) return outcome.output.outcome;
    return { unanswered: errorSentence(body) ?? `The agent answered ${response.status}. Reload the page and look whether the card still waits.` };
  } catch {
    return { unanswered: "The agent could not be reached. Nothing is known to be allowed; if the card still waits, decide again." };
  }
}

/** Never rejects; like `sendDecision`. */
export async function sendApproval(
  secret: string,
  decision: ApprovalDecision,
): Promise<ApprovalOutcome["outcome"] | { readonly unanswered: string }> {
  try {
    const response = await fetch("/api/approve", {
      method: "POST",
      headers: { ...authorization(secret), "content-type": "application/json" },
      body: JSON.stringify(decision),
      signal: AbortSignal.timeout(DECIDE_DEADLINE_MS),
    });
    const body = parseJson(await response.text());
    const outcome = v.safeParse(ApprovalOutcome, body);
    if (response.ok && outcome.success) return outcome.output.outcome;
    return { unanswered: errorSentence(body) ?? `The agent answered ${response.status}. Reload the page and look whether the card still waits.` };
  } catch {
    return { unanswered: "The agent could not be reached. Nothing is known to be allowed; if the card still waits, decide again." };
  }
}

const WholeCommand = v.object({ text: v.string(), beside: v.string() });

/** The whole of a command that is too long for its card. Never rejects; a string is the sentence of a failure. */
export async function loadWholeCommand(secret: string, id: string): Promise<v.InferOutput<typeof WholeCommand> | string> {
  try {
    const response = await fetch(`/api/approvals/${encodeURIComponent(id)}`, {
      headers: authorization(secret),
      signal: AbortSignal.timeout(DECIDE_DEADLINE_MS),
      cache: "no-store",
    });
    const body = parseJson(await response.text());
    const whole = v.safeParse(WholeCommand, body);
    if (response.ok && whole.success) return whole.output;
    return errorSentence(body) ?? `The agent answered ${response.status}, so the rest cannot be shown.`;
  } catch {
    return "The agent could not be reached. Try again.";
  }
}

/** Has the agent ask the relay what is granted; the list comes as an event. Never rejects: the sentence of a failure, if there was one. */
export function askForGrants(secret: string): Promise<string | undefined> {
  return ask("/api/grants", { headers: authorization(secret) }, "The agent could not be reached.");
}

/** The same for taking back. */
export function sendRevocation(secret: string, which: Revocation): Promise<string | undefined> {
  return ask(
    "/api/revoke",
    { method: "POST", headers: { ...authorization(secret), "content-type": "application/json" }, body: JSON.stringify(which) },
    "The agent could not be reached. Nothing is known to have been taken back: look at the list, and try again.",
  );
}

/** Has every call that was allowed for the sitting wait for a click again. Like `sendRevocation`. */
export function sendForget(secret: string): Promise<string | undefined> {
  return ask(
    "/api/forget",
    { method: "POST", headers: { ...authorization(secret), "content-type": "application/json" }, body: "{}" },
    "The agent could not be reached. Try again; what was allowed ends with the agent.",
  );
}

async function ask(path: string, request: RequestInit, unreachable: string): Promise<string | undefined> {
  try {
    const response = await fetch(path, { ...request, signal: AbortSignal.timeout(DECIDE_DEADLINE_MS), cache: "no-store" });
    const body = parseJson(await response.text());
    return response.ok ? undefined : (errorSentence(body) ?? `The agent answered ${response.status}. Reload the page.`);
  } catch {
    return unreachable;
  }
}

function errorSentence(body: unknown): string | undefined {
  return typeof body === "object" && body !== null && "error" in body && typeof body.error === "string" ? body.error : undefined;
}

function authorization(secret: string): { readonly authorization: string } {
  return { authorization: `Bearer ${secret}` };
}
