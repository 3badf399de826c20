/** MCP servers over HTTP in this process, of tools in a test's own words: what they were sent, and what a test makes of them. */
import { Server, type CallToolResult, type ServerCapabilities } from "@modelcontextprotocol/server";
import { serveFixtureHttp, type Era, type HttpFixture } from "../fixtures/upstreams/fixture-host.ts";
import { said, type SmallTool } from "./small-upstream.ts";

export interface FarmOptions {
  readonly era?: Era;
  readonly capabilities?: ServerCapabilities;
  readonly instructions?: string;
}

interface SentRequest {
  readonly http: string;
  /** The JSON-RPC method; empty for what is no POST. */
  readonly method: string;
  readonly headers: Headers;
}

type Refusal = (request: SentRequest) => Response | Promise<Response | null> | null;

export class FarmServer implements AsyncDisposable {
  readonly calls: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }[] = [];
  readonly requests: SentRequest[] = [];
  tools: Record<string, SmallTool>;
  /** Takes a request for itself; null leaves it to the server. */
  refuse: Refusal = () => null;
  readonly #options: FarmOptions;
  readonly #built = new Set<Server>();
  #served: HttpFixture | null = null;
  #url = "";

  private constructor(tools: Record<string, SmallTool>, options: FarmOptions) {
    this.tools = tools;
    this.#options = options;
  }

  static async start(tools: Record<string, SmallTool> = {}, options: FarmOptions = {}): Promise<FarmServer> {
    const server = new FarmServer(tools, options);
    await server.start();
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** Legacy sessions that are open now. */
  get sessions(): number {
    return this.#served?.sessions.size ?? 0;
  }

  /** How often this method was asked for. */
  asked(method: string): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  forgetSessions(): void {
    this.#served?.sessions.clear();
  }

  /** Everything that listens is told. */
  toolsChanged(): void {
    for (const server of this.#built) void server.sendToolListChanged().catch(() => {});
  }

  /** At the address it had before, if it had one. */
  async start(): Promise<void> {
    const port = this.#url === "" ? 0 : Number(new URL(this.#url).port);
    this.#served = await serveFixtureHttp(
      { name: "farm", era: this.#options.era ?? "legacy", build: () => this.#build() },
      {
        port,
        intercept: async (request) => {
          const body = request.method === "POST" ? ((await request.clone().json()) as { method?: string }) : {};
          const sent = { http: request.method, method: body.method ?? "", headers: request.headers };
          this.requests.push(sent);
          return this.refuse(sent);
        },
      },
    );
    this.#url = this.#served.url;
  }

  /** Nobody listens at its address then. */
  async stop(): Promise<void> {
    await this.#served?.close();
    this.#served = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #build(): Server {
    const { capabilities, instructions } = this.#options;
    const server = new Server(
      { name: "farm", version: "1" },
      { capabilities: { tools: { listChanged: true }, ...capabilities }, ...(instructions !== undefined && { instructions }) },
    );
    server.setRequestHandler("tools/list", () => ({
      tools: Object.entries(this.tools).map(([name, { run: _run, ...listed }]) => ({ name, inputSchema: { type: "object" as const }, ...listed })),
    }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const args = params.arguments ?? {};
      this.calls.push({ tool: params.name, args });
      const tool = this.tools[params.name];
      if (tool === undefined) return { ...said(`Unknown tool: ${params.name}`), isError: true };
      return (await (tool.run ?? (() => said(params.name)))(args, context, server)) as CallToolResult;
    });
    this.#built.add(server);
    return server;
  }
}

/** A refusal as servers word it. */
export function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
