import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { configHash } from "../../../../local-agent/adapter/catalog/config-hash.ts";
import type { ServerTransport } from "../../../../local-agent/adapter/config/server-definition.ts";
import type { JsonObject } from "../../../../shared/json.ts";

const SOCKET: ServerTransport = { kind: "socket", path: "/tmp/x.sock" };
const URL = "https://example.com/mcp";
const ports = {
  env: { FOO: "bar", T: "tok" },
  home: "/h",
  sha256: (text: string) => createHash("sha256").update(text).digest("hex"),
};
const hash = (entry: JsonObject, transport: ServerTransport = SOCKET) => configHash({ entry, transport }, ports);
/** The text that would be hashed. */
const text = (entry: JsonObject, transport: ServerTransport = SOCKET) => configHash({ entry, transport }, { ...ports, sha256: (hashed) => hashed });

describe("the fingerprint that other packages compute, too", () => {
  test.each<[JsonObject, string]>([
    [{ command: "playwright-mcp", args: ["--headless", "--isolated"] }, "34965f2d23927be711ad79101d9933fcd759452da92b24853950d4558d14c1a9"],
    [{ command: "npx", args: ["-y", "demo@1.0.0"], env: { A: "${FOO}" } }, "1f31d340c9c5df782a47bd1b8f8a023d9c22ad7293a3fdde0ca9fbdc28968064"],
    [{ url: URL }, "069fd2b343b9120a4def58018d3bfbd50d5c975ac8a25adab75cd2c62b00ce42"],
    [
      { url: URL, headers: { Authorization: "Bearer ${T}" }, auth: "bearer", bearerToken: "${T}" },
      "7e3ece24dbc71d4c23cf9cde66c3bccb1aac7fd59476074e517af683b8e8e88f",
    ],
    [
      { url: URL, protocolVersion: "auto", includeTools: ["a*"], excludeTools: ["b"] },
      "02daaea8e2c7c895868bab2dc801dad314773aba2e9ca97e96a2833884535a5e",
    ],
    [{ socket: "/tmp/x.sock" }, "9449dd3094bcf7578c3e8a6b900dc7fa3661716cae79d59a4261d998876b72ab"],
    [{ url: URL, bearerToken: "!echo hi" }, "eca9d87af6f462a74ba7db6b3e7f62eabdcda5d36abc62ccc0fbb5f09e2aadde"],
  ])("[CT1] is the golden one of %j", (entry, expected) => {
    expect(hash(entry)).toBe(expected);
  });

  // Made by running the published 2.36.0 with HOME=/h FOO=bar T=tok.
  test.each<[JsonObject, string]>([
    [{ command: "x", env: { A: "{env:FOO}" } }, "9481edc83c03dea359cf3785514ecec0eed956d8769024fbb289003946b21308"],
    [{ command: "x", env: { A: "$env:FOO" } }, "9481edc83c03dea359cf3785514ecec0eed956d8769024fbb289003946b21308"],
    [{ command: "x", env: { A: "${NOPE}" } }, "69f7fbe07db407b1961b9091baa5377d53fb75318898b3ba4d1ad9334e5a24be"],
    [{ command: "x", env: { A: "!echo ${FOO}" } }, "c5f444bfd29d462ddcd9ca645e419626bb731642318c5355405ce1fda498bffc"],
    [{ command: "x", env: { A: "!!echo ${FOO}" } }, "65a4544ec9e0b1fb7ddc84ea4ea8faeb642c50c67bbbb33179c511a360db3ce2"],
    [{ command: "x", cwd: "~/${FOO}" }, "2af3fdbedf41f16738a54a96f48b2fbf870e3ac64d1f8692f80275d338ca62a3"],
    [{ socket: "~/x.sock" }, "93531e08e837ce4a137c5c88673335ce751a9a4f950caf33e8aeb2b1c84a6280"],
    [{ url: URL, headers: {} }, "e16bdf328c93f765ce08ab7a50d4dd141cd183d255d2affacd8ae53482d483df"],
    [
      { url: URL, requestHeadersCommand: { command: "${FOO}", args: ["${FOO}"], env: { A: "${FOO}" }, timeoutMs: 5 } },
      "a63d1b8529c3316cbb8d1d972b0afec53f0c0751f57268e1ebdc55dab825c563",
    ],
    [{ url: URL, requestHeadersCommand: { command: "a" } }, "417c25592f7adc10059334377a926d785b0b32e7b29100fee389538324e3fed3"],
    [{ url: "https://${FOO}/mcp" }, "ccb212998ecca81d1872d53f4114f8d8b92058079841ba6dc575c119cfacd4e5"],
    [{ url: URL, bearerTokenEnv: "T", auth: false }, "f0d408b2e420754d5084063ee3455b3b5ef9ffbde03a7bf4612b21f9706d1b99"],
    [{ command: "x", args: ["${FOO}"] }, "38da363d82d8d977e985ba4187649ad17b812753aa089257df0e0096271011ee"],
    [{ command: "x", exposeResources: false, cwd: "" }, "1493664364a9783b557518b9b780d24294efe00e82a49238e6a6a7580b6345db"],
    [{ command: "x", env: { B: "1", A: "2" } }, "dfd10add0e413675aca37eeabcf72a194513fa38fcc94b10617120f6a43c4ebb"],
  ])("[CT2] expands as the published adapter does in %j", (entry, expected) => {
    expect(hash(entry)).toBe(expected);
  });

  test("[CT2] lets a variable stand in for a token that is not configured", () => {
    expect(text({ url: URL, bearerTokenEnv: "T" })).toContain('"bearerToken":"tok","bearerTokenEnv":"T"');
    expect(text({ url: URL, bearerTokenEnv: "T", bearerToken: "own" })).toContain('"bearerToken":"own"');
    expect(text({ url: URL, bearerTokenEnv: "NOPE" })).toContain('"bearerToken":undefined');
  });

  test("[CT2] differs from every kept one when the address cannot be known", () => {
    expect(text({ url: "https://${NOPE}/mcp" })).toContain('"url":"https://${NOPE}/mcp"');
  });

  test("[CT2] takes an Agent Plugin's values as they are", () => {
    const plugin: ServerTransport = {
      kind: "stdio",
      command: "x",
      args: [],
      env: {},
      cwd: null,
      inheritEnv: true,
      plugin: { root: "/p", data: "/d" },
    };
    expect(text({ command: "x", env: { A: "${FOO}" } }, plugin)).toContain('"env":{"A":"${FOO}"}');
  });

  test("[CT3] does not depend on the order of keys, nor on fields that say how a server is used", () => {
    const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonObject[string]>;
    const entry = fc.dictionary(
      fc.constantFrom("command", "args", "env", "url", "headers", "toolPrefix", "lifecycle", "requestHeadersCommand"),
      value,
    );
    fc.assert(
      fc.property(entry, (entry) => {
        const counting = Object.entries(entry).filter(([name]) => name !== "toolPrefix" && name !== "lifecycle");
        expect(hash(reversed(entry) as JsonObject)).toBe(hash(entry));
        expect(hash(Object.fromEntries(counting))).toBe(hash(entry));
      }),
    );
  });

  test("[CT1] reads what a key called __proto__ holds", () => {
    const entry = JSON.parse('{"command":"x","env":{"__proto__":"1"}}') as JsonObject;
    expect(text(entry)).toContain('"env":{"__proto__":"1"}');
    expect(text(JSON.parse('{"__proto__":{"command":"x"}}') as JsonObject)).toContain('"command":undefined');
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
