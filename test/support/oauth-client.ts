/** A client program as its author writes it with the SDK: keeps what it is given, opens the address it is told, has a callback on loopback. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { UnauthorizedError as UnauthorizedErrorV1, type OAuthClientProvider as ProviderV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

interface ConnectedClient {
  callTool(call: { readonly name: string; readonly arguments: Record<string, unknown> }): Promise<{ readonly content?: unknown }>;
  close(): Promise<void>;
}

export interface OAuthClientOptions {
  readonly url: string;
  /** Which SDK it is written with; the present one if not said. */
  readonly sdk?: "v1" | "v2";
  readonly fetch?: typeof fetch;
  /** Address of the document that describes the client, for issuers that take one. */
  readonly document?: string;
}

export class OAuthClient implements OAuthClientProvider, AsyncDisposable {
  readonly clientMetadataUrl?: string;
  readonly redirectUrl: string;
  /** What the browser has to open; each sign-in adds one. */
  readonly opened: URL[] = [];
  information: StoredOAuthClientInformation | undefined;
  kept: OAuthTokens | undefined;
  readonly #options: OAuthClientOptions;
  readonly #server: ReturnType<typeof createServer>;
  readonly #state = randomUUID();
  #verifier = "";
  #found: OAuthDiscoveryState | undefined;
  #transport: { finishAuth(params: URLSearchParams): Promise<void> } | undefined;
  #called = Promise.withResolvers<URLSearchParams>();

  static async start(options: OAuthClientOptions): Promise<OAuthClient> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new OAuthClient(options, server);
  }

  private constructor(options: OAuthClientOptions, server: ReturnType<typeof createServer>) {
    this.#options = options;
    this.#server = server;
    if (options.document !== undefined) this.clientMetadataUrl = options.document;
    server.on("request", (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
      response.setHeader("content-type", "text/plain").end("You are signed in.");
      if (pathname === "/callback") this.#called.resolve(searchParams);
    });
    this.redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  }

  get clientMetadata(): OAuthClientMetadata {
    return { client_name: "A test client", redirect_uris: [this.redirectUrl], token_endpoint_auth_method: "none" };
  }
  state = (): string => this.#state;
  clientInformation = (): StoredOAuthClientInformation | undefined => this.information;
  saveClientInformation = (information: StoredOAuthClientInformation): void => void (this.information = information);
  tokens = (): OAuthTokens | undefined => this.kept;
  saveTokens = (tokens: OAuthTokens): void => void (this.kept = tokens);
  redirectToAuthorization = (url: URL): void => void this.opened.push(url);
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  codeVerifier = (): string => this.#verifier;
  saveDiscoveryState = (found: OAuthDiscoveryState): void => void (this.#found = found);
  discoveryState = (): OAuthDiscoveryState | undefined => this.#found;

  /** Connects if it may; else leaves the address to open in `opened` and resolves with undefined. */
  async connect(): Promise<ConnectedClient | undefined> {
    return this.#options.sdk === "v1" ? this.#connectV1() : this.#connectV2();
  }

  async #connectV2(): Promise<ConnectedClient | undefined> {
    const client = new Client({ name: "a test client", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const { url, fetch } = this.#options;
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: this, ...(fetch !== undefined && { fetch }) });
    this.#transport = transport;
    try {
      await client.connect(transport);
      return client;
    } catch (error) {
      await client.close();
      if (error instanceof UnauthorizedError) return undefined;
      throw error;
    }
  }

  async #connectV1(): Promise<ConnectedClient | undefined> {
    const client = new ClientV1({ name: "a test client", version: "1" });
    // What a provider keeps has grown since, not changed.
    const transport = new TransportV1(new URL(this.#options.url), { authProvider: this as unknown as ProviderV1 });
    this.#transport = { finishAuth: (params) => transport.finishAuth(params.get("code") ?? "") };
    try {
      await client.connect(transport);
      return { callTool: async (call) => ({ content: (await client.callTool(call))["content"] }), close: () => client.close() };
    } catch (error) {
      await client.close();
      if (error instanceof UnauthorizedErrorV1) return undefined;
      throw error;
    }
  }

  /** What the browser brought back. */
  async callback(): Promise<URLSearchParams> {
    const params = await this.#called.promise;
    this.#called = Promise.withResolvers();
    if (params.get("state") !== this.#state) throw new Error("the state is not the one that was sent");
    return params;
  }

  /** Exchanges the code; throws what the issuer said instead of one. */
  async finish(params: URLSearchParams): Promise<void> {
    await this.#transport?.finishAuth(params);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
