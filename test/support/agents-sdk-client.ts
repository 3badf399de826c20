/** A client built on Cloudflare's `agents` SDK, in a workerd of its own. */
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundleOf } from "./worker-runtime.ts";

const ENTRY = join(import.meta.dirname, "../fixtures/agents-sdk-client.workerd.ts");

export interface AgentsSdkClient extends AsyncDisposable {
  /** The address to open in a browser, or `undefined` when it is connected already. */
  connect(url: string): Promise<URL | undefined>;
  /** The browser comes back. */
  callback(address: URL): Promise<void>;
  call(): Promise<{ readonly tools: readonly string[]; readonly result: unknown }>;
  /** Forgets what is only in its memory, as the platform does after a while. */
  evict(): Promise<void>;
}

export async function startAgentsSdkClient(): Promise<AgentsSdkClient> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: "client",
      modules: [{ type: "ESModule", path: "client.mjs", contents: await bundleOf(ENTRY) }],
      compatibilityDate: "2026-08-01",
      compatibilityFlags: ["nodejs_compat"],
      durableObjects: { ASSISTANT: { className: "Assistant", useSQLite: true } },
      host: "127.0.0.1",
      port: 0,
      cf: false,
    } as never),
  );
  const { origin } = await miniflare.ready;
  const post = async (path: string, body = ""): Promise<Record<string, unknown>> => {
    const answer = await fetch(origin + path, { method: "POST", body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return {
    connect: async (url) => {
      const { state, authUrl, error } = await post("/connect", url);
      if (state === "failed") throw new Error(String(error));
      return state === "authenticating" ? new URL(String(authUrl)) : undefined;
    },
    callback: async (address) => {
      if (address.origin !== origin) throw new Error(`the browser came back to ${address.origin}, expected was ${origin}`);
      const answer = await fetch(address, { redirect: "manual" });
      const text = await answer.text();
      if (answer.status >= 400) throw new Error(`the callback was answered ${answer.status}: ${text}`);
    },
    call: async () => (await post("/call")) as { readonly tools: readonly string[]; readonly result: unknown },
    evict: () => miniflare.unsafeEvictDurableObject("client", "Assistant", { name: "one" }),
    [Symbol.asyncDispose]: () => miniflare.dispose(),
  };
}
