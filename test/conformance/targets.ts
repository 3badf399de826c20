/** The servers under test and the ways to reach them. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { createLocalHttp } from "../../local-agent/mcp/local-http.ts";
import type { ExchangeHandler } from "../../local-agent/mcp/exchange.ts";
import { PNG } from "../fixtures/everything/content-tools.ts";
import { createEverythingServer } from "../fixtures/everything-server.ts";
import { createEverythingWithSessions } from "../fixtures/everything-sessions.ts";
import { passageUnderTest, type UpstreamFixture } from "../support/passage-under-test.ts";
import { everything } from "../support/passing-surface.ts";
import { text, type ToolScript } from "../support/scripted-tools.ts";
import { surfaceUnderTest } from "../support/surface-under-test.ts";
import type { Endpoint } from "./bearer-shim.ts";

interface RunningTarget extends Endpoint {
  close(): Promise<void>;
}

/** What `test/support/relayed-target.ts` exports as `startRelayed`. */
export type StartTarget = (handler: ExchangeHandler) => Promise<RunningTarget>;

export interface StartedSubject {
  readonly handle: ExchangeHandler;
  close(): Promise<void>;
}

/** What is reached in each way. A subject that only exists behind the agent has nothing to be reached directly. */
export const SUBJECTS = {
  /** The fixture with every feature. */
  everything: inBothWays(() => createEverythingServer()),
  /** The agent's own surface, with tools of the names that the suite asks for. */
  agent: inBothWays(() => surfaceUnderTest(AGENT_TOOLS).surface),
  /** The fixture with sessions, and through the agent, which has it as an upstream on pipes: nothing may be lost. */
  passed: {
    direct: () => createEverythingWithSessions(),
    relayed: () => passing({ file: "everything-upstream.ts", speaks: "auto" }),
  },
  /** An upstream that is legacy, through the agent: the commonest mix once clients are modern. */
  "passed-legacy": { direct: null, relayed: () => passing(everything("legacy")) },
} as const satisfies Record<string, { direct: (() => StartedSubject) | null; relayed: () => StartedSubject }>;
export type Subject = keyof typeof SUBJECTS;

function inBothWays(start: () => StartedSubject) {
  return { direct: start, relayed: start };
}

function passing(upstream: UpstreamFixture): StartedSubject {
  return surfaceUnderTest({}, { passage: passageUnderTest({ everything: upstream }) }).surface;
}

/** Over the agent's own loopback port. */
export const startDirect: StartTarget = async (handler) => {
  const token = randomBytes(16).toString("hex");
  const sha256 = createHash("sha256").update(token).digest("hex");
  const server = await createLocalHttp({ handler, host: "127.0.0.1", port: 0, tokenSha256s: [sha256] });
  return { url: server.url, token, close: () => server.close() };
};

const RELAYED = new URL("../support/relayed-target.ts", import.meta.url);

/** @throws when there is no relayed target to start */
export const startRelayed: StartTarget = async (handler) => {
  if (!existsSync(RELAYED)) throw new Error("test/support/relayed-target.ts is missing: run with --only=direct");
  const module = (await import(RELAYED.href)) as { startRelayed: StartTarget };
  return module.startRelayed(handler);
};

const AGENT_TOOLS: Readonly<Record<string, ToolScript>> = {
  test_simple_text: () => text("This is a simple text response for testing."),
  test_image_content: () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }], isError: false }),
  test_error_handling: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  /** Slower than the surface's throttle, so that each line is a report of its own. */
  async test_tool_with_progress(call) {
    for (const line of ["one", "two", "three"]) {
      call.onProgress({ delta: `${line}\n` });
      await pause(300);
    }
    return text("done");
  },
};
