/**
 * The agent's real MCP surface, once on a loopback port and once behind the relay named in argv, in a process of its own:
 * both paths are measured against the same event loop. The tool does nothing but return bytes.
 */
import { createHash } from "node:crypto";
import { createLocalHttp } from "../../local-agent/mcp/local-http.ts";
import { createMcpSurface } from "../../local-agent/mcp/server.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import { createRelayLink } from "../../local-agent/daemon/relay-link.ts";
import { TOKEN } from "../support/deposits.ts";
import { linkOptions } from "../support/relayed-target.ts";
import { UNGUARDED_GATE } from "../support/surface-under-test.ts";
import { descriptor, scriptedTools, text } from "../support/scripted-tools.ts";

/** The one to dial, then every one that clients use. */
const origins = process.argv.slice(2);
const piece = (bytes: unknown) => text("x".repeat(typeof bytes === "number" ? bytes : 0));
const surface = createMcpSurface({
  name: "bench",
  version: "0.0.0",
  instructions: () => "bench",
  clock: systemClock,
  timers: systemTimers,
  log: silentLog,
  tools: scriptedTools(
    { bytes: (call) => piece(call.args["bytes"]) },
    { bytes: { inputSchema: { ...descriptor("bytes").inputSchema, properties: { bytes: { type: "number" } } } } },
  ),
  gate: UNGUARDED_GATE,
  calls: { started: () => undefined, progressed: () => undefined, finished: () => undefined },
});
const http = await createLocalHttp({
  handler: surface.handle,
  host: "127.0.0.1",
  port: 0,
  tokenSha256s: [createHash("sha256").update(TOKEN).digest("hex")],
});
const link = createRelayLink(
  linkOptions(
    origins[0] ?? "",
    surface.handle,
    // The person, who answers at once; the issuer is on loopback and asks for no code.
    { onPending: (pending) => pending.forEach(({ id }) => void link.decide({ id, allow: true })) },
    { origins },
  ),
);
await link.opened;
process.send?.({ url: http.url });
process.on("disconnect", () => process.exit(0));
