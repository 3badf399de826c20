/**
 * Entry of the tool host: Pi's tools in a process of their own, because Pi's shell tool can bring its process down. It
 * serves its parent over IPC and ends with it. The parent sets PI_OFFLINE, PI_CODING_AGENT_DIR and TMPDIR at the fork,
 * because Pi reads them while it is imported.
 */
import { startHostCalls } from "./host-calls.ts";
import type { FromHost, ToHost } from "./host-protocol.ts";

const calls = startHostCalls(send);

process.on("message", (message) => void calls.receive(message as ToHost));
// Ctrl-C and a closed terminal reach every process of it: it is for the agent to decide when its host ends.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
process.once("SIGTERM", () => void end(0, { orphaned: false }));
process.once("disconnect", () => void end(0, { orphaned: true }));
process.on("uncaughtException", (error) => {
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  send({ t: "fault", message: `${code}: ${error.message}` });
  void end(1, { orphaned: false });
});

function send(message: FromHost): void {
  // A failure to send means that the parent is gone; "disconnect" is what ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function end(code: number, how: { readonly orphaned: boolean }): Promise<void> {
  await calls.end(how);
  process.exit(code);
}
