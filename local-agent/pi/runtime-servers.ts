/** Two channels on which other extensions may ask for servers of their own. Pi has a call for that, and they are told so. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const CHANNELS = ["pi-mcp-adapter:runtime-register:v1", "pi-mcp-adapter:runtime-snapshot:v1"] as const;

/** [PI69] Whoever asks finds the answer in what it sent. */
export function refuseRuntimeServers({ events }: Pick<ExtensionAPI, "events">): void {
  for (const channel of CHANNELS) {
    events.on(channel, (request) => {
      if (typeof request !== "object" || request === null || ("result" in request && request.result !== undefined)) return;
      const error = new Error(
        `${channel} is not served here. Register servers with pi.registerMcpServer(name, config) and read them with pi.getMcpServers().`,
      );
      Object.assign(request, { result: { ok: false, error } });
    });
  }
}
