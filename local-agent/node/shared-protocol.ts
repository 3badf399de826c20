/**
 * What is said on a shared socket before MCP (docs/spec/shared-upstreams.md): one line that names the server, and lines that answer it
 * until one is final. After `ok` the connection is MCP over newline-delimited JSON-RPC.
 */
import * as v from "valibot";

/** A change that the other side would not understand makes a new one. */
export const SHARED_VERSION = 1;

export const SharedHello = v.object({
  shared: v.literal("attach"),
  version: v.number(),
  server: v.pipe(v.string(), v.maxLength(256)),
  /** Of the definition, with the environment of whoever attaches (adapter/catalog/config-hash.ts). */
  configHash: v.string(),
  /** Where the server would run. */
  directory: v.string(),
  /** Whether a project's own file configures it: what `npx` runs for it is looked for in the project then. */
  ofProject: v.boolean(),
  /** What whoever attaches can be asked: the server is told so when it is connected to for it. */
  asks: v.object({ form: v.boolean(), url: v.boolean(), sampling: v.boolean() }),
});
export type SharedHello = v.InferOutput<typeof SharedHello>;

export type SharedAsks = SharedHello["asks"];

const REFUSALS = [
  "version",
  "unknown",
  "disabled",
  "not-shareable",
  "other-definition",
  "other-directory",
  "not-allowed",
  "busy",
  "unreachable",
] as const;

export const SharedAnswer = v.variant("answer", [
  /** It would be shared, and is being connected to. */
  v.object({ answer: v.literal("wait") }),
  v.object({ answer: v.literal("ok") }),
  /** `message` is a sentence for a person. */
  v.object({ answer: v.literal("refused"), because: v.fallback(v.picklist(REFUSALS), "not-shareable"), message: v.string() }),
]);
export type SharedAnswer = v.InferOutput<typeof SharedAnswer>;

export type SharedRefusal = Extract<SharedAnswer, { readonly answer: "refused" }>;

export const SHARED_LIMITS = {
  lineBytes: 16 * 1024,
  /** Until the first line from either side: none of them has to think. */
  firstLineMs: 3000,
  /** From `wait` to the last answer: as long as connecting may take, and a little. */
  connectMs: 310_000,
} as const;
