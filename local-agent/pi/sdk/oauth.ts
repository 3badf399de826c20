/** What `import … from "pi-relay/oauth"` gives. Nothing signs in with OAuth yet, and whoever asks for its tokens is told so. */

const NOT_YET = "pi-relay does not sign in to MCP servers with OAuth yet, so it has no tokens: use headers or a bearer token (pimcp upstream-token).";

export function getMcpOAuthTokensForUrl(): Promise<never> {
  return Promise.reject(new Error(NOT_YET));
}

export function inspectMcpOAuthTokensForUrl(): never {
  throw new Error(NOT_YET);
}

export function updateMcpOAuthTokensForUrl(): Promise<never> {
  return Promise.reject(new Error(NOT_YET));
}
