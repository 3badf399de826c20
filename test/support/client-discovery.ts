/** How a played client finds the issuer: 401, resource metadata, issuer's metadata, and what it refuses to go on with. */
import * as v from "valibot";
import type { Discovery } from "../fixtures/clients/profile.ts";
import { post } from "./mcp-post.ts";

const ResourceMetadata = v.object({
  resource: v.string(),
  authorization_servers: v.pipe(v.array(v.string()), v.minLength(1)),
  scopes_supported: v.optional(v.array(v.string()), []),
});
const ServerMetadata = v.object({
  issuer: v.string(),
  authorization_endpoint: v.string(),
  token_endpoint: v.string(),
  registration_endpoint: v.optional(v.string()),
  scopes_supported: v.optional(v.array(v.string()), []),
  code_challenge_methods_supported: v.optional(v.array(v.string()), []),
  token_endpoint_auth_methods_supported: v.optional(v.array(v.string()), ["client_secret_basic"]),
  client_id_metadata_document_supported: v.optional(v.boolean(), false),
  authorization_response_iss_parameter_supported: v.optional(v.boolean(), false),
});
export type ServerMetadata = v.InferOutput<typeof ServerMetadata>;

export interface Found {
  /** As it was typed. */
  readonly url: string;
  readonly challengeScope: string | undefined;
  readonly resource: v.InferOutput<typeof ResourceMetadata>;
  readonly server: ServerMetadata;
}

/** Throws a sentence that says what the client misses. */
export async function discover(habits: Discovery, url: string, via: typeof fetch): Promise<Found> {
  const challenge = await challengeOf(url, via);
  const resource = v.parse(
    ResourceMetadata,
    await firstOf(
      habits.looksAt.map((where) => metadataAddress(where, url, challenge)),
      via,
    ),
  );
  if (!isSameResource(habits.resource, resource.resource, url)) {
    throw new Error(`the metadata is about ${resource.resource}, and the person typed ${url}`);
  }
  const issuer = resource.authorization_servers[0] ?? "";
  const server = v.parse(
    ServerMetadata,
    await firstOf(
      habits.serverDocuments.map((name) => wellKnown(name, issuer)),
      via,
    ),
  );
  if (habits.issuer === "byte for byte" && server.issuer !== issuer)
    throw new Error(`the issuer calls itself ${server.issuer}, expected was ${issuer}`);
  const endpoints = habits.endpoints === "by name" ? endpointsByName(issuer) : {};
  return { url, challengeScope: parameterOf(challenge, "scope"), resource, server: { ...server, ...endpoints } };
}

async function challengeOf(url: string, via: typeof fetch): Promise<string> {
  const answer = await post(url, { jsonrpc: "2.0", id: 0, method: "ping" }, { token: null, via });
  await answer.body?.cancel();
  const challenge = answer.headers.get("www-authenticate") ?? "";
  if (answer.status !== 401 || !/^bearer /i.test(challenge)) throw new Error(`a stranger is answered ${answer.status} ${challenge}`);
  return challenge;
}

function parameterOf(challenge: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(challenge)?.[1];
}

function metadataAddress(where: Discovery["looksAt"][number], url: string, challenge: string): string {
  const name = "oauth-protected-resource";
  if (where !== "challenge") return wellKnown(name, where === "root" ? new URL(url).origin : url);
  // Without a base: it has to be absolute.
  return new URL(parameterOf(challenge, "resource_metadata") ?? "").href;
}

/** Between the host and the path of what it describes (RFC 8414 §3.1, RFC 9728 §3.1). */
function wellKnown(name: string, of: string): string {
  const { origin, pathname } = new URL(of);
  return `${origin}/.well-known/${name}${pathname === "/" ? "" : pathname}`;
}

async function firstOf(addresses: readonly string[], via: typeof fetch): Promise<unknown> {
  const refusals: string[] = [];
  for (const address of addresses) {
    const answer = await via(address, { headers: { accept: "application/json" }, redirect: "manual" });
    if (answer.status === 200) return answer.json();
    refusals.push(`${address} is ${answer.status}`);
    await answer.body?.cancel();
  }
  throw new Error(`no metadata: ${refusals.join(", ")}`);
}

function isSameResource(how: Discovery["resource"], told: string, typed: string): boolean {
  switch (how) {
    case "byte for byte":
      return told === typed;
    case "but for a slash":
      return told.replace(/\/+$/, "") === typed.replace(/\/+$/, "");
    case "as a prefix":
      return new URL(told).origin === new URL(typed).origin && new URL(typed).pathname.startsWith(new URL(told).pathname);
    case "not at all":
      return true;
  }
}

function endpointsByName(issuer: string): Pick<ServerMetadata, "authorization_endpoint" | "token_endpoint" | "registration_endpoint"> {
  const at = (path: string): string => new URL(path, issuer).href;
  return { authorization_endpoint: at("/authorize"), token_endpoint: at("/token"), registration_endpoint: at("/register") };
}
