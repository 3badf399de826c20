/** The path table: the only place that knows which URLs exist, and in which workspace each one lies. Decides nothing else. */
import { isWorkspaceName } from "../shared/workspace.ts";

type Route = "landing" | "health" | "agent" | "mcp" | "oauth" | "unknown" | "misnamed";

export interface Location {
  /** `null` is the default workspace, and what belongs to none. */
  readonly workspace: string | null;
  readonly route: Route;
  /** The path as it would be in the default workspace: `/mcp` for `/w/<name>/mcp`. */
  readonly path: string;
}

const ENDPOINTS: ReadonlySet<string> = new Set([
  "/register",
  "/authorize",
  "/authorize/wait",
  "/token",
  "/revoke",
  "/.well-known/openid-configuration",
  "/mcp/.well-known/openid-configuration",
]);

/** Documents whose name goes between the host and the path of what they describe (RFC 8414 §3.1, RFC 9728 §3.1). */
const DOCUMENTS = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

/** `path` is a parsed URL's: dots are resolved, percent signs are not, so a name has one spelling. */
export function locate(path: string): Location {
  const document = DOCUMENTS.find((each) => path === each || path.startsWith(`${each}/`)) ?? "";
  const rest = path.slice(document.length);
  const parts = /^\/w\/([^/]*)(.*)$/.exec(rest);
  if (parts === null) return { workspace: null, route: rootRoute(path) ?? routeOf(document, rest), path };
  const [, name = "", behind = ""] = parts;
  if (!isWorkspaceName(name)) return { workspace: null, route: "misnamed", path };
  return { workspace: name, route: routeOf(document, behind), path: document + behind };
}

function rootRoute(path: string): Route | undefined {
  if (path === "/") return "landing";
  return path === "/healthz" ? "health" : undefined;
}

function routeOf(document: string, path: string): Route {
  if (document !== "") return path === "" || path === "/mcp" ? "oauth" : "unknown";
  if (path === "/mcp") return "mcp";
  if (path === "/agent") return "agent";
  return ENDPOINTS.has(path) ? "oauth" : "unknown";
}
