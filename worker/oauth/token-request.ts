/** What a client sends to `/token` and `/revoke`, read once, and as the provider will read it: what is counted, looked up and waited for here is then what it acts on. */
import { err, ok, type Result } from "../../shared/result.ts";
import type { BodyReader } from "../workspace/request-body.ts";
import { basicClient, basicSecret, encodedBasic } from "./basic-credentials.ts";
import { readText } from "./body.ts";
import type { ConfiguredClient } from "./configured-client.ts";
import type { Counters } from "./counters.ts";
import { sha256Hex } from "./digest.ts";
import { methodNotAllowed, oauthError } from "./metadata.ts";
import { isDocumentClient, readGrant, type Providers } from "./provider.ts";
import { visitorOf } from "./visitor.ts";

const MAX_BYTES = 16 * 1024;
const HOUR_MS = 60 * 60_000;
/** Of one client from one address. A client refreshes twice a day, and some of them several times at once. */
const PER_HOUR = 600;

export interface TokenRequest {
  readonly form: URLSearchParams;
  /** The header, with Basic credentials encoded. */
  readonly authorization: string | null;
  readonly clientId: string;
  /** Who asks, as far as the edge knows: the key of limits. */
  readonly source: string;
}

export async function readTokenRequest(request: Request, bodies: BodyReader, configured: ConfiguredClient): Promise<Result<TokenRequest, Response>> {
  const read = await readForm(request, bodies);
  if (!read.ok) return read;
  const form = withoutEmpty(read.value);
  const repeated = repeatedIn(form);
  if (repeated !== undefined) return err(oauthError(400, "invalid_request", `A parameter${repeated} was sent twice.`));
  if (form.has("client_assertion") || form.has("client_assertion_type")) {
    return err(oauthError(401, "invalid_client", "Clients prove themselves here with a secret, or are public."));
  }
  const authorization = await encodedBasic(request.headers.get("authorization"), configured);
  const basicId = basicClient(authorization);
  // The id beside Basic credentials is no second proof; several products send it.
  if (basicId !== "" && form.get("client_id") === basicId) form.delete("client_id");
  return ok({ form, authorization, clientId: form.get("client_id") ?? basicId, source: visitorOf(request).source });
}

/**
 * Whether the provider may look the client up. For a client named by an address that means a fetch, so a stranger could
 * use us to send requests: it must name the client of an existing grant.
 */
export async function mayLookUp({ kv }: Providers, { clientId }: TokenRequest, grantId: string | undefined): Promise<boolean> {
  if (!isDocumentClient(clientId)) return true;
  return grantId !== undefined && (await readGrant(kv, grantId))?.clientId === clientId;
}

/**
 * Counts a request that may be looked up; `undefined` if it is within its limit. Every known client for itself and from each address apart: a
 * secret that a person chose could be guessed, and one that asks without end must not keep the others from their tokens. Who has the
 * configured secret is not counted, or strangers could use up its share.
 */
export async function refuseExcess(
  { form, authorization, clientId, source }: TokenRequest,
  { providers, configured, counters }: { readonly providers: Providers; readonly configured: ConfiguredClient; readonly counters: Counters },
): Promise<Response | undefined> {
  const secret = form.get("client_secret") ?? basicSecret(authorization);
  if (secret !== "" && configured.isPair(clientId, await sha256Hex(secret))) return undefined;
  const isKnown = isDocumentClient(clientId) || (await providers.isStored(clientId));
  if (counters.take([[`token:${source}${isKnown ? ` ${clientId}` : ""}`, PER_HOUR]], HOUR_MS)) return undefined;
  return oauthError(429, "temporarily_unavailable", `At most ${PER_HOUR} requests an hour of one client from one address.`, {
    "retry-after": "3600",
  });
}

async function readForm(request: Request, bodies: BodyReader): Promise<Result<URLSearchParams, Response>> {
  if (request.method !== "POST") return err(methodNotAllowed("POST, OPTIONS"));
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    return err(oauthError(400, "invalid_request", "Content-Type must be application/x-www-form-urlencoded."));
  }
  const body = await readText(bodies, request, MAX_BYTES, () => oauthError(400, "invalid_request", `The body is at most ${MAX_BYTES} bytes long.`));
  return body.ok ? ok(new URLSearchParams(body.value)) : body;
}

const OF_THE_CLIENT: ReadonlySet<string> = new Set(["client_id", "client_secret", "client_assertion", "client_assertion_type"]);

/** Empty is not sent, where the client is concerned. */
function withoutEmpty(form: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...form].filter(([name, value]) => value !== "" || !OF_THE_CLIENT.has(name)));
}

/** Only names of a parameter's shape are said back. */
function repeatedIn(form: URLSearchParams): string | undefined {
  const names = [...form.keys()];
  const repeated = names.find((name, at) => name !== "resource" && names.indexOf(name) !== at);
  if (repeated === undefined) return undefined;
  return /^[a-z_]{1,30}$/.test(repeated) ? ` (${repeated})` : "";
}
