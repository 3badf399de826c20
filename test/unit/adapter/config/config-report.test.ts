import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../shared/json.ts";
import { readConfigDocument } from "../../../../local-agent/adapter/config/config-document.ts";
import { configReport, type ConfigReport } from "../../../../local-agent/adapter/config/config-report.ts";
import { mergeLayers } from "../../../../local-agent/adapter/config/merge.ts";

function report(content: JsonValue): ConfigReport {
  const layer = { origin: { layer: "user", file: "/u.json" }, inProject: false, document: readConfigDocument(content), plugin: null } as const;
  return configReport(mergeLayers([layer], { env: {}, project: "/p", projectSettings: "use", warnings: [], sources: [] }));
}

function valueOf(entry: JsonObject, field: string): string | undefined {
  const [server] = report({ mcpServers: { x: entry } }).servers;
  return server?.fields.find(({ name }) => name === field)?.value;
}

test.each<[JsonObject, string, string]>([
  [
    { command: "npx", env: { KEY: "s3cret", FROM: "${KEY}", ASKED: "!pass show key", TEXT: "!!s3cret", MIXED: "x-${KEY}" } },
    "env",
    "KEY (set), FROM ${KEY}, ASKED !pass show key, TEXT (set), MIXED (set)",
  ],
  [{ url: "https://a.example/mcp", headers: { Authorization: "Bearer s3cret", "X-A": "$env:A" } }, "headers", "Authorization (set), X-A $env:A"],
  [{ url: "https://a.example/mcp", bearerToken: "s3cret" }, "bearerToken", "(set)"],
  [{ url: "https://a.example/mcp", bearerToken: "!op read token" }, "bearerToken", "!op read token"],
  [{ url: "https://a.example/mcp?key=s3cret#s3cret" }, "url", "https://a.example/mcp?(set)"],
  [{ url: "${BASE}/mcp" }, "url", "${BASE}/mcp"],
  [{ url: "https://a.example", oauth: { clientId: "id", clientSecret: "s3cret" } }, "oauth", "clientId (set), clientSecret (set)"],
  [{ url: "https://a.example", oauth: false }, "oauth", "false"],
  [
    { url: "https://a.example", requestHeadersCommand: { command: "h", args: ["--token", "s3cret"], env: { A: "s3cret" }, timeoutMs: 5 } },
    "requestHeadersCommand",
    "h --token (set) (A (set)) within 5 ms",
  ],
  [
    { command: "npx", args: ["-y", "a b", "--api-key", "s3cret", "--token=s3cret", "API_KEY=s3cret", "--header", "s3cret: s3cret"] },
    "args",
    '-y "a b" --api-key (set) --token=(set) API_KEY=(set) --header (set)',
  ],
  [
    { command: "npx", args: ["Bearer s3cret", "postgres://me:s3cret@h/db?x=s3cret", "ghp_s3cret12345678"] },
    "args",
    "(set) postgres://(set)@h/db?(set) (set)",
  ],
  [{ command: "npx", args: ["--no-auth", "-v"] }, "args", "--no-auth -v"],
  [{ command: "npx", args: ["--token", "-s3cret", "--key", "--s3cret=", "-x"] }, "args", "--token (set) --key (set) -x"],
  [{ command: "npx", args: ["--auth", "--port", "80", "-H", "X-Any: s3cret", "-H", "X: ${KEY}"] }, "args", "--auth --port 80 -H (set) -H (set)"],
  [
    {
      command: "npx",
      args: ["--header=X-Any: s3cret", "--bearer=s3cret", "--bearer=${KEY}", "--base=https://s3cret@h/p?s3cret", "DB=pg://a:s3cret@h"],
    },
    "args",
    "--header=(set) --bearer=(set) --bearer=${KEY} --base=https://(set)@h/p?(set) DB=pg://(set)@h",
  ],
  [{ command: "npx", somebodysField: "s3cret" }, "somebodysField", "(set)"],
  [{ command: "npx", directTools: ["a", "b"] }, "directTools", '["a","b"]'],
])("[UC71] %j shows %s as %s", (entry, field, expected) => {
  expect(valueOf(entry, field)).toBe(expected);
});

test("[UC71] nothing of an entry that cannot be understood is shown", () => {
  const [server] = report({ mcpServers: { x: { command: ["npx", "s3cret"], url: "s3cret" } } }).servers;
  expect(server).toMatchObject({
    state: "invalid",
    fields: [
      { name: "command", value: "(set)" },
      { name: "url", value: "(set)" },
    ],
  });
});

test("[UC71] no value of variables, headers, tokens and OAuth is ever in a report, whatever it is", () => {
  const secret = fc.string({ minLength: 6 }).map((text) => `S3CRET${text.replaceAll(/[^\w ]/g, "")}`);
  fc.assert(
    fc.property(secret, fc.boolean(), (text, isValid) => {
      const remote = {
        url: isValid ? "https://a.example" : 5,
        headers: { A: text, B: `Bearer ${text}` },
        bearerToken: text,
        oauth: { clientSecret: text },
      };
      const local = { command: "a", env: { A: text, B: [text] }, requestHeadersCommand: { command: "h", env: { A: text } } };
      const lines = JSON.stringify(
        report({
          mcpServers: { remote, local, good: { command: "a", env: { A: text } } },
          settings: { elsewhere: { key: text }, idleTimeout: text },
        }),
      );
      expect(lines).not.toContain("S3CRET");
    }),
  );
});

test("[UC70] settings come with the file that set them", () => {
  expect(report({ settings: { toolPrefix: "none", approveTools: ["a_*"], theirs: "s3cret" } }).settings).toEqual([
    { name: "toolPrefix", value: "none", origin: { layer: "user", file: "/u.json" } },
    { name: "approveTools", value: '["a_*"]', origin: { layer: "user", file: "/u.json" } },
    { name: "theirs", value: "(set)", origin: { layer: "user", file: "/u.json" } },
  ]);
});
