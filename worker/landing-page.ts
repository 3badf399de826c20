/** `/`: what this is and whether the workstation of the default workspace is connected. Nothing more, it is public: no other name either. */
import { DEFAULT_WORKSPACE } from "../shared/workspace.ts";
import { KEY_MISSING, hasAgentKey, type Env } from "./env.ts";

export async function landingPage(request: Request, env: Env): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
  const state = hasAgentKey(env) ? await connectionSentence(env) : KEY_MISSING;
  const status = hasAgentKey(env) ? 200 : 503;
  return new Response(request.method === "HEAD" ? null : page(state), { status, headers: HEADERS });
}

async function connectionSentence(env: Env): Promise<string> {
  const connected = await env.WORKSPACE.getByName(env.ONLY_WORKSPACE ?? DEFAULT_WORKSPACE)
    .isConnected()
    .catch(() => false);
  return connected ? "The workstation is connected." : "The workstation is not connected right now.";
}

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'sha256-1JWEX8HTHyoGzZ3bXqzUIOQMglyUJa2Kd7ns2aLxF1k='; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

const STYLE =
  ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.25rem}";

/** Only our own constants get in here, so nothing needs escaping. */
function page(state: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>pi-relay</title><style>${STYLE}</style>
<h1>pi-relay</h1>
<p>This is a private relay. It lets AI clients that its owner has approved work on the owner's workstation, over MCP.</p>
<p role="status">${state}</p>`;
}
