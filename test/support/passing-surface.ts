/** The surface over exposed upstreams, and real SDK clients of it that need no port. */
import { Client, StreamableHTTPClientTransport, type ClientCapabilities, type ElicitResult } from "@modelcontextprotocol/client";
import type { Server } from "@modelcontextprotocol/server";
import type { McpSurface, McpSurfaceOptions } from "../../local-agent/mcp/server.ts";
import type { Passage } from "../../local-agent/mcp/pass-through/passage.ts";
import { createEverything } from "../fixtures/everything/build-server.ts";
import { passageUnderTest, type PassageUnderTest, type UpstreamFixture } from "./passage-under-test.ts";
import { text, type ToolScript } from "./scripted-tools.ts";
import { context, MODERN, surfaceUnderTest, type SurfaceUnderTest } from "./surface-under-test.ts";

export interface PassingSurface extends SurfaceUnderTest, AsyncDisposable {
  readonly passage: PassageUnderTest;
}

export type Speaks = "legacy" | typeof MODERN;

export function passingSurface(
  upstreams: Readonly<Record<string, UpstreamFixture>>,
  changes: {
    readonly passage?: Partial<Passage>;
    readonly tools?: Readonly<Record<string, ToolScript>>;
    readonly options?: Partial<McpSurfaceOptions>;
  } = {},
): PassingSurface {
  const passage = passageUnderTest(upstreams, changes.passage);
  const under = surfaceUnderTest(changes.tools ?? { read: () => text("ours") }, { passage, ...changes.options });
  return { ...under, passage, [Symbol.asyncDispose]: () => under.surface.close() };
}

/** The fixture with every feature, in this process. */
export function everything(speaks: Speaks, called: (tool: string) => void = () => {}): UpstreamFixture {
  const build = createEverything();
  return {
    speaks,
    build: (modern) =>
      build({
        modern,
        lasting: !modern,
        called,
        toolsChanged: (server: Server) => void server.sendToolListChanged(),
        promptsChanged: (server: Server) => void server.sendPromptListChanged(),
      }),
  };
}

export interface ClientWish {
  readonly era: "legacy" | "modern";
  readonly capabilities?: ClientCapabilities;
  readonly principal?: string;
  /** Answers each form. */
  readonly form?: (params: { readonly message: string }) => ElicitResult | Promise<ElicitResult>;
  /** For a client that comes back to a session. */
  readonly sessionId?: string;
  readonly prepare?: (client: Client) => void;
}

export interface PassingClient extends AsyncDisposable {
  readonly client: Client;
  readonly sessionId: () => string | undefined;
}

/** Declares what it can answer: forms with `form`, else `capabilities`. */
export async function clientOf(surface: McpSurface, wish: ClientWish): Promise<PassingClient> {
  const capabilities: ClientCapabilities = wish.capabilities ?? (wish.form === undefined ? {} : { elicitation: { form: {} } });
  const mode = wish.era === "modern" ? { pin: MODERN } : "legacy";
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  const { form } = wish;
  if (form !== undefined) client.setRequestHandler("elicitation/create", (request) => form(request.params));
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler("sampling/createMessage", () => ({ model: "test", role: "assistant", content: { type: "text", text: "Paris" } }));
  }
  if (capabilities.roots !== undefined) client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///here" }] }));
  wish.prepare?.(client);
  const transport = new StreamableHTTPClientTransport(new URL("http://agent.test/mcp"), {
    fetch: (url, init) =>
      handled(surface, new Request(url, { ...init, signal: null }), { principal: wish.principal ?? "grant:1", signal: init?.signal }),
    ...(wish.sessionId !== undefined && { sessionId: wish.sessionId }),
  });
  await client.connect(transport);
  return { client, sessionId: () => transport.sessionId, [Symbol.asyncDispose]: () => client.close() };
}

/** As a listener does: a client that goes away is seen. */
async function handled(
  surface: McpSurface,
  request: Request,
  { principal, signal }: { readonly principal: string; readonly signal: AbortSignal | null | undefined },
): Promise<Response> {
  const exchange = context(principal);
  const left = (): void => exchange.leave.abort(new Error("the client left"));
  if (signal?.aborted === true) left();
  signal?.addEventListener("abort", left, { once: true });
  return (await surface.handle(request, exchange)).response;
}
