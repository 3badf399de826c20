/** The line about MCP servers in Pi's footer. Pure. */
import type { Adapter } from "../adapter/adapter.ts";

/** Undefined: nothing is to be shown. */
export function footerText({ pool, config }: Pick<Adapter, "pool" | "config">): string | undefined {
  const { mcpFooterStatus, showStatusIcon } = config.settings;
  const states = pool.servers().map((name) => pool.state(name).at);
  const enabled = states.filter((at) => at !== "disabled").length;
  if (mcpFooterStatus === "off" || states.length === 0) return undefined;
  const connected = states.filter((at) => at === "connected").length;
  const disabled = states.length - enabled;
  const text =
    mcpFooterStatus === "compact"
      ? `MCP ${connected}/${enabled}`
      : `MCP: ${enabled} ${enabled === 1 ? "server" : "servers"} enabled${connected > 0 ? `, ${connected} connected` : ""}${disabled > 0 ? `, ${disabled} disabled` : ""}`;
  return showStatusIcon ? `🔌 ${text}` : text;
}
