/**
 * The link's frames: the only declaration of them. Control frames are text (JSON, these schemas); data frames are
 * binary (`codec.ts`). Numbered rules: docs/spec/wire.md. Within a version unknown members are dropped and unknown
 * frame types are ignored and counted (WP5).
 */
import * as z from "zod/mini";
import { AuthorizationDecision, DecisionOutcome, PendingAuthorization } from "../authorization.ts";
import { Principal } from "../principal.ts";
import { LIMITS } from "./limits.ts";

const UINT32 = 0xffff_ffff;
const exchange = z.int().check(z.minimum(1), z.maximum(UINT32));
const sequence = z.int().check(z.minimum(0), z.maximum(UINT32));
const id = z.string().check(z.minLength(1), z.maxLength(100));
const sentence = z.string().check(z.maxLength(1000));
const headers = z.array(z.tuple([z.string().check(z.maxLength(200)), z.string().check(z.maxLength(16_384))])).check(z.maxLength(200));
const json = z.record(z.string(), z.unknown());

/** What the relay answers for an absent workstation. `{away}` in a string is replaced by the sentence since when. */
export const OfflineAnswers = z.object({
  legacy: z.object({
    /** Protocol version → result of `initialize`; a client refuses a version it did not ask for. */
    initialize: z.record(z.string(), json),
    /** Version answered when the asked one is unknown. */
    fallbackVersion: z.string(),
    /** Method → result. */
    results: z.record(z.string(), json),
    toolCall: json,
  }),
  modern: z.object({ results: z.record(z.string(), json), toolCall: json }),
  /** Message of the JSON-RPC error for every other request. */
  otherwise: sentence,
});
export type OfflineAnswers = z.infer<typeof OfflineAnswers>;

/** What the relay learns from an agent and keeps (DESIGN D5): it is never redeployed for a setting. */
export const Deposits = z.object({
  /** Canonical origins, first one preferred: `https://relay.example`, no path, no slash. */
  origins: z.array(z.string().check(z.maxLength(300))).check(z.minLength(1), z.maxLength(8)),
  /** Foreign web origins that may call `/mcp` (`--allow-origin`). */
  allowOrigins: z.array(z.string().check(z.maxLength(300))).check(z.maxLength(32)),
  /** False with `--no-oauth`: the OAuth routes are 404, static tokens only. */
  oauth: z.boolean(),
  /** SHA-256 of each static token, lower-case hex. */
  staticTokens: z
    .array(
      z.object({ id, name: z.string().check(z.maxLength(200)), sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)), scope: z.array(z.string()) }),
    )
    .check(z.maxLength(256)),
  /** Root directory as shown on the card: "read, write and run commands in …". */
  root: z.string().check(z.maxLength(4096)),
  offline: OfflineAnswers,
});
export type Deposits = z.infer<typeof Deposits>;

/** First frame of a socket, from the agent. */
export const Hello = z.object({
  t: z.literal("hello"),
  versions: z.object({ min: z.int(), max: z.int() }),
  /** Changes at every start of the agent. */
  instance: id,
  /** Stable per machine and workspace. */
  host: id,
  /** For the sentence another machine reads when it is refused. */
  hostName: z.string().check(z.maxLength(200)),
  takeOver: z.boolean(),
  /** The relay epoch that `begun` belongs to; null before the first welcome. */
  epoch: z.nullable(id),
  /** Exchanges this instance has begun and still holds; `next` is the number its next answer frame will carry. */
  begun: z.array(z.object({ x: exchange, next: sequence })).check(z.maxLength(1024)),
  deposits: Deposits,
});
export type Hello = z.infer<typeof Hello>;

const Got = z.object({ t: z.literal("got"), x: exchange });
/** Frame number 0 of an answer. */
const Head = z.object({
  t: z.literal("head"),
  x: exchange,
  status: z.int().check(z.minimum(200), z.maximum(599)),
  headers,
  /** Bytes (as text) the relay writes if the answer cannot be finished; null: the stream is cut instead. */
  last: z.nullable(z.string().check(z.maxLength(LIMITS.headBytes))),
});
/** Last frame of an answer. `whole: false`: the answer broke in the agent, so it ends with its last words. */
const End = z.object({ t: z.literal("end"), x: exchange, seq: sequence, whole: z.boolean() });
const Bye = z.object({
  t: z.literal("bye"),
  why: z.enum(["leaving", "replaced", "other_host", "retired", "version", "bad_frame", "restarting"]),
  message: sentence,
  /** Whether dialling again makes sense. */
  comeBack: z.boolean(),
});
const Call = z.object({ t: z.literal("call"), id, method: z.string().check(z.maxLength(100)), params: json });
const Reply = z.object({ t: z.literal("reply"), id, ok: z.boolean(), result: z.optional(z.unknown()), message: z.optional(sentence) });

export const AgentFrame = z.discriminatedUnion("t", [Hello, Got, Head, End, Call, Reply, Bye]);
export type AgentFrame = z.infer<typeof AgentFrame>;

/** Answer to `hello`: the exchanges the relay still holds and the next answer frame it wants of each. */
export const Welcome = z.object({
  t: z.literal("welcome"),
  version: z.int(),
  epoch: id,
  held: z.array(z.object({ x: exchange, next: sequence })).check(z.maxLength(1024)),
});
export type Welcome = z.infer<typeof Welcome>;

/** A request; its body follows as data frames 0, 1, … until `bytes` are there. */
const Request = z.object({
  t: z.literal("request"),
  x: exchange,
  method: z.enum(["POST", "DELETE"]),
  path: z.string().check(z.maxLength(16_384)),
  headers,
  principal: Principal,
  bytes: z.int().check(z.minimum(0), z.maximum(LIMITS.requestBytes)),
});
export type RequestFrame = z.infer<typeof Request>;

/** Everything below `next` was consumed by the client's connection. After `end` it also settles the exchange. */
const Ack = z.object({ t: z.literal("ack"), x: exchange, next: sequence });
export const CancelWhy = z.enum(["client_gone", "deadline", "relay"]);
export type CancelWhy = z.infer<typeof CancelWhy>;
const Cancel = z.object({ t: z.literal("cancel"), x: exchange, why: CancelWhy });

export const RelayFrame = z.discriminatedUnion("t", [Welcome, Request, Ack, Cancel, Call, Reply, Bye]);
export type RelayFrame = z.infer<typeof RelayFrame>;

export type HeadFrame = z.infer<typeof Head>;
export type ByeFrame = z.infer<typeof Bye>;
export type CallFrame = z.infer<typeof Call>;
export type ReplyFrame = z.infer<typeof Reply>;

/** Control calls, by direction and method: parameters and result of each. */
export const AGENT_CALLS = {
  /** The cards that are up now. */
  "authorization.list": { params: z.object({}), result: z.object({ pending: z.array(PendingAuthorization) }) },
  "authorization.decide": { params: AuthorizationDecision, result: DecisionOutcome },
} as const;

export const RELAY_CALLS = {
  /** Full list, at every change: idempotent, so a lost one does no harm. */
  "authorization.changed": { params: z.object({ pending: z.array(PendingAuthorization) }), result: z.object({}) },
} as const;
