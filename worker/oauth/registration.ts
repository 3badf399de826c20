/** Dynamic client registration (RFC 7591): open to strangers, hence bounded in rate, size and number. */
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from "../../shared/json.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { BodyReader } from "../workspace/request-body.ts";
import { readText } from "./body.ts";
import type { Counters, Limit } from "./counters.ts";
import { placesToFree } from "./fair-places.ts";
import { methodNotAllowed, oauthError } from "./metadata.ts";
import { readJsonBody, type Providers } from "./provider.ts";
import { judgeRedirect, type RedirectVerdict } from "./redirects.ts";
import { isUnknown, sourceOfPage, visitorOf } from "./visitor.ts";

const HOUR_MS = 60 * 60_000;
/** Per source and hour. A client registers once per connection; Cursor and others do at every retry. */
const PER_HOUR = 30;
/** Of all web pages of one source together: whoever is no browser may write any `Origin`, a new one each time. */
const PER_HOUR_OF_PAGES = 120;
/** Registered and never allowed. The oldest of the fullest network's gives way: refusing would let strangers lock clients out. */
const MAX_UNUSED = 200;
const UNUSED_LIFE_MS = 24 * HOUR_MS;
/** A real registration is below 4 kB. */
const MAX_BYTES = 64 * 1024;
const MAX_REDIRECTS = 20;
/** Together. They are what a registration leaves in the store. */
const MAX_REDIRECTS_LENGTH = 8_000;
/** What is passed on and stored. Logos and policies are not shown to anyone, so they are not kept. */
const KEPT = ["client_name", "redirect_uris", "token_endpoint_auth_method", "token_endpoint_auth_methods_supported", "grant_types", "response_types"];

export interface Registration {
  fetch(request: Request, issuer: string): Promise<Response>;
  /** The client got a grant: it stays as long as it is used. */
  markUsed(clientId: string): void;
  /** Deletes what was never used. Returns when the next one is due, or `undefined`. */
  sweep(now: number): number | undefined;
}

export interface RegistrationOptions {
  readonly providers: Providers;
  readonly sql: SqlStorage;
  readonly counters: Counters;
  readonly bodies: BodyReader;
  readonly now: () => number;
}

export function createRegistration({ providers, sql, counters, bodies, now }: RegistrationOptions): Registration {
  return {
    async fetch(request, issuer) {
      if (request.method !== "POST") return methodNotAllowed("POST, OPTIONS");
      const page = request.headers.get("origin");
      const { source: address } = visitorOf(request);
      const source = page === null ? address : sourceOfPage(address, page);
      if (!isUnknown(address) && !counters.take(limitsOf(address, source), HOUR_MS)) return tooMany();
      const body = await readText(bodies, request, MAX_BYTES, () =>
        oauthError(413, "invalid_client_metadata", `A registration is at most ${MAX_BYTES} bytes long.`),
      );
      if (!body.ok) return body.error;
      const asked = acceptMetadata(parseJson(body.value));
      if (!asked.ok) return asked.error;
      const answer = await providers.fetch(postJson(`${issuer}/register`, asked.value.metadata), issuer);
      if (!answer.ok) return answer;
      const registered = answerOf(await readJsonBody(answer), asked.value.applicationType);
      const clientId = registered["client_id"];
      if (typeof clientId === "string") await remember(providers, sql, { clientId, source, now: now() });
      return new Response(JSON.stringify(registered), { status: answer.status, headers: answer.headers });
    },
    markUsed(clientId) {
      sql.exec("DELETE FROM unused_clients WHERE client_id = ?", clientId);
    },
    sweep(now) {
      for (const { client_id } of sql.exec<{ client_id: string }>(
        "SELECT client_id FROM unused_clients WHERE registered_at <= ?",
        now - UNUSED_LIFE_MS,
      )) {
        sql.exec("DELETE FROM oauth_kv WHERE key = ?", `client:${client_id}`);
      }
      sql.exec("DELETE FROM unused_clients WHERE registered_at <= ?", now - UNUSED_LIFE_MS);
      const { first } = sql.exec<{ first: number | null }>("SELECT min(registered_at) AS first FROM unused_clients").one();
      return first === null ? undefined : first + UNUSED_LIFE_MS;
    },
  };
}

/** A page registers from its visitor's address (browsers always send its `Origin`), and must not use up the share of programs there. */
function limitsOf(address: string, source: string): readonly Limit[] {
  const own: Limit = [`register:${source}`, PER_HOUR];
  return source === address ? [own] : [own, [`register:${address} pages`, PER_HOUR_OF_PAGES]];
}

interface Asked {
  readonly metadata: JsonObject;
  readonly applicationType: JsonValue | undefined;
}

/** The part of a stranger's metadata that is passed on, or the refusal. */
function acceptMetadata(value: JsonValue | undefined): Result<Asked, Response> {
  if (!isJsonObject(value)) return err(oauthError(400, "invalid_client_metadata", "The body must be a JSON object (RFC 7591 §3.1)."));
  const uris = value["redirect_uris"];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS || !uris.every((uri) => typeof uri === "string")) {
    return err(oauthError(400, "invalid_redirect_uri", `"redirect_uris" must list 1 to ${MAX_REDIRECTS} addresses.`));
  }
  if (uris.join("").length > MAX_REDIRECTS_LENGTH) {
    return err(oauthError(400, "invalid_redirect_uri", `"redirect_uris" may have ${MAX_REDIRECTS_LENGTH} characters in all.`));
  }
  // OpenID Connect Registration §2. It says "web" where nothing is said; MCP clients on loopback say nothing.
  const applicationType = value["application_type"] ?? undefined;
  if (applicationType !== undefined && applicationType !== "native" && applicationType !== "web") {
    return err(oauthError(400, "invalid_client_metadata", '"application_type" must be "native" or "web".'));
  }
  const usable = acceptRedirects(uris, applicationType === "web");
  return usable.ok ? ok({ metadata: { ...keptOf(value), redirect_uris: usable.value }, applicationType }) : usable;
}

function keptOf(value: JsonObject): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const member of KEPT) if (Object.hasOwn(value, member)) kept[member] = value[member] ?? null;
  if (typeof kept["client_name"] === "string") kept["client_name"] = kept["client_name"].slice(0, 200);
  // A client may list flows we do not offer beside the one we do (RFC 7591 §2 lets the server choose).
  kept["grant_types"] = offered(kept["grant_types"], ["authorization_code", "refresh_token"]);
  kept["response_types"] = offered(kept["response_types"], ["code"]);
  return kept;
}

/** RFC 7591 §3.2.1: what was registered. A secret lasts as long as its client, which its use keeps alive. */
function answerOf(registered: JsonObject, applicationType: JsonValue | undefined): JsonObject {
  return {
    ...registered,
    ...(applicationType !== undefined && { application_type: applicationType }),
    ...("client_secret" in registered && { client_secret_expires_at: 0 }),
  };
}

/** One dangerous address refuses the registration; an app's private scheme is only dropped (Cursor lists one beside two usable). */
function acceptRedirects(uris: readonly string[], isWeb: boolean): Result<readonly string[], Response> {
  const judged = uris.map((uri) => ({ uri, judgement: isWeb ? judgeWebRedirect(uri) : judgeRedirect(uri) }));
  const usable = judged.filter(({ judgement }) => judgement.verdict === "usable").map(({ uri }) => uri);
  for (const { judgement } of judged) {
    if (judgement.verdict === "usable" || (judgement.verdict === "unusable" && usable.length > 0)) continue;
    return err(oauthError(400, "invalid_redirect_uri", `A redirect address ${judgement.reason}.`));
  }
  return ok(usable);
}

/** The code of a web application goes to its server alone. */
function judgeWebRedirect(uri: string): RedirectVerdict {
  const judgement = judgeRedirect(uri);
  const isOther = judgement.verdict === "usable" && !/^https:/i.test(uri);
  return isOther ? { verdict: "unusable", reason: 'must use https, as "application_type" is "web"' } : judgement;
}

function offered(asked: JsonValue | undefined, ours: readonly string[]): JsonValue {
  if (!Array.isArray(asked)) return asked ?? ours;
  const both = ours.filter((value) => asked.includes(value));
  return both.length === 0 ? asked : both; // Nothing in common: the provider says so.
}

async function remember(providers: Providers, sql: SqlStorage, client: { clientId: string; source: string; now: number }): Promise<void> {
  const unused = sql.exec<{ id: string; source: string; since: number }>(
    "SELECT client_id AS id, source, registered_at AS since FROM unused_clients",
  );
  for (const clientId of placesToFree(unused.toArray(), client.source, { total: MAX_UNUSED })) {
    sql.exec("DELETE FROM unused_clients WHERE client_id = ?", clientId);
    await providers.kv.delete(`client:${clientId}`);
  }
  sql.exec("INSERT INTO unused_clients(client_id, source, registered_at) VALUES(?, ?, ?)", client.clientId, client.source, client.now);
}

function postJson(url: string, body: JsonObject): Request {
  return new Request(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

function tooMany(): Response {
  return oauthError(429, "temporarily_unavailable", `At most ${PER_HOUR} clients an hour may be registered from one address.`, {
    "retry-after": "3600",
  });
}
