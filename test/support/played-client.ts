/** Plays a real client by its profile: discovers, gets an id, signs in, calls, refreshes, and refuses what that client refuses. */
import { createHash, randomBytes } from "node:crypto";
import * as v from "valibot";
import type { ClientProfile, ResourceHabit, Way } from "../fixtures/clients/profile.ts";
import { authenticated, obtain, type Credentials, type Pair } from "./client-credentials.ts";
import { discover, type Found } from "./client-discovery.ts";
import { ClientSession, Unauthorized } from "./client-session.ts";
import type { Allowed } from "./sign-in.ts";

/** What surrounds a client. */
export interface World {
  /** As the person types it. */
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly now: () => number;
  /** Hands an address to the person's browser. */
  readonly open: (authorizeUrl: URL) => Promise<Allowed>;
  /** What the person types beside the URL: an id and a secret, or a token. */
  readonly pair?: Pair;
  readonly token?: string;
}

const Tokens = v.object({
  access_token: v.string(),
  token_type: v.pipe(v.string(), v.regex(/^bearer$/i, 'the token is not a "Bearer"')),
  expires_in: v.number(),
  refresh_token: v.string(),
  scope: v.string(),
});
export type Tokens = v.InferOutput<typeof Tokens>;

export interface SignedIn extends Allowed {
  readonly asked: URL;
  readonly found: Found;
  readonly credentials: Credentials;
  readonly tokens: Tokens;
}

/** An access token is refreshed early when it ends within this time. */
const EARLY_MS = 5 * 60_000;

export class PlayedClient {
  readonly profile: ClientProfile;
  readonly #way: Way;
  readonly #world: World;
  readonly #patient: typeof fetch;
  #places: Place[] = [];

  constructor(profile: ClientProfile, way: Way, world: World) {
    this.profile = profile;
    this.#way = way;
    this.#world = world;
    this.#patient = (input, init) => world.fetch(input, { signal: AbortSignal.timeout(profile.patienceMs), ...init });
  }

  /** One for each place. */
  get tokens(): readonly Tokens[] {
    return this.#places.flatMap(({ tokens }) => tokens ?? []);
  }

  async signIn(): Promise<SignedIn> {
    const way = this.#way;
    if (way.by === "header") throw new Error(`${this.profile.name} with a header does not sign in`);
    const found = await discover(this.profile.discovery, this.#world.url, this.#patient);
    if (!found.server.code_challenge_methods_supported.includes("S256")) throw new Error("the issuer does not offer S256");
    const credentials = await obtain(way, found.server, this.#world.pair, this.#patient);
    const verifier = randomBytes(32).toString("base64url");
    const state = randomBytes(16).toString("base64url");
    const asked = this.#authorizeUrl(found, credentials, { verifier, state });
    const allowed = await this.#world.open(asked);
    const code = this.#checkCallback(allowed.callback, state, found);
    const tokens = await this.#token(found, credentials, {
      grant_type: "authorization_code",
      code,
      redirect_uri: credentials.redirect,
      ...(credentials.pkce && { code_verifier: verifier }),
      ...this.#resource(this.profile.token.code, found),
    });
    const refresh = (token: string) => this.#refresh(found, credentials, token);
    this.#places = Array.from({ length: this.profile.token.places }, () => this.#place({ tokens, refresh }));
    return { ...allowed, asked, found, credentials, tokens };
  }

  /** Lists the tools and calls one from each of its places at once. Refreshes where it has to. */
  async use(name: string, args: Record<string, unknown>): Promise<readonly { readonly tools: readonly string[]; readonly result: unknown }[]> {
    if (this.#places.length === 0 && this.#way.by === "header") this.#places = [this.#place({ fixed: this.#world.token ?? "" })];
    return Promise.all(
      this.#places.map(async (place) => ({
        tools: await place.with((session, token) => session.listTools(token)),
        result: await place.with((session, token) => session.callTool(token, name, args)),
      })),
    );
  }

  #place(holds: Holds): Place {
    const { session, token } = this.profile;
    const isDue = (at: number) => token.refreshes === "early" && this.#world.now() + EARLY_MS > at;
    return new Place(new ClientSession(session, this.#world.url, this.#world.fetch), holds, this.#world.now, isDue);
  }

  #authorizeUrl(found: Found, credentials: Credentials, secrets: { readonly verifier: string; readonly state: string }): URL {
    const url = new URL(found.server.authorization_endpoint);
    const scope = this.#scope(found);
    const parameters = {
      response_type: "code",
      client_id: credentials.id,
      redirect_uri: credentials.redirect,
      state: secrets.state,
      ...(credentials.pkce && { code_challenge: createHash("sha256").update(secrets.verifier).digest("base64url"), code_challenge_method: "S256" }),
      ...(scope !== "" && { scope }),
      ...this.#resource(this.profile.authorization.resource, found),
      ...this.profile.authorization.more,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  #scope({ challengeScope = "", resource, server }: Found): string {
    const { scope, offlineAccess } = this.profile.authorization;
    const asked = { challenge: challengeScope.split(" "), resource: resource.scopes_supported, server: server.scopes_supported, none: [] }[scope];
    const more = offlineAccess && server.scopes_supported.includes("offline_access") ? ["offline_access"] : [];
    return [...new Set([...asked, ...more])].join(" ").trim();
  }

  #resource(habit: ResourceHabit, { url, resource }: Found): { readonly resource?: string } {
    switch (habit) {
      case "typed":
        return { resource: url };
      case "metadata":
        return { resource: resource.resource };
      case "origin":
        return { resource: new URL(url).origin };
      case "origin/":
        return { resource: `${new URL(url).origin}/` };
      case "omitted":
        return {};
    }
  }

  #checkCallback({ searchParams }: URL, state: string, { server }: Found): string {
    const problem = searchParams.get("error");
    if (problem !== null) throw new Error(`the issuer sent ${problem}: ${searchParams.get("error_description")}`);
    if (searchParams.get("state") !== state) throw new Error("the state is not the one that was sent");
    const promised = server.authorization_response_iss_parameter_supported;
    if (this.profile.authorization.checksIss && promised && searchParams.get("iss") !== server.issuer) {
      throw new Error(`the callback comes from ${searchParams.get("iss")}, expected was ${server.issuer}`);
    }
    return searchParams.get("code") ?? "";
  }

  #refresh(found: Found, credentials: Credentials, token: string): Promise<Tokens> {
    const { refresh, repeatsScope } = this.profile.token;
    const scope = this.#scope(found);
    return this.#token(found, credentials, {
      grant_type: "refresh_token",
      refresh_token: token,
      ...(repeatsScope && scope !== "" && { scope }),
      ...this.#resource(refresh, found),
    });
  }

  async #token(found: Found, credentials: Credentials, asked: Record<string, string>): Promise<Tokens> {
    const { headers, form } = authenticated(credentials);
    const body = new URLSearchParams({ ...asked, ...form });
    const answer = await this.#patient(found.server.token_endpoint, { method: "POST", headers: { accept: "application/json", ...headers }, body });
    if (answer.status !== 200) throw new Error(`/token answered ${answer.status}: ${await answer.text()}`);
    if (answer.headers.get("cache-control") !== "no-store") throw new Error("the tokens may be cached");
    return v.parse(Tokens, await answer.json());
  }
}

/** What a place calls with: a token that never changes, or those of a sign-in, which it renews by itself. */
type Holds = { readonly fixed: string } | { readonly tokens: Tokens; readonly refresh: (token: string) => Promise<Tokens> };

/** One machine or process of a client: its own session, and its own copy of the tokens. */
class Place {
  readonly #session: ClientSession;
  readonly #holds: Holds;
  readonly #now: () => number;
  readonly #isDue: (endsAt: number) => boolean;
  tokens: Tokens | undefined;
  #endsAt = 0;

  constructor(session: ClientSession, holds: Holds, now: () => number, isDue: (endsAt: number) => boolean) {
    this.#session = session;
    this.#holds = holds;
    this.#now = now;
    this.#isDue = isDue;
    if ("tokens" in holds) this.#keep(holds.tokens);
  }

  async with<T>(work: (session: ClientSession, token: string) => Promise<T>): Promise<T> {
    if (this.#isDue(this.#endsAt)) await this.#renew();
    try {
      return await work(this.#session, this.#token());
    } catch (error) {
      if (!(error instanceof Unauthorized) || "fixed" in this.#holds) throw error;
      await this.#renew();
      return work(this.#session, this.#token());
    }
  }

  #token(): string {
    return "fixed" in this.#holds ? this.#holds.fixed : (this.tokens?.access_token ?? "");
  }

  async #renew(): Promise<void> {
    if ("fixed" in this.#holds || this.tokens === undefined) return;
    this.#keep(await this.#holds.refresh(this.tokens.refresh_token));
  }

  #keep(tokens: Tokens): void {
    this.tokens = tokens;
    this.#endsAt = this.#now() + tokens.expires_in * 1000;
  }
}
