/** Who a request of an upstream is made for, and what that client said it can do. */
import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, type LoggingLevel, type Server, type ServerContext } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../../shared/json.ts";
import type { Principal } from "../../../shared/principal.ts";
import type { Era } from "../protocol-server.ts";
import type { AskableCapabilities } from "./passage.ts";
import type { Session } from "./sessions.ts";
import type { LinkUse } from "./upstream-link.ts";

export interface Caller {
  readonly principal: Principal;
  /** `Connections.age` when its request began: whose access was taken back since gets no connection. */
  readonly since: number;
  /** Of the legacy session or the stdio connection; empty: none. What one place asks and is told stays there. */
  readonly place: string;
  readonly era: Era;
  readonly capabilities: AskableCapabilities;
  /** From which level on the client wants to hear an upstream's log; null: not at all. */
  readonly logLevel: LoggingLevel | null;
  /** How an upstream's question reaches the client while the present request runs; absent for a client that has to come back with answers. */
  readonly ask?: (upstream: string) => NonNullable<LinkUse["onQuestion"]>;
}

/** What a legacy client hears that never set a level. */
const DEFAULT_LEVEL: LoggingLevel = "info";

export interface CallerPlace {
  readonly era: Era;
  readonly principal: Principal;
  readonly since: number;
  /** Legacy over HTTP: null for a client without one. */
  readonly session: Session | null;
  /** Of a connection that lives longer than a request (stdio); empty otherwise. */
  readonly connection: string;
}

export function callerOf(place: CallerPlace, server: Server, context: ServerContext): Caller {
  const { era, principal, since, session } = place;
  if (era === "modern") {
    const envelope: Readonly<Record<string, unknown>> = { ...context.mcpReq.envelope };
    const logLevel = envelope[LOG_LEVEL_META_KEY];
    return {
      principal,
      since,
      place: place.connection,
      era,
      capabilities: askable(envelope[CLIENT_CAPABILITIES_META_KEY]),
      logLevel: typeof logLevel === "string" ? (logLevel as LoggingLevel) : null,
    };
  }
  return {
    principal,
    since,
    place: session?.key ?? place.connection,
    era,
    // Over HTTP without a session a question would find nobody.
    capabilities: session?.capabilities ?? (place.connection === "" ? {} : askable(server.getClientCapabilities())),
    logLevel: session?.logLevel ?? DEFAULT_LEVEL,
  };
}

/** The part that upstreams are told of, in a form that is the same for equal declarations. */
export function askable(declared: unknown): AskableCapabilities {
  if (!isJsonObject(declared)) return {};
  const { elicitation, sampling, roots } = declared;
  return {
    ...(isJsonObject(elicitation) && { elicitation: elicitationModes(elicitation) }),
    ...(isJsonObject(sampling) && { sampling: flags(sampling, ["context", "tools"]) }),
    ...(isJsonObject(roots) && { roots: {} }),
  };
}

/** An empty declaration means forms (MCP 2025-11-25 client/elicitation "Capabilities"). */
function elicitationModes(declared: Readonly<Record<string, unknown>>): Record<string, Record<string, never>> {
  const modes = flags(declared, ["form", "url"]);
  return Object.keys(modes).length === 0 ? { form: {} } : modes;
}

function flags(declared: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, Record<string, never>> {
  return Object.fromEntries(names.filter((name) => isJsonObject(declared[name])).map((name) => [name, {}]));
}
