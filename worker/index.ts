/**
 * The front: finds the workspace's object and passes the request on. It reads no body and keeps nothing; what it adds
 * is what the object cannot say after its own death (WP15).
 */
import { DEFAULT_WORKSPACE, WORKSPACE_RULE } from "../shared/workspace.ts";
import { KEY_MISSING, hasAgentKey, type Env } from "./env.ts";
import { landingPage } from "./landing-page.ts";
import { guardAnswer, objectDied } from "./last-words.ts";
import { notReady, refusal } from "./respond.ts";
import { locate } from "./routes.ts";
import { matchesSecret } from "./secret.ts";

export { WorkspaceObject } from "./workspace/workspace-object.ts";

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    const { workspace, route } = locate(url.pathname);
    // Behind a proxy the scheme and host seen here are not those that callers use.
    const endpoint = `${env.EMBEDDED === "public" ? "" : url.origin}/mcp`;
    switch (route) {
      case "health":
        return Response.json({ ok: true }, { headers: { "cache-control": "no-store" } });
      case "landing":
        return landingPage(request, env);
      case "agent":
        return (await refuseAgent(request, env)) ?? (await toObject(withClientAddress(request, env), workspace, env, ctx));
      case "oauth":
        return toObject(withClientAddress(request, env), workspace, env, ctx);
      case "mcp":
        return toObject(request, workspace, env, ctx);
      case "misnamed":
        return refusal(404, "not_found", `A workspace's name has ${WORKSPACE_RULE}. The MCP endpoint of this relay is ${endpoint}`);
      case "unknown":
        return refusal(404, "not_found", `Nothing is here. The MCP endpoint of this relay is ${endpoint}`);
    }
  },
} satisfies ExportedHandler<Env>;

/** [WP23] The agent is authenticated before the upgrade and only by header: a query would end up in logs. */
async function refuseAgent(request: Request, env: Env): Promise<Response | undefined> {
  if (!hasAgentKey(env)) return refusal(503, "no_agent_key", KEY_MISSING);
  const [scheme, key] = (request.headers.get("authorization") ?? "").split(" ");
  if (scheme?.toLowerCase() !== "bearer" || !(await matchesSecret(key ?? "", env.AGENT_KEY))) {
    return refusal(401, "wrong_agent_key", "This relay does not know that agent key. Use the key it was deployed with.", {
      "www-authenticate": "Bearer",
    });
  }
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return refusal(426, "upgrade_required", "This is where the agent connects by WebSocket.", { upgrade: "websocket" });
  }
  return undefined;
}

async function toObject(request: Request, workspace: string | null, env: Env, ctx: ExecutionContext): Promise<Response> {
  const name = workspace ?? DEFAULT_WORKSPACE;
  if (env.ONLY_WORKSPACE !== undefined && env.ONLY_WORKSPACE !== name) return notReady();
  const stub = env.WORKSPACE.getByName(name);
  try {
    return guardAnswer(await stub.fetch(request), ctx);
  } catch {
    return objectDied();
  }
}

/**
 * Rate limits and "same public address" rely on `CF-Connecting-IP`. The edge sets it; a caller of the embedded relay could send
 * any, so there it is what is known for certain: loopback, or nothing.
 */
function withClientAddress(request: Request, env: Env): Request {
  if (env.EMBEDDED === undefined) return request;
  const headers = new Headers(request.headers);
  headers.delete("cf-connecting-ip");
  headers.delete("cf-ipcountry");
  if (env.EMBEDDED === "loopback") headers.set("cf-connecting-ip", "127.0.0.1");
  return new Request(request, { headers });
}
