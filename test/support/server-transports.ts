/** Transports of server definitions as the configuration makes them, with what a test is about. */
import type { HttpServer, StdioServer } from "../../local-agent/adapter/config/server-definition.ts";

export function stdioServer(command: string, args: readonly string[], more: Partial<StdioServer> = {}): StdioServer {
  return { kind: "stdio", command, args, env: {}, cwd: null, inheritEnv: true, plugin: null, ...more };
}

export function httpServer(url: string, more: Partial<HttpServer> = {}): HttpServer {
  return {
    kind: "http",
    url,
    speaks: "any",
    headers: {},
    auth: "unset",
    bearerToken: null,
    bearerTokenEnv: null,
    bearerTokenStore: false,
    requestHeadersCommand: null,
    caFile: null,
    oauth: null,
    literal: false,
    ...more,
  };
}
