/** What the agent and the embedded relay's process say to each other over Node's IPC channel. Secrets go here, never in argv or environment. */
import * as z from "zod";

export const RelayOrder = z.object({
  t: z.literal("start"),
  workerPath: z.string(),
  /** The relay's SQLite. */
  persistDir: z.string(),
  host: z.string(),
  port: z.number(),
  agentKey: z.string(),
});
export type RelayOrder = z.infer<typeof RelayOrder>;

export const RelayReport = z.discriminatedUnion("t", [
  /** The runtime process was started: should its parent be killed, the agent ends it. */
  z.object({ t: z.literal("runtime"), pid: z.number() }),
  z.object({ t: z.literal("ready"), port: z.number() }),
  z.object({ t: z.literal("failed"), code: z.string(), message: z.string() }),
  z.object({ t: z.literal("logged"), level: z.string(), message: z.string() }),
]);
export type RelayReport = z.infer<typeof RelayReport>;
