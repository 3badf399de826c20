/** A real issuer on a real object's storage, with a hand-set clock, and the parties around it: client, browser, person. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import type { AuthorizationDecision } from "../../../../shared/authorization.ts";
import type { Deposits } from "../../../../shared/wire/frames.ts";
import { createIssuer, type Issuer } from "../../../../worker/oauth/issuer.ts";
import { createTables } from "../../../../worker/workspace/tables.ts";
import { workspacePrefix } from "../../../../shared/workspace.ts";

export const ORIGIN = "https://relay.example";
export const RESOURCE = `${ORIGIN}/mcp`;
export const REDIRECT = "https://claude.ai/api/mcp/auth_callback";
export const HOME = "203.0.113.7";
export const STATIC_TOKEN = "static-token-for-tests-0123456789";
const VERIFIER = "verifier-0123456789-0123456789-0123456789-0123456789";

export interface Send {
  readonly method?: string;
  readonly form?: Record<string, string> | [string, string][];
  readonly json?: unknown;
  readonly body?: string | ReadableStream<Uint8Array>;
  readonly headers?: Record<string, string>;
  /** The workstation's own if it is left out, none if it is `undefined`. */
  readonly ip?: string | undefined;
  readonly origin?: string;
}

export interface Opened {
  readonly response: Response;
  readonly html: string;
  readonly id: string;
  readonly cookie: string;
  readonly code: string;
  readonly origin: string;
}

export class Bench {
  issuer: Issuer;
  readonly storage: DurableObjectStorage;
  deposits: Deposits | undefined;
  home: string | undefined = HOME;
  connected = true;
  /** The workspace that is asked; all of a bench share one store, as they never do behind the Worker. */
  workspace: string | null = null;
  changes = 0;
  grantChanges = 0;
  #ahead = 0;

  constructor(storage: DurableObjectStorage, deposits: Deposits) {
    this.storage = storage;
    this.deposits = deposits;
    this.issuer = this.#open();
  }

  /** What a redeploy or a long sleep does to the object: its memory is gone, its storage is there. */
  restart(): void {
    this.issuer = this.#open();
  }

  #open(): Issuer {
    return createIssuer({
      storage: this.storage,
      deposits: () => this.deposits,
      workstationAddress: () => this.home,
      isAgentConnected: () => this.connected,
      clock: { now: () => this.now() },
      waitUntil: (promise) => void promise.catch(() => {}),
      env: {},
      pendingChanged: () => {
        this.changes += 1;
      },
      grantsChanged: () => {
        this.grantChanges += 1;
      },
    });
  }

  now(): number {
    return Date.now() + this.#ahead;
  }

  /** Moves our clock; the provider keeps the machine's. */
  pass(ms: number): void {
    this.#ahead += ms;
  }

  count(table: string): number {
    return this.storage.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n;
  }

  async send(path: string, send: Send = {}): Promise<Response> {
    const { method, form, json, body, headers = {}, ip, origin = ORIGIN } = { ip: HOME, ...send };
    const payload = form === undefined ? (json === undefined ? body : JSON.stringify(json)) : new URLSearchParams(form).toString();
    const type =
      form === undefined
        ? json === undefined
          ? {}
          : { "content-type": "application/json" }
        : { "content-type": "application/x-www-form-urlencoded" };
    const request = new Request(`${origin}${pathIn(this.workspace, path)}`, {
      method: method ?? (payload === undefined ? "GET" : "POST"),
      headers: { ...(ip === undefined ? {} : { "cf-connecting-ip": ip }), ...type, ...headers },
      redirect: "manual",
      ...(payload === undefined ? {} : { body: payload }),
    });
    const response = await this.issuer.fetch(request, origin + workspacePrefix(this.workspace));
    if (response === undefined) throw new Error(`no route for ${path}`);
    return response;
  }

  async register(metadata: Record<string, unknown> = {}, send: Send = {}): Promise<string> {
    const json = { client_name: "Claude", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none", ...metadata };
    const response = await this.send("/register", { json, ...send });
    if (response.status !== 201) throw new Error(`registration answered ${response.status}: ${await response.text()}`);
    return ((await response.json()) as { client_id: string }).client_id;
  }

  async query(clientId: string, changes: Record<string, string | undefined> = {}): Promise<string> {
    const all: Record<string, string | undefined> = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: REDIRECT,
      scope: "mcp",
      state: "s t&a=te",
      code_challenge: await challengeOf(VERIFIER),
      code_challenge_method: "S256",
      ...changes,
    };
    return new URLSearchParams(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))).toString();
  }

  async open(clientId: string, changes: Record<string, string | undefined> = {}, send: Send = {}): Promise<Opened> {
    const response = await this.send(`/authorize?${await this.query(clientId, changes)}`, send);
    const html = await response.text();
    const id = /data-id="([^"]+)"/.exec(html)?.[1] ?? "";
    const code = /id="code">([\d ]+)</.exec(html)?.[1]?.replaceAll(" ", "") ?? "";
    return { response, html, id, code, cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "", origin: send.origin ?? ORIGIN };
  }

  poll(opened: Opened, cookie: string = opened.cookie): Promise<Response> {
    return this.send(`/authorize/wait?id=${opened.id}`, { headers: { cookie }, origin: opened.origin });
  }

  /** As a browser without scripts does; answers at once. */
  look(opened: Opened, cookie: string = opened.cookie): Promise<Response> {
    return this.send(`/authorize/wait?id=${opened.id}&page=1`, { headers: { cookie }, origin: opened.origin });
  }

  /** The person decides while the page waits; where the browser is sent. */
  async decide(opened: Opened, decision: Partial<AuthorizationDecision> = {}): Promise<URL> {
    await this.look(opened);
    await this.issuer.decide({ id: opened.id, allow: true, code: opened.code, ...decision });
    return this.collect(opened);
  }

  async collect(opened: Opened): Promise<URL> {
    const { redirect } = (await (await this.poll(opened)).json()) as { redirect: string };
    return new URL(redirect);
  }

  async exchange(clientId: string, code: string, changes: Record<string, string> = {}, send: Send = {}): Promise<Response> {
    const form = { grant_type: "authorization_code", client_id: clientId, code, redirect_uri: REDIRECT, code_verifier: VERIFIER, ...changes };
    return this.send("/token", { form: Object.fromEntries(Object.entries(form).filter(([, value]) => value !== "")), ...send });
  }

  async refresh(clientId: string, token: string, changes: Record<string, string> = {}, send: Send = {}): Promise<Response> {
    return this.send("/token", { form: { grant_type: "refresh_token", client_id: clientId, refresh_token: token, ...changes }, ...send });
  }

  /** The whole way: a client with its tokens. */
  async connect(metadata: Record<string, unknown> = {}): Promise<Tokens & { clientId: string }> {
    const clientId = await this.register(metadata);
    return { clientId, ...(await this.grant(clientId)) };
  }

  async grant(clientId: string): Promise<Tokens> {
    const target = await this.decide(await this.open(clientId));
    const response = await this.exchange(clientId, target.searchParams.get("code") ?? "");
    if (response.status !== 200) throw new Error(`the code was answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Tokens;
  }

  async mcp(authorization?: string, origin: string = ORIGIN): Promise<{ status: number; challenge: string; principal?: unknown }> {
    const headers = authorization === undefined ? {} : { authorization };
    const issuer = origin + workspacePrefix(this.workspace);
    const result = await this.issuer.authenticate(new Request(`${issuer}/mcp`, { method: "POST", headers }), issuer);
    if (result.ok) return { status: 200, challenge: "", principal: result.value };
    return { status: result.error.status, challenge: result.error.headers.get("www-authenticate") ?? "" };
  }
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
}

/** Runs in a fresh object. `before` runs first, without tables. */
export async function withIssuer(
  run: (bench: Bench) => Promise<void>,
  changes: Partial<Deposits> = {},
  tables: "tables" | "none" = "tables",
): Promise<void> {
  const deposits = await depositsOf(changes);
  const stub = env.WORKSPACE.get(env.WORKSPACE.newUniqueId());
  await runInDurableObject(stub, async (_object: unknown, state: DurableObjectState) => {
    if (tables === "tables") createTables(state.storage);
    await run(new Bench(state.storage, deposits));
  });
}

/** Where a path of the default workspace lies in another: documents keep their name in front. */
export function pathIn(workspace: string | null, path: string): string {
  const [, document = "", rest = ""] = /^(\/\.well-known\/[\w-]+)?(.*)$/s.exec(path) ?? [];
  return document + workspacePrefix(workspace) + rest;
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

export async function errorOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: string }).error;
}

async function depositsOf(changes: Partial<Deposits>): Promise<Deposits> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STATIC_TOKEN));
  const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return {
    origins: [ORIGIN],
    allowOrigins: [],
    oauth: true,
    staticTokens: [{ id: "t1", name: "script", sha256, scope: ["mcp"] }],
    offline: {
      legacy: { initialize: {}, fallbackVersion: "2025-11-25", results: {}, toolCall: {} },
      modern: { results: {}, toolCall: {} },
      otherwise: "away",
    },
    ...changes,
  };
}
