/** Exposed upstreams behind the MCP surface: what outlives a request, and how a request's server comes to serve them. */
import { randomUUID } from "node:crypto";
import { createMcpHandler, type Server, type ServerCapabilities } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonValue } from "../../../shared/json.ts";
import { isRpcId, RPC, rpcError } from "../../../shared/jsonrpc.ts";
import type { Clock, Log, Timers } from "../../../shared/ports.ts";
import { createFairShare } from "../fair-share.ts";
import type { ToolCallPorts } from "../tool-call.ts";
import { abortOf } from "./abort-of.ts";
import type { Caller } from "./caller.ts";
import { createChanges, type Changes } from "./changes.ts";
import { createConnections, type Connections } from "./connections.ts";
import { createGrants } from "./grants.ts";
import type { OffersPorts } from "./offers.ts";
import { createParkedCalls } from "./parked-calls.ts";
import type { Passage } from "./passage.ts";
import type { PassedCallPorts } from "./passed-call.ts";
import { createSeal } from "./seal.ts";
import { createOpenQuestions, type OpenQuestions } from "./session-transport.ts";
import { createSessions, type FoundSession, type Session, type Sessions } from "./sessions.ts";

/** What a request's server needs of it (passing-server.ts). */
export interface PassingParts extends PassedCallPorts, OffersPorts {
  readonly changes: Changes;
}

export interface PassThrough {
  readonly parts: PassingParts;
  readonly sessions: Sessions;
  readonly questions: OpenQuestions;
  /** What the upstreams can do; one of which nothing is known yet may be able to do anything. */
  capabilities(): ServerCapabilities;
  /** Their guidance, after ours. */
  instructions(own: string): string;
  /** Tries every upstream of which nothing is known, for a moment. */
  learn(caller: Caller): Promise<void>;
  find(principalId: string, headers: Headers): FoundSession;
  /** An answer to a question that was asked in a session. */
  answered(session: Session, answer: JsonValue): void;
  /** A modern client's stream of changes, until `signal` aborts. */
  listen(caller: Caller, stream: ListenStream): Promise<Response>;
  /** Ends what is kept for clients that will not come again. */
  forget(isTheirs: (principalId: string) => boolean): Promise<void>;
  close(): Promise<void>;
}

interface ListenStream {
  readonly request: Request;
  readonly body: JsonValue;
  readonly server: () => Server;
  readonly uris: readonly string[];
  readonly keepAliveMs: number;
  readonly signal: AbortSignal;
  /** Ends what is held for it when the client does not read any more. */
  readonly ended: AbortController;
}

export interface PassThroughPorts {
  readonly calls: ToolCallPorts;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  readonly lifeMs: number;
}

/** How long the first requests wait for upstreams that have to be started. */
const LEARN_MS = 5000;
const SUBSCRIBE_MS = 10_000;
const MAX_LISTENING = 16;
/** Whatever one client does, others hear of changes. */
const MAX_OF_ONE = MAX_LISTENING / 2;
const MAX_INSTRUCTIONS = 4000;
const ANY: ServerCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
};

export function createPassThrough(passage: Passage, ports: PassThroughPorts): PassThrough {
  const seal = createSeal(passage.key, ports.clock);
  const sessions = createSessions(seal, randomUUID);
  const changes = createChanges((principalId) => sessions.known(principalId));
  const connections = createConnections({ ...ports, passage, onChange: (principalId, change) => changes.publish(principalId, change) });
  const parked = createParkedCalls({ timers: ports.timers, newId: randomUUID });
  const questions = createOpenQuestions();
  const onLate = (principalId: string): void => {
    for (const kind of ["tools", "prompts", "resources"] as const) changes.publish(principalId, { kind });
  };
  const parts: PassingParts = { ...ports, passage, seal, connections, parked, changes, grants: createGrants(randomUUID), onLate };
  let listening = 0;
  const share = createFairShare(MAX_OF_ONE);

  return {
    parts,
    sessions,
    questions,
    capabilities: () => capabilitiesOf(passage.upstreams.map((upstream) => connections.facts(upstream)?.capabilities ?? ANY)),
    instructions: (own) =>
      [own, ...passage.upstreams.flatMap((upstream) => guidance(upstream, connections.facts(upstream)?.instructions ?? null))].join("\n\n"),
    learn: learnerOf(passage, connections, ports.timers),
    find: (principalId, headers) => sessions.find(principalId, headers.get("mcp-session-id")),
    answered: (session, answer) => void questions.deliver(session, answer),
    async listen(caller, stream) {
      if (listening >= MAX_LISTENING) return refused(stream.body, `${MAX_LISTENING} streams of changes are open, which is the most.`);
      const leave = share.take(caller.principal.id);
      if (leave === undefined)
        return refused(stream.body, `This client has ${MAX_OF_ONE} streams of changes open, which is the most. End one of them first.`);
      await hold(caller, stream, leave);
      const bus = changes.bus(caller.principal.id);
      const handler = createMcpHandler(stream.server, { legacy: "reject", bus, keepAliveMs: stream.keepAliveMs });
      return handler.fetch(stream.request, { parsedBody: stream.body });
    },
    async forget(isTheirs) {
      parked.giveUp(isTheirs);
      await connections.forget(isTheirs);
    },
    async close() {
      parked.giveUp(() => true);
      sessions.close();
      await connections.close();
    },
  };

  /** The connections stay open as long as somebody listens. Resolves when the upstreams were asked. */
  async function hold(caller: Caller, { uris, signal, ended }: ListenStream, leave: () => void): Promise<void> {
    const over = AbortSignal.any([signal, ended.signal]);
    // Who left while the upstreams were tried never ends again.
    if (over.aborted) return leave();
    listening += 1;
    const end = (): void => {
      listening -= 1;
      leave();
    };
    over.addEventListener("abort", end, { once: true });
    const asked = passage.upstreams.map((upstream) => heldOpen(connections, upstream, caller, { uris, over }));
    await within(LEARN_MS, ports.timers, Promise.all(asked));
  }
}

/** Holds the caller's connection until `over`. Resolves when the upstream was asked for its changes, or cannot be. */
function heldOpen(
  connections: Connections,
  upstream: string,
  caller: Caller,
  { uris, over }: { readonly uris: readonly string[]; readonly over: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = connections.use(upstream, caller, {}, async (link) => {
    await link.listening;
    const options = { signal: over, timeoutMs: SUBSCRIBE_MS };
    const wanted = link.capabilities.resources?.subscribe === true ? uris : [];
    const stops = await Promise.all(wanted.map((uri) => link.subscribe(uri, options).catch(() => () => {})));
    resolve();
    await Promise.race([abortOf(over), link.closed]);
    for (const stop of stops) stop();
  });
  held.then(
    () => resolve(),
    () => resolve(),
  );
  return promise;
}

/** As the SDK refuses a stream, with a sentence of ours. */
function refused(body: JsonValue, sentence: string): Response {
  const id = isJsonObject(body) && isRpcId(body["id"]) ? body["id"] : null;
  return new Response(rpcError(id, RPC.internalError, sentence), { headers: { "Content-Type": "application/json" } });
}

/** Whoever comes while an upstream is tried waits for the same attempt: some upstreams cannot run twice. */
function learnerOf({ upstreams }: Passage, connections: Connections, timers: Timers): (caller: Caller) => Promise<void> {
  const trying = new Map<string, Promise<unknown>>();
  const tried = (upstream: string, caller: Caller): Promise<unknown> => {
    const attempt = trying.get(upstream) ?? connections.use(upstream, caller, {}, () => Promise.resolve()).finally(() => trying.delete(upstream));
    trying.set(upstream, attempt);
    return attempt;
  };
  return async (caller) => {
    const unknown = upstreams.filter((upstream) => connections.facts(upstream) === null);
    if (unknown.length > 0) await within(LEARN_MS, timers, Promise.all(unknown.map((upstream) => tried(upstream, caller))));
  };
}

function capabilitiesOf(all: readonly ServerCapabilities[]): ServerCapabilities {
  const has = (test: (capabilities: ServerCapabilities) => unknown): boolean => all.some((capabilities) => Boolean(test(capabilities)));
  return {
    tools: { ...(has(({ tools }) => tools?.listChanged) && { listChanged: true }) },
    prompts: { ...(has(({ prompts }) => prompts?.listChanged) && { listChanged: true }) },
    ...(has(({ resources }) => resources) && {
      resources: {
        ...(has(({ resources }) => resources?.listChanged) && { listChanged: true }),
        ...(has(({ resources }) => resources?.subscribe) && { subscribe: true }),
      },
    }),
    ...(has(({ completions }) => completions) && { completions: {} }),
    logging: {},
  };
}

/** Sections are cut, so that an upstream cannot push ours out of a client's sight. */
function guidance(upstream: string, instructions: string | null): string[] {
  return instructions === null || instructions.trim() === "" ? [] : [`## ${upstream}\n\n${instructions.trim().slice(0, MAX_INSTRUCTIONS)}`];
}

async function within(ms: number, timers: Timers, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = timers.after(ms, resolve);
  await Promise.race([work, promise]);
  stop();
}
