/** The line about MCP servers in Pi's footer. Pure. */
import type { Adapter } from "../adapter/adapter.ts";
import { serverReports, totalsOf } from "../adapter/proxy/server-report.ts";

/** Undefined: nothing is to be shown. */
export function footerText({ pool, config }: Pick<Adapter, "pool" | "config">): string | undefined {
  const servers = pool.servers().length;
  const { mcpFooterStatus, showStatusIcon } = config.settings;
  if (mcpFooterStatus === "off" || servers === 0) return undefined;
  const { connectedCount: connected, disabledCount: disabled } = totalsOf(serverReports(pool, [], 0));
  const enabled = servers - disabled;
  const text =
    mcpFooterStatus === "compact"
      ? `MCP ${connected}/${enabled}`
      : `MCP: ${enabled} ${enabled === 1 ? "server" : "servers"} enabled${connected > 0 ? `, ${connected} connected` : ""}${disabled > 0 ? `, ${disabled} disabled` : ""}`;
  return showStatusIcon ? `🔌 ${text}` : text;
}
