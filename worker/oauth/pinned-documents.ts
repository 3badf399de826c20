/**
 * Metadata documents of well-known clients, as published in 2026: for when the client's server does not answer, or refuses whoever
 * asks from a cloud. Only clients whose redirect addresses are known to the letter. A loopback port is free (RFC 8252 §7.3).
 */

type Pinned = readonly [name: string, ...redirectUris: string[]];

const PINNED: ReadonlyMap<string, Pinned> = new Map<string, Pinned>([
  [
    "https://claude.ai/oauth/mcp-oauth-client-metadata",
    ["Claude", "https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
  ],
  ["https://claude.ai/oauth/claude-code-client-metadata", ["Claude Code", "http://localhost/callback", "http://127.0.0.1/callback"]],
  ["https://chatgpt.com/oauth/client.json", ["ChatGPT", "https://chatgpt.com/connector_platform_oauth_redirect"]],
  ["https://vscode.dev/oauth/client-metadata.json", ["Visual Studio Code", "http://127.0.0.1:33418/", "https://vscode.dev/redirect"]],
  ["https://opencode.ai/oauth/opencode/client.json", ["opencode", "http://127.0.0.1:19876/mcp/oauth/callback"]],
]);

/** The copy of the document at this address as JSON, or `undefined` if there is none. */
export function pinnedDocument(address: string): string | undefined {
  const pinned = PINNED.get(address);
  if (pinned === undefined) return undefined;
  const [client_name, ...redirect_uris] = pinned;
  const grant_types = ["authorization_code", "refresh_token"];
  return JSON.stringify({ client_id: address, client_name, redirect_uris, token_endpoint_auth_method: "none", grant_types });
}
