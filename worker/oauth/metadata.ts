/** The discovery documents (RFC 9728, RFC 8414) and the CORS rule that all public OAuth endpoints share. */
import type { JsonObject } from "../../shared/json.ts";
import { jsonAnswer } from "../respond.ts";
import { readJsonBody, resourceOf, SCOPE, type Providers } from "./provider.ts";

/** Paths are those of the default workspace; `routes.ts` knows where the others' lie. */
export const RESOURCE_METADATA_PATHS: ReadonlySet<string> = new Set([
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-protected-resource", // Clients that try only the issuer's.
]);

/** One document under every name clients ask for: RFC 8414, OpenID Connect's alias, and both with the resource's path. */
export const SERVER_METADATA_PATHS: ReadonlySet<string> = new Set([
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server/mcp",
  "/.well-known/openid-configuration/mcp",
  "/mcp/.well-known/openid-configuration",
]);

/** Without `private_key_jwt`, which the provider would take: an answer that is remembered could not be held to a new assertion. */
const CLIENT_AUTHENTICATION = ["client_secret_basic", "client_secret_post", "none"];

export function resourceMetadataUrl(issuer: string): string {
  return wellKnown("oauth-protected-resource", resourceOf(issuer));
}

/** The name goes between the host and the path of what the document is about (RFC 8414 §3.1, RFC 9728 §3.1). */
function wellKnown(name: string, about: string): string {
  const { origin, pathname } = new URL(about);
  return `${origin}/.well-known/${name}${pathname === "/" ? "" : pathname}`;
}

export function resourceMetadata(issuer: string): JsonObject {
  return {
    resource: resourceOf(issuer),
    authorization_servers: [issuer],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ["header"],
    resource_name: "pi-relay",
  };
}

/** The provider's own document, with the revocation endpoint where this issuer serves it. */
export async function serverMetadata(providers: Providers, issuer: string): Promise<JsonObject> {
  const document = await readJsonBody(await providers.fetch(new Request(wellKnown("oauth-authorization-server", issuer)), issuer));
  const { token_endpoint_auth_signing_alg_values_supported: _, revocation_endpoint_auth_signing_alg_values_supported: __, ...ours } = document;
  return {
    ...ours,
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint: `${issuer}/revoke`,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
  };
}

/** Answers GET and HEAD with the document, anything else with 405. */
export async function serveDocument(request: Request, document: () => JsonObject | Promise<JsonObject>): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET, HEAD, OPTIONS");
  const answer = jsonAnswer(200, await document());
  return request.method === "HEAD" ? new Response(null, answer) : answer;
}

export function methodNotAllowed(allow: string): Response {
  return oauthError(405, "invalid_request", `Use ${allow.replace(", OPTIONS", "")} here.`, { allow });
}

/** An OAuth error as JSON (RFC 6749 §5.2, RFC 7591 §3.2.2). The description is written for whoever debugs the client. */
export function oauthError(status: number, error: string, description: string, headers: Record<string, string> = {}): Response {
  return jsonAnswer(status, { error, error_description: description }, headers);
}

/**
 * Any web origin may read these answers: no cookie or other ambient credential plays a part in them, and browser-based
 * clients need them. `*` also keeps browsers from ever sending credentials along.
 */
export function withCors(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", "WWW-Authenticate, Retry-After");
  headers.set("cache-control", "no-store");
  headers.set("x-content-type-options", "nosniff");
  return new Response(response.body, { status: response.status, headers });
}

export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
      "access-control-allow-headers": "Authorization, Content-Type, Accept, MCP-Protocol-Version",
      "access-control-max-age": "86400",
      "cache-control": "no-store",
    },
  });
}
