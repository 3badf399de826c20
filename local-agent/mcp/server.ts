/**
 * The MCP surface: modern (2026-07-28) and legacy clients at one URL, without sessions. One HTTP exchange is one fresh
 * SDK server, so nothing of one caller can reach another (docs/spec/mcp.md).
 */
import { randomUUID } from "node:crypto";
import type { HumanChannel } from "../../shared/human/channel.ts";
import type { OfflineAnswers } from "../../shared/wire/frames.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import type { ExchangeHandler } from "./exchange.ts";
import { createFairShare } from "./fair-share.ts";
import { createExchangeHandler, type HttpExchangeOptions } from "./http-exchange.ts";
import { HUMAN_TOOLS } from "./human-tool-table.ts";
import { createHumanTasks, withHumanTools, type HumanToolsPorts } from "./human-tools.ts";
import type { Adapter } from "../adapter/adapter.ts";
import { GET_INSTRUCTIONS, withInstructionsTool } from "./instructions-tool.ts";
import { askOfflineAnswers } from "./offline-answers.ts";
import type { Passage } from "./pass-through/passage.ts";
import { createPassThrough } from "./pass-through/pass-through.ts";
import type { ProtocolServerOptions } from "./protocol-server.ts";
import { serveOverStdio, type StdioStreams } from "./stdio.ts";
import { withUpstreamTools } from "./upstream-tools.ts";

/**
 * A closed connection is answered with a reset at the first write after it and so noticed at the second (TCP has no other
 * sign of it that the platform reports): within 20 s, two comments and the way.
 */
const COMMENT_MS = 8000;

export interface McpSurfaceOptions extends Omit<ProtocolServerOptions, "newCallId" | "share" | "passThrough"> {
  /** A comment is written after this much silence on a call's stream. */
  readonly keepAliveMs?: number;
  /** No call lives longer. */
  readonly lifeMs?: number;
  readonly newCallId?: () => string;
  /** The conversation with the person; without it no tool speaks of one. */
  readonly human?: HumanChannel;
  /** The MCP servers of this workstation. */
  readonly upstreams?: Adapter;
  /** `blockMs`: exactly how long a call may wait for the person, whoever asks; null: as long as its client is known to bear. */
  readonly waits?: { readonly blockMs: number | null };
  /** Upstreams to pass through to clients (docs/spec/pass-through.md). */
  readonly passage?: Passage;
}

export interface McpSurface {
  readonly handle: ExchangeHandler;
  /** What the relay answers while the workstation is away: asked of this surface itself, so that it cannot differ. */
  offlineAnswers(): Promise<OfflineAnswers>;
  /** Serves one client over newline-delimited JSON. `closed` settles when its input has ended. */
  serveStdio(streams: StdioStreams): { readonly closed: Promise<void>; close(): Promise<void> };
  /** Ends what is kept at upstreams for clients whose access was taken back. */
  forget(isTheirs: (principalId: string) => boolean): Promise<void>;
  /** Ends the connections to upstreams; without any there is nothing to end. */
  close(): Promise<void>;
}

export function createMcpSurface(options: McpSurfaceOptions): McpSurface {
  const human = options.human === undefined ? null : humanPorts(options, options.human);
  const { passage, upstreams, ...rest } = options;
  const offered = upstreams === undefined ? options.tools : withUpstreamTools(options.tools, upstreams, RESERVED_TOOLS);
  const tools = human === null ? offered : withHumanTools(offered, human);
  const own: HttpExchangeOptions = {
    ...rest,
    tools: withInstructionsTool(tools, options.instructions),
    newCallId: options.newCallId ?? randomUUID,
    ...(human !== null && { tasks: createHumanTasks(human) }),
    share: createFairShare(LIMITS.perPrincipal),
    keepAliveMs: options.keepAliveMs ?? COMMENT_MS,
    lifeMs: options.lifeMs ?? LIMITS.lifeMs,
  };
  const passThrough = passage === undefined ? undefined : createPassThrough(passage, { ...own, calls: own });
  const served: HttpExchangeOptions = passThrough === undefined ? own : { ...own, passThrough };
  return {
    handle: createExchangeHandler(served),
    offlineAnswers: () => askOfflineAnswers(served),
    serveStdio: (streams) => serveOverStdio(served, streams),
    forget: async (isTheirs) => passThrough?.forget(isTheirs),
    close: async () => passThrough?.close(),
  };
}

/** Never an upstream's, also where this agent does not offer them: a client that knows them trusts them. */
export const RESERVED_TOOLS: ReadonlySet<string> = new Set([
  "read",
  "write",
  "edit",
  "ls",
  "grep",
  "find",
  "bash",
  "powershell",
  "mcp",
  "mcpScript",
  GET_INSTRUCTIONS.name,
  ...HUMAN_TOOLS.map(({ name }) => name),
]);

function humanPorts({ clock, waits }: McpSurfaceOptions, channel: HumanChannel): HumanToolsPorts {
  return { channel, clock, blockMs: waits?.blockMs ?? null, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone };
}
