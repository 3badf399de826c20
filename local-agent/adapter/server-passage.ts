/** A server passed through as it is: connections of their own, under the same trust, filters and approvals as every other call. */
import type { JsonObject } from "../../shared/json.ts";
import { err, type Result } from "../../shared/result.ts";
import type { Approvals } from "./call/approval.ts";
import type { CatalogView } from "./catalog-view.ts";
import { displayedName } from "./catalog/names.ts";
import type { CatalogEntry } from "./catalog/upstream-catalog.ts";
import type { AdapterPorts, Caller } from "./ports.ts";
import type { OpenOptions, UpstreamConnection } from "./upstream/connection.ts";
import { trustSubject } from "./upstream/trust.ts";
import type { UpstreamPool } from "./upstream/upstream-pool.ts";

interface PassedToolCall {
  readonly callId: string;
  readonly server: string;
  readonly original: string;
  readonly displayed: string;
  /** Of a resource that is read, no tool being called. */
  readonly uri?: string;
  /** Exactly what is sent if it is allowed. */
  readonly args: JsonObject;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

export interface ServerPassage {
  /** Never rejects; the error is a sentence for the client. The connection belongs to whoever asked for it. */
  open(
    server: string,
    options: Pick<OpenOptions, "capabilities" | "prepare" | "signal">,
  ): Promise<Result<UpstreamConnection, { readonly message: string }>>;
  /** Whether `includeTools` and `excludeTools` let it be offered. */
  admits(server: string, tool: string): boolean;
  displayed(server: string, original: string): string;
  /** As for a call through `mcp`. Never rejects. */
  approve(call: PassedToolCall): Promise<Result<void, { readonly message: string }>>;
}

export interface ServerPassageParts {
  readonly pool: UpstreamPool;
  readonly view: CatalogView;
  readonly approvals: Approvals;
  readonly ports: Pick<AdapterPorts, "transports" | "log" | "trust">;
}

export function createServerPassage({ pool, view, approvals, ports }: ServerPassageParts): ServerPassage {
  const displayed = (server: string, original: string): string => displayedName(original, server, pool.definition(server)?.toolPrefix ?? "server");
  return {
    async open(server, options) {
      const definition = pool.definition(server);
      const state = pool.state(server);
      if (definition === null || state.at === "invalid") return err({ message: `The MCP server "${server}" is not usable as it is configured.` });
      if (state.at === "disabled") return err({ message: `The MCP server "${server}" is disabled.` });
      const subject = trustSubject(definition);
      if (subject !== null && !(await ports.trust.ask(subject, options.signal))) {
        return err({ message: `The person has not allowed the MCP server "${server}" of this project to run.` });
      }
      const { openConnection } = await import("./upstream/connection.ts");
      return openConnection(definition, ports, options);
    },
    admits(server, original) {
      const definition = pool.definition(server);
      if (definition === null) return false;
      const { selectors } = view.all();
      const tool = { server, original };
      const isIncluded = definition.includeTools === null || selectors.matches(tool, definition.includeTools);
      return isIncluded && !selectors.guards(tool, definition.excludeTools);
    },
    displayed,
    async approve({ server, original, uri = null, args, caller, callId, signal, displayed: shown }) {
      const means = (entry: CatalogEntry): boolean =>
        uri === null ? entry.kind === "tool" && entry.original === original : entry.resourceUri === uri;
      const known = view.all().entries.find((entry) => entry.server === server && means(entry));
      const entry = { ...(known ?? unlisted(server, original, uri)), displayed: shown };
      const allowed = await approvals.ask({ entry, args, origin: "direct", caller, callId, signal });
      return allowed.ok ? allowed : err({ message: allowed.error.message });
    },
  };
}

/** A tool that was not listed over the adapter's own connection yet; what is allowed for it is bound to just that. */
function unlisted(server: string, original: string, uri: string | null): CatalogEntry {
  return {
    server,
    original,
    displayed: original,
    kind: uri === null ? "tool" : "resource",
    resourceUri: uri,
    title: null,
    description: "",
    inputSchema: { type: "object" },
    outputSchema: null,
    annotations: null,
    keywords: [],
    freshness: "stale",
  };
}
