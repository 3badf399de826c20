/** What the agent and the embedded relay's process say to each other over Node's IPC channel. Secrets go here, never in argv or environment. */
import * as v from "valibot";

export const RelayOrder = v.object({
  t: v.literal("start"),
  workerPath: v.string(),
  /** The relay's SQLite. */
  persistDir: v.string(),
  host: v.string(),
  port: v.number(),
  agentKey: v.string(),
  /** Who reaches it: see `EMBEDDED` in worker/env.ts. */
  callers: v.picklist(["loopback", "public"]),
  /** The name of the one object it has. */
  workspace: v.string(),
});
export type RelayOrder = v.InferOutput<typeof RelayOrder>;

export const RelayReport = v.variant("t", [
  /** The runtime process was started: should its parent be killed, the agent ends it. */
  v.object({ t: v.literal("runtime"), pid: v.number() }),
  v.object({ t: v.literal("ready"), port: v.number() }),
  v.object({ t: v.literal("failed"), code: v.string(), message: v.string() }),
  v.object({ t: v.literal("logged"), level: v.string(), message: v.string() }),
]);
export type RelayReport = v.InferOutput<typeof RelayReport>;
