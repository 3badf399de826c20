import { describe, expect, test } from "vitest";
import { judgeRedirect, loopbackSpellings, redirectHostOf, respell, withHostname } from "../../../../worker/oauth/redirects.ts";

const verdict = (uri: string) => judgeRedirect(uri).verdict;

describe("redirect addresses", () => {
  test.for([
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "\tjavascript:alert(1)",
    "java\tscript:alert(1)",
    "javascript:alert(1)\n",
    "data:text/html,x",
    "vbscript:x",
    "blob:https://ok.example/1",
    "file:///etc/passwd",
    "mailto:a@b.example",
    "https://ok.example/cb#f",
    "https://ok.example/cb#",
    "https://ok@evil.example/cb",
    "https://@evil.example/cb",
    "http://localhost:8090%25@evil.example/cb",
    "https://ok.example\\@evil.example/cb",
    "//evil.example/cb",
    "\\evil.example",
    "/cb",
    "",
    "https:evil.example/cb",
    "https:/evil.example/cb",
    "https:///evil.example/cb",
    "http://[fe80::1%25eth0]/cb",
    "https://bücher.example/cb",
    "https://ok.example/a b",
    "http://evil.example/cb",
    "http://127.0.0.1.evil.example/cb",
    "http://localhost.evil.example/cb",
    "http://192.168.1.1/cb",
    `https://ok.example/${"a".repeat(2000)}`,
  ])("[OA13] %j is unsafe", (uri) => {
    expect(verdict(uri)).toBe("unsafe");
  });

  test.for([
    "https://claude.ai/api/mcp/auth_callback",
    "https://xn--bcher-kva.example/cb",
    "https://ok.example:8443/cb?x=1",
    "http://localhost:8787/callback",
    "http://127.0.0.1:33418/",
    "http://[::1]:1/cb",
    "cursor://anysphere.cursor-mcp/oauth/callback",
  ])("[OA14] %s is usable", (uri) => {
    expect(verdict(uri)).toBe("usable");
  });

  test("[OA14] another app's private scheme is unusable", () => {
    expect(verdict("vscode://x/cb")).toBe("unusable");
    expect(verdict("com.example.app:/cb")).toBe("unusable");
  });

  test("[OA21] loopback names are exchanged and nothing else is", () => {
    expect(loopbackSpellings("http://localhost:5/cb?a=localhost")).toEqual([
      "http://localhost:5/cb?a=localhost",
      "http://127.0.0.1:5/cb?a=localhost",
      "http://[::1]:5/cb?a=localhost",
    ]);
    expect(loopbackSpellings("https://localhost/cb")).toEqual(["https://localhost/cb"]);
    expect(loopbackSpellings("https://claude.ai/cb")).toEqual(["https://claude.ai/cb"]);
    expect(respell("http://localhost:5/cb", "http://127.0.0.1:5/cb")).toBe("http://127.0.0.1:5/cb");
    expect(respell("http://localhost:5/cb", "http://127.0.0.1:6/cb")).toBe("http://localhost:5/cb");
    expect(respell("http://localhost:5/cb", "https://127.0.0.1:5/cb")).toBe("http://localhost:5/cb");
    expect(withHostname("http://[::1]:5/cb", "localhost")).toBe("http://localhost:5/cb");
  });

  test("[OA14] a private address is shown with its scheme, a web one as host and port", () => {
    expect(redirectHostOf("cursor://anysphere.cursor-mcp/oauth/callback")).toBe("cursor://anysphere.cursor-mcp");
    expect(redirectHostOf("http://127.0.0.1:5/cb")).toBe("127.0.0.1:5");
  });
});
