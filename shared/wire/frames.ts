/**
 * The link's frames: the only declaration of them. Control frames are text (JSON, these schemas); data frames are
 * binary (`codec.ts`). Numbered rules: docs/spec/wire.md. Within a version unknown members are dropped and unknown
 * frame types are ignored (WP5).
 */
import * as v from "valibot";
import { AuthorizationDecision, DecisionOutcome, GrantList, PendingAuthorization, Revocation, RevocationOutcome } from "../authorization.ts";
import { Principal } from "../principal.ts";
import { LIMITS } from "./limits.ts";

const UINT32 = 0xffff_ffff;
const exchange = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(UINT32));
const sequence = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(UINT32));
const id = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const sentence = v.pipe(v.string(), v.maxLength(1000));
const headers = v.pipe(v.array(v.tuple([v.pipe(v.string(), v.maxLength(200)), v.pipe(v.string(), v.maxLength(16_384))])), v.maxLength(200));
const json = v.record(v.string(), v.unknown());

/** What the relay answers for an absent workstation. `{away}` in a string is replaced by the sentence since when. */
export const OfflineAnswers = v.object({
  legacy: v.object({
    /** Protocol version → result of `initialize`; a client refuses a version it did not ask for. */
    initialize: v.record(v.string(), json),
    /** Version answered when the asked one is unknown. */
    fallbackVersion: v.string(),
    /** Method → result. */
    results: v.record(v.string(), json),
    toolCall: json,
  }),
  modern: v.object({ results: v.record(v.string(), json), toolCall: json }),
  /** Message of the JSON-RPC error for every other request. */
  otherwise: sentence,
});
export type OfflineAnswers = v.InferOutput<typeof OfflineAnswers>;

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** Tokens made on the workstation: each by its SHA-256, lower-case hex. */
const StaticTokens = v.pipe(
  v.array(
    v.object({
      id,
      name: v.pipe(v.string(), v.maxLength(200)),
      sha256,
      scope: v.array(v.string()),
      /** Milliseconds since the epoch; absent: never. */
      expiresAt: v.optional(v.number()),
    }),
  ),
  v.maxLength(256),
);

/** What the relay learns from an agent and keeps (DESIGN D5): it is never redeployed for a setting. */
export const Deposits = v.object({
  /** Canonical origins, first one preferred: `https://relay.example`, no path, no slash. */
  origins: v.pipe(v.array(v.pipe(v.string(), v.maxLength(300))), v.minLength(1), v.maxLength(8)),
  /** Foreign web origins that may call `/mcp` (`--allow-origin`). */
  allowOrigins: v.pipe(v.array(v.pipe(v.string(), v.maxLength(300))), v.maxLength(32)),
  /** False with `--no-oauth`: the OAuth routes are 404, static tokens only. */
  oauth: v.boolean(),
  staticTokens: StaticTokens,
  /** The one client a person configures by hand (docs/spec/oauth.md OA100 to OA110); absent: there is none. */
  client: v.optional(
    v.object({
      id: v.pipe(v.string(), v.regex(/^[\w.~-]{1,100}$/)),
      /** SHA-256 of its secret, lower-case hex. */
      sha256,
      /** The only addresses it may return to; null: the person decides about each one. */
      redirects: v.nullable(v.pipe(v.array(v.pipe(v.string(), v.maxLength(2000))), v.maxLength(20))),
    }),
  ),
  offline: OfflineAnswers,
});
export type Deposits = v.InferOutput<typeof Deposits>;

/** First frame of a socket, from the agent. */
export const Hello = v.object({
  t: v.literal("hello"),
  versions: v.object({ min: v.pipe(v.number(), v.integer()), max: v.pipe(v.number(), v.integer()) }),
  /** Changes at every start of the agent. */
  instance: id,
  /** Stable per machine and workspace. */
  host: id,
  /** For the sentence another machine reads when it is refused. */
  hostName: v.pipe(v.string(), v.maxLength(200)),
  takeOver: v.boolean(),
  /** The relay epoch that `begun` belongs to; null before the first welcome. */
  epoch: v.nullable(id),
  /** Exchanges this instance has begun and still holds; `next` is the number its next answer frame will carry. */
  begun: v.pipe(v.array(v.object({ x: exchange, next: sequence })), v.maxLength(1024)),
  deposits: Deposits,
});
export type Hello = v.InferOutput<typeof Hello>;

const Got = v.object({ t: v.literal("got"), x: exchange });
/** Frame number 0 of an answer. */
export const HeadFrame = v.object({
  t: v.literal("head"),
  x: exchange,
  status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
  headers,
  /** Bytes (as text) the relay writes if the answer cannot be finished; null: the stream is cut instead. */
  last: v.nullable(v.pipe(v.string(), v.maxLength(LIMITS.headBytes))),
  /** [WP24] The whole answer: stands for data frame 1 (none if empty) and the `end` after it. */
  body: v.optional(v.pipe(v.string(), v.maxLength(LIMITS.inlineBytes))),
});
/** Last frame of an answer. `whole: false`: the answer broke in the agent, so it ends with its last words. */
const End = v.object({ t: v.literal("end"), x: exchange, seq: sequence, whole: v.boolean() });
const Bye = v.object({
  t: v.literal("bye"),
  why: v.picklist(["leaving", "replaced", "other_host", "retired", "version", "bad_frame"]),
  message: sentence,
  /** Whether dialling again makes sense. */
  comeBack: v.boolean(),
});
const Call = v.object({ t: v.literal("call"), id, method: v.pipe(v.string(), v.maxLength(100)), params: json });
const Reply = v.object({ t: v.literal("reply"), id, ok: v.boolean(), result: v.optional(v.unknown()), message: v.optional(sentence) });

export const AgentFrame = v.variant("t", [Hello, Got, HeadFrame, End, Call, Reply, Bye]);
export type AgentFrame = v.InferOutput<typeof AgentFrame>;

/** Answer to `hello`: the exchanges the relay still holds and the next answer frame it wants of each. */
export const Welcome = v.object({
  t: v.literal("welcome"),
  version: v.pipe(v.number(), v.integer()),
  epoch: id,
  held: v.pipe(v.array(v.object({ x: exchange, next: sequence })), v.maxLength(1024)),
});
export type Welcome = v.InferOutput<typeof Welcome>;

/** A request; its body follows as data frames 0, 1, … until `bytes` are there, or is inside. */
export const RequestFrame = v.object({
  t: v.literal("request"),
  x: exchange,
  method: v.picklist(["POST", "DELETE"]),
  path: v.pipe(v.string(), v.maxLength(16_384)),
  headers,
  principal: Principal,
  bytes: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LIMITS.requestBytes)),
  /** [WP24] The whole body: stands for data frame 0. */
  body: v.optional(v.pipe(v.string(), v.maxLength(LIMITS.inlineBytes))),
});
export type RequestFrame = v.InferOutput<typeof RequestFrame>;

/** Everything below `next` was consumed by the client's connection. After `end` it also settles the exchange. */
const Ack = v.object({ t: v.literal("ack"), x: exchange, next: sequence });
export const CancelWhy = v.picklist(["client_gone", "deadline"]);
export type CancelWhy = v.InferOutput<typeof CancelWhy>;
const Cancel = v.object({ t: v.literal("cancel"), x: exchange, why: CancelWhy });

export const RelayFrame = v.variant("t", [Welcome, RequestFrame, Ack, Cancel, Call, Reply, Bye]);
export type RelayFrame = v.InferOutput<typeof RelayFrame>;

export type HeadFrame = v.InferOutput<typeof HeadFrame>;
export type ByeFrame = v.InferOutput<typeof Bye>;
export type CallFrame = v.InferOutput<typeof Call>;
export type ReplyFrame = v.InferOutput<typeof Reply>;

/** Control calls, by direction and method: parameters and result of each. */
export const AGENT_CALLS = {
  /** The cards that are up now. */
  "authorization.list": { params: v.object({}), result: v.object({ pending: v.array(PendingAuthorization) }) },
  "authorization.decide": { params: AuthorizationDecision, result: DecisionOutcome },
  "grants.list": { params: v.object({}), result: GrantList },
  "grants.revoke": { params: Revocation, result: RevocationOutcome },
  /** Replaces the static tokens of the deposits: one that is missing opens nothing from the next request on. */
  "tokens.set": { params: v.object({ staticTokens: StaticTokens }), result: v.object({}) },
} as const;

export const RELAY_CALLS = {
  /** Full list, at every change: idempotent, so a lost one does no harm. */
  "authorization.changed": { params: v.object({ pending: v.array(PendingAuthorization) }), result: v.object({}) },
  /** A client has collected what was allowed: whoever shows `grants.list` asks again. */
  "grants.changed": { params: v.object({}), result: v.object({}) },
} as const;
