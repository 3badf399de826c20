/** The OAuth provider as this issuer runs it: one per issuer, all over one store. Pinned, so its record format may be relied on. */
import { OAuthAuthorizationServer, type OAuthHelpers } from "@cloudflare/workers-oauth-provider";
import { isJsonObject, parseJson, type JsonObject } from "../../shared/json.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import type { SqlKv } from "./sql-kv.ts";

/** The one scope. Everything a client asks for is narrowed to it. */
export const SCOPE = "mcp";
/** Readable in every token, hence neutral. There is one owner per workspace. */
export const OWNER = "owner";
/** Long enough for clients that do not refresh inside a conversation; revocation is immediate anyway. */
const ACCESS_TOKEN_SECONDS = 12 * 60 * 60;
/** Renewed by every refresh. */
const REFRESH_TOKEN_SECONDS = 30 * 24 * 60 * 60;

/** What a token carries, encrypted under the token. */
export interface TokenProps {
  readonly clientName: string;
}

export interface ValidToken {
  readonly scope: readonly string[];
  readonly props: TokenProps;
}

interface ProviderEnv {
  readonly OAUTH_KV: SqlKv;
}

export interface Providers {
  readonly kv: SqlKv;
  /**
   * Built on first use and kept: the provider fixes issuer and resource at construction. `candidate`: an address the client that was
   * configured by hand may return to beside those it is known to.
   */
  helpers(issuer: string, candidate?: string): OAuthHelpers;
  fetch(request: Request, issuer: string): Promise<Response>;
  /** Whether this is a client of ours: registered, or configured by hand; not one that is named by a document. */
  isStored(clientId: string): Promise<boolean>;
  /** Scope, properties and client of a live access token for this issuer's `/mcp`; `null` for anything else. */
  validate(token: string, issuer: string): Promise<ValidToken | null>;
}

export interface ProvidersOptions {
  readonly kv: SqlKv;
  readonly configured: Pick<ConfiguredClient, "over">;
  /** Passed to the provider. */
  readonly env: unknown;
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

export function createProviders({ kv, configured, env, waitUntil }: ProvidersOptions): Providers {
  const servers = new Map<string, OAuthAuthorizationServer<ProviderEnv>>();
  const envWith = (candidate?: string): ProviderEnv => ({ ...(typeof env === "object" ? env : {}), OAUTH_KV: configured.over(kv, candidate) });
  const providerEnv = envWith();
  // The provider uses nothing else of an execution context.
  const context = { waitUntil, passThroughOnException: () => {}, props: {} } as unknown as ExecutionContext;
  const server = (issuer: string): OAuthAuthorizationServer<ProviderEnv> => {
    const known = servers.get(issuer);
    if (known !== undefined) return known;
    const built = buildServer(issuer);
    servers.set(issuer, built);
    return built;
  };
  return {
    kv,
    helpers: (issuer, candidate) => server(issuer).getOAuthApi(candidate === undefined ? providerEnv : envWith(candidate)),
    fetch: (request, issuer) => server(issuer).fetch(request, providerEnv, context),
    isStored: async (clientId) => (await providerEnv.OAUTH_KV.get(`client:${clientId}`)) !== null,
    validate: async (token, issuer) => server(issuer).validateToken(resourceOf(issuer), token, providerEnv),
  };
}

/** The protected resource of an issuer: exactly what people paste into their client. */
export function resourceOf(issuer: string): string {
  return `${issuer}/mcp`;
}

/**
 * Spells `resource` (RFC 8707) as the provider knows it. Real clients name the issuer, with or without a slash, although
 * the metadata says `/mcp`. Anything else stays as it is, for the provider to refuse. Returns whether all are ours.
 */
export function normalizeResource(parameters: URLSearchParams, issuer: string): boolean {
  const ours = new Set([issuer, `${issuer}/`, resourceOf(issuer)]);
  const asked = parameters.getAll("resource");
  parameters.delete("resource");
  for (const resource of new Set(asked.map((value) => (ours.has(value) ? resourceOf(issuer) : value)))) parameters.append("resource", resource);
  return asked.every((value) => ours.has(value));
}

/** A grant's record as the provider stores it; only the members used here. */
export async function readGrant(kv: SqlKv, grantId: string): Promise<{ readonly clientId: string; readonly redirectUri: string } | undefined> {
  const record = await kv.get(`grant:${OWNER}:${grantId}`, "json");
  if (!isJsonObject(record)) return undefined;
  return { clientId: text(record, "clientId"), redirectUri: text(record, "redirectUri") };
}

/**
 * The id written in a code or token of ours (`owner:<grant>:<secret>`). It proves nothing: anyone may write one. Use it
 * to look up, never to decide.
 */
export function grantIdIn(token: string): string | undefined {
  const [owner, grantId, secret, ...rest] = token.split(":");
  return owner === OWNER && grantId !== undefined && grantId !== "" && secret !== undefined && rest.length === 0 ? grantId : undefined;
}

/** A client that is named by the address of its metadata document, which the provider fetches at every use. */
export function isDocumentClient(clientId: string): boolean {
  return URL.canParse(clientId) && new URL(clientId).protocol === "https:"; // As the provider decides it.
}

export async function readJsonBody(response: Response): Promise<JsonObject> {
  const value = parseJson(await response.text());
  return isJsonObject(value) ? value : {};
}

function buildServer(issuer: string): OAuthAuthorizationServer<ProviderEnv> {
  return new OAuthAuthorizationServer<ProviderEnv>({
    issuer,
    resources: [resourceOf(issuer)],
    authorizeEndpoint: `${issuer}/authorize`,
    tokenEndpoint: `${issuer}/token`,
    clientRegistrationEndpoint: `${issuer}/register`,
    scopesSupported: [SCOPE, "offline_access"],
    accessTokenTTL: ACCESS_TOKEN_SECONDS,
    refreshTokenTTL: REFRESH_TOKEN_SECONDS,
    refreshTokenIdleTTL: REFRESH_TOKEN_SECONDS,
    allowPrivateUseRedirectUris: true, // Which of them: redirects.ts.
    clientIdMetadataDocumentEnabled: true,
    onError: () => {}, // Its default prints descriptions that quote the request.
  });
}

function text(record: JsonObject, member: string): string {
  const value = record[member];
  return typeof value === "string" ? value : "";
}
