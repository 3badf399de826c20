/** The path table: the only place that knows which URLs exist. Decides nothing else. */

export type Route = "landing" | "health" | "agent" | "mcp" | "oauth" | "unknown";

const OAUTH_PATHS: ReadonlySet<string> = new Set([
  "/register",
  "/authorize",
  "/authorize/wait",
  "/token",
  "/revoke",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/mcp",
  "/.well-known/openid-configuration",
  "/.well-known/openid-configuration/mcp",
  "/mcp/.well-known/openid-configuration",
]);

export function routeOf(path: string): Route {
  switch (path) {
    case "/":
      return "landing";
    case "/healthz":
      return "health";
    case "/agent":
      return "agent";
    case "/mcp":
      return "mcp";
    default:
      return OAUTH_PATHS.has(path) ? "oauth" : "unknown";
  }
}
