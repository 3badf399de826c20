import * as fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import type { OfferedTool } from "../../../../local-agent/adapter/adapter.ts";
import { mcpTool } from "../../../../local-agent/adapter/proxy/mcp-tool.ts";
import { estimateTokens } from "../../../../local-agent/adapter/proxy/token-estimate.ts";
import { TEN_SERVERS } from "../../../fixtures/adapter/ten-servers.ts";

const tokensOf = (tool: OfferedTool): number =>
  encode(JSON.stringify({ name: tool.name, description: tool.description, inputSchema: tool.inputSchema }), { allowedSpecial: "all" }).length;

describe("the tool mcp", () => {
  test("[CL40] has at most 400 tokens with ten servers, names each and says how the talkative ones are used", () => {
    const tool = mcpTool(TEN_SERVERS);
    expect(tokensOf(tool)).toBeLessThanOrEqual(400);
    for (const { name } of TEN_SERVERS) expect(tool.description).toContain(name);
    expect(tool.description).toContain("github: Always resolve the owner");
    expect(tool.description).toContain("postgres: Read-only access Queries run");
    expect(tool.description).toContain("filesystem, memory");
  });

  const name = fc.constantFrom(...TEN_SERVERS.map((server) => server.name), "日本", "Bright Data", "codebase-memory-mcp");
  const words = fc.constantFrom(...TEN_SERVERS.map((server) => server.instructions ?? ""), "使用前请先查询组织名称。", "Grüße 🌉 ".repeat(40));
  const wild = fc.oneof(fc.lorem({ maxCount: 40 }), fc.string({ unit: "binary", maxLength: 300 }), fc.stringMatching(/^[a-z0-9_-]{1,80}$/));

  test.each([
    [400, "servers are called and say in words", name, words],
    [650, "is made of noise", wild, wild],
  ])("[CL40] stays within %i tokens whatever %s", (most, _what, name, words) => {
    const server = fc.record({ name, instructions: fc.option(words) });
    fc.assert(
      fc.property(fc.array(server, { maxLength: 60 }), (servers) => {
        expect(tokensOf(mcpTool(servers))).toBeLessThanOrEqual(most);
      }),
      { numRuns: 50, endOnFailure: true },
    );
  });

  test("[CL40] counts the servers it has no room to name", () => {
    const many = Array.from({ length: 300 }, (_, n) => ({ name: `server-number-${n}`, instructions: null }));
    expect(mcpTool(many).description).toMatch(/server-number-0, .* and 2\d\d more$/s);
  });

  test("[CL40] keeps line breaks and hidden characters of a server out of its text", () => {
    const tool = mcpTool([{ name: "a\nb", instructions: "one\n\ntwo\u202e\n```\nthree" }]);
    expect(tool.description).toMatch(/Servers:\na⏎b: one two‹U\+202E› three$/);
  });

  test("[CL41] has the same bytes for the same servers", () => {
    expect(JSON.stringify(mcpTool(TEN_SERVERS))).toBe(JSON.stringify(mcpTool(structuredClone(TEN_SERVERS))));
  });

  test("[CL42] has a schema of JSON Schema's own words only", () => {
    const words = new Set(["type", "properties", "description", "anyOf"]);
    const { properties, ...rest } = mcpTool([]).inputSchema as { properties: Record<string, object> };
    for (const schema of [rest, ...Object.values(properties)]) for (const word of Object.keys(schema)) expect(words).toContain(word);
  });
});

test("[CL40] the estimate is not below what English text needs", () => {
  for (const { instructions } of TEN_SERVERS) {
    const text = instructions ?? "";
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(encode(text).length * 0.85);
  }
});
