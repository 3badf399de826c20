import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freshnessOf, fromFileEntry, toFileEntry } from "../../../../local-agent/adapter/catalog/stored-catalog.ts";
import type { UpstreamTool } from "../../../../local-agent/adapter/catalog/upstream-catalog.ts";
import type { StoredCatalog } from "../../../../local-agent/adapter/ports.ts";
import { upstreamCatalog, upstreamTool } from "../../../support/server-definitions.ts";

const DAY = 24 * 60 * 60 * 1000;

describe("how fresh a kept catalog is", () => {
  const freshness = (ttlMs: number | null, age: number) => freshnessOf({ ttlMs, listedAt: 500 * DAY }, 500 * DAY + age);

  test("[CT16] is fresh for as long as the server says, or a week", () => {
    expect(freshness(null, 0)).toBe("cached");
    expect(freshness(null, 7 * DAY)).toBe("cached");
    expect(freshness(1000, 999)).toBe("cached");
  });

  test("[CT17] is stale then, and never gone", () => {
    expect(freshness(null, 7 * DAY + 1)).toBe("stale");
    expect(freshness(1000, 1000)).toBe("stale");
    expect(freshness(0, 0)).toBe("stale");
    expect(freshness(365 * DAY, 8 * DAY)).toBe("stale");
    expect(freshness(null, 400 * DAY)).toBe("stale");
    expect(freshness(null, -1)).toBe("stale");
  });
});

describe("the entry in the file", () => {
  test("[CT18] has the members other packages read", () => {
    const ui = { resourceUri: "ui://x", visibility: ["app"], "pi-mcp-adapter.streamMode": "eager" };
    const schema = { type: "object" } as const;
    const entry = toFileEntry({
      configHash: "hash",
      catalog: {
        tools: [
          {
            name: "a.b",
            title: "T",
            description: "d",
            inputSchema: schema,
            outputSchema: schema,
            annotations: { readOnlyHint: true },
            _meta: { ui },
          },
        ],
        resources: [{ uri: "u", name: "n", description: "d" }],
        prompts: [{ name: "p", arguments: [{ name: "a", required: true }] }],
        instructions: "Do.",
        ttlMs: 0,
        cacheScope: "private",
        listedAt: 5,
      },
    });
    expect(entry).toEqual({
      configHash: "hash",
      tools: [
        {
          name: "a.b",
          title: "T",
          description: "d",
          inputSchema: schema,
          outputSchema: schema,
          annotations: { readOnlyHint: true },
          uiResourceUri: "ui://x",
          uiVisibility: ["app"],
          uiStreamMode: "eager",
        },
      ],
      resources: [{ uri: "u", name: "n", description: "d" }],
      prompts: [{ name: "p", arguments: [{ name: "a", required: true }] }],
      instructions: "Do.",
      ttlMs: 0,
      cacheScope: "private",
      cachedAt: 5,
    });
  });

  test("[CT18] says nothing of what the server did not say", () => {
    expect(toFileEntry({ configHash: "hash", catalog: upstreamCatalog() })).toEqual({
      configHash: "hash",
      tools: [],
      resources: [],
      prompts: [],
      cachedAt: 1_000_000,
    });
  });

  test("[CT18] comes back as it was written", () => {
    const text = fc.string({ unit: "binary", maxLength: 8 });
    const schema = fc
      .dictionary(fc.oneof(text, fc.constant("__proto__")), fc.jsonValue({ maxDepth: 2 }))
      .map((members) => ({ ...members, type: "object" as const }));
    const tool = fc.record(
      {
        name: text,
        inputSchema: schema,
        title: text,
        description: text,
        outputSchema: schema,
        annotations: fc.record({ title: text, readOnlyHint: fc.boolean(), destructiveHint: fc.boolean() }, { requiredKeys: [] }),
        _meta: fc.record({ ui: fc.record({ visibility: fc.subarray(["model", "app"]) }) }),
      },
      { requiredKeys: ["name", "inputSchema"] },
    );
    const resource = fc.record({ uri: text, name: text, title: text, description: text, mimeType: text }, { requiredKeys: ["uri", "name"] });
    const argument = fc.record({ name: text, description: text, required: fc.boolean() }, { requiredKeys: ["name"] });
    const prompt = fc.record(
      { name: text, title: text, description: text, arguments: fc.array(argument, { maxLength: 2 }) },
      { requiredKeys: ["name"] },
    );
    const catalog = fc.record({
      tools: fc.array(tool, { maxLength: 3 }) as fc.Arbitrary<UpstreamTool[]>,
      resources: fc.array(resource, { maxLength: 2 }),
      prompts: fc.array(prompt, { maxLength: 2 }),
      instructions: fc.option(text),
      ttlMs: fc.option(fc.nat()),
      cacheScope: fc.option(fc.constantFrom("public" as const, "private" as const)),
      listedAt: fc.nat(),
    });
    fc.assert(
      fc.property(fc.record({ configHash: text, catalog }) as fc.Arbitrary<StoredCatalog>, (stored) => {
        const file = JSON.stringify(toFileEntry(stored));
        expect(fromFileEntry(JSON.parse(file))).toEqual(JSON.parse(JSON.stringify(stored)));
        expect(JSON.stringify(toFileEntry(fromFileEntry(JSON.parse(file)) as StoredCatalog))).toBe(file);
      }),
    );
  });

  test("[CT19] that cannot be read is none", () => {
    for (const value of [null, 5, "x", [], {}, { configHash: 5, cachedAt: 1 }, { configHash: "x", cachedAt: "1" }, { configHash: "x" }]) {
      expect(fromFileEntry(value)).toBeNull();
    }
  });

  test("[CT19] loses only the parts that cannot be read", () => {
    const stored = fromFileEntry({
      configHash: "x",
      cachedAt: 1,
      tools: [null, { name: 5 }, { name: "fine", description: 7, inputSchema: "no", uiVisibility: "all" }, upstreamTool("good")],
      resources: "none",
      prompts: [{ name: "p", arguments: "none" }, {}],
      ttlMs: "soon",
      cacheScope: "everybody",
      instructions: {},
    });
    expect(stored?.catalog).toEqual({
      tools: [{ name: "fine", inputSchema: { type: "object" }, _meta: { ui: { visibility: [] } } }, upstreamTool("good")],
      resources: [],
      prompts: [{ name: "p" }],
      instructions: null,
      ttlMs: null,
      cacheScope: null,
      listedAt: 1,
    });
  });
});
