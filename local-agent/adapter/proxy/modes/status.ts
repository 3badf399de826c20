/** `mcp({})`: how every server stands. */
import type { AdapterResult } from "../../adapter.ts";
import type { ProxyParts } from "../proxy-parts.ts";
import { quoted } from "../proxy-parts.ts";
import { changedResourceLines } from "../changed-resources.ts";
import type { ServerReport } from "../server-report.ts";
import { serverReports, totalsOf } from "../server-report.ts";
import { answerText } from "./answer.ts";

export async function statusMode(parts: ProxyParts): Promise<AdapterResult> {
  const reports = serverReports(parts.pool, parts.view.all().entries, parts.clock.now());
  const { totalTools, connectedCount, disabledCount } = totalsOf(reports);
  const head = reports.length === 0 ? NONE : `${counted(reports.length, "server")} (${connectedCount} connected), ${counted(totalTools, "tool")}.`;
  const lines = reports.flatMap((report) => [lineOf(report), ...changedResourceLines(parts.pool.state(report.name)).map((line) => `  ${line}`)]);
  return answerText(parts.presenter, [head, ...lines, ...advice(reports)].join("\n"), {
    mode: "status",
    servers: reports.map(detailsOf),
    totalTools,
    connectedCount,
    disabledCount,
    directToolsFrozen: parts.directToolsFrozen,
  });
}

const NONE = "No MCP server is configured. Servers are read from .mcp.json in the project and ~/.config/mcp/mcp.json.";

/** Nothing of the lines says how to go on. */
function advice(reports: readonly ServerReport[]): readonly string[] {
  if (reports.length === 0) return [];
  const connect = 'mcp({connect: "name"}) connects one now and lists its tools.';
  return ["", `mcp({search: "what you need"}) finds tools.${reports.some(({ status }) => WANTS_CONNECT.has(status)) ? ` ${connect}` : ""}`];
}

const WANTS_CONNECT: ReadonlySet<ServerReport["status"]> = new Set(["not-connected", "failed", "untrusted"]);

function lineOf({ name, status, toolCount, resourceCount, failedAgoSeconds, cause, catalogStale }: ServerReport): string {
  const known = resourceCount === null ? "" : `, ${counted(toolCount, "tool")}${catalogStale === true ? " (an old list)" : ""}`;
  const ago = failedAgoSeconds === null || status !== "failed" ? "" : ` ${failedAgoSeconds} s ago`;
  return `${quoted(name)}: ${STANDING[status]}${ago}${known}${cause === null ? "" : `: ${cause}`}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

const STANDING: Readonly<Record<ServerReport["status"], string>> = {
  connected: "connected",
  connecting: "connecting",
  cached: "connects when it is used",
  failed: "failed",
  "needs-auth": "needs a login",
  "not-connected": "not connected yet",
  disabled: "disabled",
  untrusted: "not allowed yet",
  invalid: "cannot be used",
};

function detailsOf({ name, status, toolCount, listenState, failedAgoSeconds, resourceCount, catalogStale }: ServerReport) {
  return {
    name,
    status,
    listenState,
    toolCount,
    ...(resourceCount === null ? {} : { resourceCount }),
    ...(catalogStale === true ? { catalogStale } : {}),
    ...(failedAgoSeconds === null ? {} : { failedAgo: failedAgoSeconds }),
    ...(status === "disabled" ? { disabled: true } : {}),
  };
}
