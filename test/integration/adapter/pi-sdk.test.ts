/** What other packages import: the package's root and its subpaths, over real files. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as config from "../../../local-agent/pi/sdk/config.ts";
import type * as DeclaredCache from "../../../local-agent/pi/sdk/declared/metadata-cache.d.ts";
import type * as DeclaredConfig from "../../../local-agent/pi/sdk/declared/config.d.ts";
import type * as DeclaredOAuth from "../../../local-agent/pi/sdk/declared/oauth.d.ts";
import type * as DeclaredRoot from "../../../local-agent/pi/sdk/declared/root.d.ts";
import type * as DeclaredTypes from "../../../local-agent/pi/sdk/declared/types.d.ts";
import * as cache from "../../../local-agent/pi/sdk/metadata-cache.ts";
import * as oauth from "../../../local-agent/pi/sdk/oauth.ts";
import * as root from "../../../local-agent/pi/sdk/root.ts";
import * as types from "../../../local-agent/pi/sdk/types.ts";
import { createMetadataFile } from "../../../local-agent/node/metadata-file.ts";
import { silentLog } from "../../../local-agent/node/log-sinks.ts";
import { piHome } from "../../support/pi-sdk-session.ts";

const declaredRoot: typeof DeclaredRoot = root;
const declaredCache: typeof DeclaredCache = cache as typeof DeclaredCache;

describe("what the package says it exports", () => {
  const named = (name: string): string[] => {
    const text = readFileSync(join(import.meta.dirname, `../../../local-agent/pi/sdk/declared/${name}.d.ts`), "utf8");
    return [...text.matchAll(/^export declare (?:function|const) (\w+)/gm)].map(([, found]) => found ?? "");
  };

  test("[PI8] is what it exports, at its root and below it", () => {
    const declared = [types satisfies typeof DeclaredTypes, config satisfies typeof DeclaredConfig, oauth satisfies typeof DeclaredOAuth];
    expect(Object.keys(root).toSorted()).toEqual([...named("root"), ...named("types"), "default"].toSorted());
    expect(declared.map((each) => Object.keys(each).toSorted())).toEqual(["types", "config", "oauth"].map((name) => named(name).toSorted()));
    expect(Object.keys(cache).toSorted()).toEqual(named("metadata-cache").toSorted());
  });
});

const SERVERS = {
  "my-docs": { command: "docs", directTools: ["find"] },
  web: { command: "web" },
  off: { command: "off", disabled: true },
};

async function known() {
  const { home, project } = piHome();
  mkdirSync(join(home, "agent"));
  const path = cache.getMetadataCachePath();
  const file = createMetadataFile({ path, log: silentLog });
  const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } });
  const catalog = { resources: [], prompts: [], instructions: null, ttlMs: null, cacheScope: null, listedAt: Date.now() };
  const keep = (name: "my-docs" | "web", ...tools: string[]) =>
    file.write(name, { configHash: cache.computeServerHash(SERVERS[name]), catalog: { ...catalog, tools: tools.map(tool) } });
  await keep("my-docs", "find", "read");
  await keep("web", "open");
  return { home, project, path };
}

test("[PI71] references are the names of what a session registers over the same configuration and cache", async () => {
  await known();
  const { resolveMcpToolReferences, namespaceProxyName, loadMetadataCache } = { ...declaredRoot, ...declaredCache };
  const meant = (...references: string[]) => resolveMcpToolReferences(references, { mcpServers: SERVERS }, loadMetadataCache());
  expect(namespaceProxyName("my-docs")).toBe("mcp__my_docs");
  expect(meant("read", "mcp:my-docs", "mcp:my-docs/find", "mcp:web/open")).toEqual({
    names: ["read", "my-docs_find", "mcp__my_docs", "mcp__web"],
    diagnostics: [],
  });
  expect(meant("mcp:off", "mcp:none/x").diagnostics).toMatchObject([expect.stringContaining("disabled"), expect.stringContaining("not configured")]);
  expect(resolveMcpToolReferences(["mcp:web/open"], { mcpServers: SERVERS }, loadMetadataCache(), ["web/open"]).names).toEqual(["web_open"]);
  expect(resolveMcpToolReferences(["mcp:web/open"], { mcpServers: { web: { command: "other" } } }, loadMetadataCache()).names).toEqual([]);
  expect(resolveMcpToolReferences(["mcp:web"], null, null)).toMatchObject({ names: [], diagnostics: [expect.any(String)] });
});

test("[PI72] the files are read and merged without starting anything, and the cache with what makes its entries valid", async () => {
  const { project, path } = await known();
  const entry = { ...SERVERS.web, env: { TOKEN: "${TOKEN}" } };
  writeFileSync(
    join(project, ".mcp.json"),
    JSON.stringify({ mcpServers: { web: entry, off: SERVERS.off, bad: {} }, settings: { approveTools: false } }),
  );
  const { mcpServers, settings, warnings } = await config.loadMcpConfig(undefined, project);
  expect(mcpServers).toEqual({ web: entry, off: SERVERS.off });
  expect(settings).toEqual({});
  expect(warnings.join("\n")).toContain("bad");

  const web = declaredCache.loadMetadataCache()?.servers["web"];
  if (web === undefined) throw new Error("expected an entry");
  expect(declaredCache.isServerCacheValid(web, SERVERS.web)).toBe(true);
  expect(declaredCache.isServerCacheValid(web, { command: "other" })).toBe(false);
  expect(declaredCache.isServerCacheValid({ ...web, cachedAt: web.cachedAt - 60_000 }, SERVERS.web, 30_000)).toBe(false);
  expect(declaredCache.isServerCacheValid({ ...web, cachedAt: web.cachedAt - 8 * 86_400_000 }, SERVERS.web)).toBe(false);
  const withEnv = { command: "x", env: { A: "${PLACE}" } };
  expect(cache.computeServerHash(withEnv, { PLACE: "1" })).not.toBe(cache.computeServerHash(withEnv, { PLACE: "2" }));
  writeFileSync(path, "{}");
  expect(cache.loadMetadataCache()).toBeNull();
});

test("[PI73] whoever asks for OAuth tokens is told that there are none, and what to use", async () => {
  await expect(oauth.getMcpOAuthTokensForUrl()).rejects.toThrow("use headers or a bearer token");
  await expect(oauth.updateMcpOAuthTokensForUrl()).rejects.toThrow("use headers or a bearer token");
  expect(() => oauth.inspectMcpOAuthTokensForUrl()).toThrow("use headers or a bearer token");
});
