import { describe, expect, test } from "vitest";
import { isWorkspaceName, workspacePrefix } from "../../../shared/workspace.ts";
import { locate } from "../../../worker/routes.ts";

const NAMES = ["a", "7", "pi", "pi-relay", "a--b", "0-0", "mcp", "w", "agent", "constructor", "a".repeat(32)];
const NO_NAMES = [
  "",
  "default",
  "Pi",
  "DEFAULT",
  "a".repeat(33),
  "-a",
  "a-",
  "-",
  "a_b",
  "a.b",
  ".",
  "..",
  ".well-known",
  "a b",
  "a\n",
  "\na",
  "a\0",
  "%61",
  "a%2fb",
  "%2e%2e",
  "a;b",
  "a:b",
  "a@b",
  "a~",
  "a+b",
  "ä",
  "ａ",
  "а", // Cyrillic.
  "a\u200b",
  "__proto__",
];

describe("names", () => {
  test.for(NAMES)("[ED20] %j is one", (name) => {
    expect(isWorkspaceName(name)).toBe(true);
    expect(locate(`${workspacePrefix(name)}/mcp`)).toEqual({ workspace: name, route: "mcp", path: "/mcp" });
  });

  test.for(NO_NAMES)("[ED20] %j is none", (name) => {
    expect(isWorkspaceName(name)).toBe(false);
    for (const path of [`/w/${name}/mcp`, `/w/${name}/agent`, `/.well-known/oauth-protected-resource/w/${name}/mcp`]) {
      expect(locate(path)).toMatchObject({ workspace: null, route: expect.stringMatching(/^(misnamed|unknown)$/) as string });
    }
  });
});

/** What a URL makes of it decides, in the Worker and in the object alike. */
test.for<[string, string | null]>([
  ["/w/a/../b/mcp", "b"],
  ["/w/a/%2e%2e/b/mcp", "b"],
  ["/w/../mcp", null],
  ["/w/a/./mcp", "a"],
  ["/w\\a\\mcp", "a"],
])("[ED20] %s is the workspace its URL names", ([path, workspace]) => {
  expect(locate(new URL(path, "https://relay.example").pathname)).toEqual({ workspace, route: "mcp", path: "/mcp" });
});

describe("paths", () => {
  test.for<[string, string, string]>([
    ["/w/x/mcp", "mcp", "/mcp"],
    ["/w/x/agent", "agent", "/agent"],
    ["/w/x/register", "oauth", "/register"],
    ["/w/x/authorize", "oauth", "/authorize"],
    ["/w/x/authorize/wait", "oauth", "/authorize/wait"],
    ["/w/x/token", "oauth", "/token"],
    ["/w/x/revoke", "oauth", "/revoke"],
    ["/w/x/.well-known/openid-configuration", "oauth", "/.well-known/openid-configuration"],
    ["/w/x/mcp/.well-known/openid-configuration", "oauth", "/mcp/.well-known/openid-configuration"],
    ["/.well-known/oauth-protected-resource/w/x", "oauth", "/.well-known/oauth-protected-resource"],
    ["/.well-known/oauth-protected-resource/w/x/mcp", "oauth", "/.well-known/oauth-protected-resource/mcp"],
    ["/.well-known/oauth-authorization-server/w/x", "oauth", "/.well-known/oauth-authorization-server"],
    ["/.well-known/oauth-authorization-server/w/x/mcp", "oauth", "/.well-known/oauth-authorization-server/mcp"],
    ["/.well-known/openid-configuration/w/x", "oauth", "/.well-known/openid-configuration"],
    ["/.well-known/openid-configuration/w/x/mcp", "oauth", "/.well-known/openid-configuration/mcp"],
  ])("[ED20] %s is of workspace x", ([path, route, local]) => {
    expect(locate(path)).toEqual({ workspace: "x", route, path: local });
    expect(locate(local)).toEqual({ workspace: null, route, path: local });
  });

  test.for([
    "/w/x",
    "/w/x/",
    "/w/x/mcp/",
    "/w/x//mcp",
    "//w/x/mcp",
    "/W/x/mcp",
    "/w/x/healthz",
    "/w/x/authorize/",
    "/w/x/authorize/wait/x",
    "/w/x/w/y/mcp",
    "/w/x/.well-known/oauth-protected-resource",
    "/w/x/.well-known/oauth-protected-resource/mcp",
    "/w/x/.well-known/oauth-authorization-server",
    "/w/x/.well-known/openid-configuration/mcp",
    "/.well-known/oauth-protected-resource/w/x/",
    "/.well-known/oauth-protected-resource/w/x/mcp/",
    "/.well-known/oauth-protected-resource/w/x/token",
    "/.well-known/oauth-protected-resource/mcp/w/x",
    "/.well-known/oauth-authorization-server/w/x/mcp/.well-known/openid-configuration",
    "/.well-known/oauth-protected-resource/.well-known/openid-configuration/w/x",
    "/mcp/w/x",
    "/w",
  ])("[ED20] %s is nobody's", (path) => {
    expect(locate(path).route).toBe("unknown");
  });

  test("[ED1] what belongs to no workspace", () => {
    expect(["/", "/healthz", "/w/", "/w/A/mcp", "/constructor"].map((path) => locate(path).route)).toEqual([
      "landing",
      "health",
      "misnamed",
      "misnamed",
      "unknown",
    ]);
  });
});
