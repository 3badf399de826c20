/** Clients that people have, from the first call to the sign-in it leads to: libraries in this process, and programs of their own. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { McpClient, StreamableHttpTransport } from "@earendil-works/pi-mcp";
import {
  completeMcpSignIn,
  createMcpAuthProvider,
  listenForLoopbackSignIn,
  McpOAuthAuthorizationRequiredError,
  MemoryOAuthStateStore,
  startMcpSignIn,
  waitForLoopbackSignIn,
  type OAuthChallenge,
} from "@earendil-works/pi-mcp/oauth";
import { said, type CallResult } from "./agent-requests.ts";
import { browserShim } from "./browser-shim.ts";
import { freePort } from "./free-port.ts";
import { OAuthClient } from "./oauth-client.ts";
import type { Home } from "./pimcp.ts";
import { connectV2, type SdkClient } from "./sdk-clients.ts";

const INSTALLED = join(import.meta.dirname, "../node_modules");

export interface SigningInClient extends AsyncDisposable {
  /** What the command prints there; signs in first when it has to, which ends when the browser comes back. */
  run(command: string): Promise<string>;
  /** Where it sent the person's browser; each sign-in adds one. */
  opened(): readonly string[];
  /** What it keeps at the moment. */
  accessToken(): string | undefined;
}

/** `home`: where a program keeps what it keeps. */
export type StartClient = (url: string, home: Home) => Promise<SigningInClient>;

export async function startSdkClient(url: string): Promise<SigningInClient> {
  const client = await OAuthClient.start({ url });
  const connect = async () => {
    const first = await client.connect();
    if (first !== undefined) return first;
    await client.finish(await client.callback());
    return client.connect();
  };
  return {
    async run(command) {
      const connected = await connect();
      const result = await connected?.callTool({ name: "bash", arguments: { command } });
      await connected?.close();
      return printed(result);
    },
    opened: () => client.opened.map((address) => address.href),
    accessToken: () => client.kept?.access_token,
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/** Signs in as Pi does. */
export async function startPiClient(serverUrl: string): Promise<SigningInClient> {
  const memory = new MemoryOAuthStateStore();
  const store = Object.assign(memory, { withRefreshLock: <T>(work: () => Promise<T>) => work() });
  const opened: string[] = [];
  let challenge: OAuthChallenge | undefined;
  const authProvider = createMcpAuthProvider({
    serverUrl,
    store,
    clientName: "Pi",
    settings: () => ({}),
    onChallenge: (received) => void (challenge = received),
  });
  const call = async (command: string): Promise<string> => {
    const client = new McpClient({ name: "pi", version: "1" });
    try {
      await client.connect(new StreamableHttpTransport({ url: serverUrl, authProvider }));
      return printed(await client.callTool("bash", { command }));
    } finally {
      await client.close();
    }
  };
  const signIn = async (): Promise<void> => {
    const { callback, redirectUrl } = await listenForLoopbackSignIn({ serverUrl, store, settings: {} });
    try {
      const options = { serverUrl, store, settings: {}, clientName: "Pi", redirectUrl, ...(challenge !== undefined && { challenge }) };
      const authorization = await startMcpSignIn(options);
      if (authorization.kind === "authorized") return;
      opened.push(authorization.authorizationUrl);
      await completeMcpSignIn({ ...options, authorization, response: await waitForLoopbackSignIn({ callback, authorization }) });
    } finally {
      await callback.close();
    }
  };
  return {
    run: (command) =>
      call(command).catch(async (error: unknown) => {
        if (!(error instanceof McpOAuthAuthorizationRequiredError)) throw error;
        await signIn();
        return call(command);
      }),
    opened: () => opened,
    accessToken: () => memory.load()?.tokens?.access_token,
    [Symbol.asyncDispose]: () => authProvider.settled(),
  };
}

/** One process for all calls. */
export async function startMcpRemote(url: string, home: Home): Promise<SigningInClient> {
  const shim = browserShim(home, "mcp-remote");
  const kept = join(home.dir, "mcp-remote/kept");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(INSTALLED, "mcp-remote/dist/proxy.js"), url, String(await freePort()), "--transport", "http-only"],
    env: { ...shim.env, MCP_REMOTE_CONFIG_DIR: kept },
    stderr: "pipe",
  });
  let connecting: Promise<SdkClient> | undefined;
  return {
    run: async (command) => printed(await (await (connecting ??= connectV2(transport, "legacy"))).call("bash", { command })),
    opened: shim.opened,
    accessToken: () => tokenIn(kept, /_tokens\.json$/),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

/** A process for each call. */
export async function startInspector(url: string, home: Home): Promise<SigningInClient> {
  const shim = browserShim(home, "inspector");
  const kept = join(home.dir, "inspector/kept");
  const env = { ...shim.env, MCP_STORAGE_DIR: kept, MCP_INSPECTOR_SECRET_STORE: "file", MCP_AUTO_OPEN_ENABLED: "true" };
  const program = [join(INSTALLED, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"];
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  return {
    async run(command) {
      const call = ["--method", "tools/call", "--tool-name", "bash", "--tool-arg", `command=${command}`, "--format", "json", "--quiet"];
      return printed((JSON.parse(await output([...program, url, ...call, "--callback-url", callback], env)) as { result: unknown }).result);
    },
    opened: shim.opened,
    accessToken: () => tokenIn(kept, /^secrets\.json$/),
    // Each of its processes has ended with its call.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Each library has its own type for a result. */
const printed = (result: unknown): string => said(result as CallResult);

/** The access token in the one file of this name, however deep a program wraps it. */
function tokenIn(dir: string, name: RegExp): string | undefined {
  const file = readdirSync(dir, { recursive: true, encoding: "utf8" }).find((path) => name.test(path));
  return file === undefined ? undefined : /access_token\W+([\w:.-]+)/.exec(readFileSync(join(dir, file), "utf8"))?.[1];
}

async function output(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"], timeout: 40_000, killSignal: "SIGKILL" });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`it ended with ${String(code)}: ${stderr}`);
  return stdout;
}
