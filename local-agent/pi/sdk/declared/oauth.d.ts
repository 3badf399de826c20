/** What `import … from "pi-relay/oauth"` gives. Nothing signs in with OAuth yet: each of them fails with a sentence that says so. */

export declare function getMcpOAuthTokensForUrl(serverName: string, serverUrl: string): Promise<never>;

export declare function inspectMcpOAuthTokensForUrl(serverName: string, serverUrl: string): never;

export declare function updateMcpOAuthTokensForUrl(serverName: string, serverUrl: string, tokens: object): Promise<never>;
