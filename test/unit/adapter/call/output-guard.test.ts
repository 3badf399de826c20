import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { guardContent, guardRawResult, utf8Length } from "../../../../local-agent/adapter/call/output-guard.ts";
import { isJsonObject } from "../../../../shared/json.ts";

const BOUNDS = { maxBytes: 51_200, maxLines: 2_000, detailsMaxBytes: 16_384 };
const text = (value: string) => ({ type: "text" as const, text: value });

function files() {
  const kept: string[] = [];
  return { kept, keepText: (whole: string) => Promise.resolve(`/tmp/output-${kept.push(whole)}.txt`) };
}

describe("the output guard", () => {
  test("[CL20] passes what is within the bounds", async () => {
    const content = [text("a".repeat(51_200))];
    expect(await guardContent(content, BOUNDS, files().keepText)).toEqual({ content, cut: null });
  });

  test("[CL20] shows the beginning of a large text and names the file with all of it", async () => {
    const { kept, keepText } = files();
    const whole = `${"line of text\n".repeat(250_000)}end`;
    const { content, cut } = await guardContent([text(whole)], BOUNDS, keepText);
    const shown = content[0]?.type === "text" ? content[0].text : "";
    expect(utf8Length(shown)).toBeLessThanOrEqual(51_200);
    expect(shown.split("\n").length).toBeLessThanOrEqual(2_000);
    expect(shown).toContain("/tmp/output-1.txt");
    expect(kept).toEqual([whole]);
    expect(cut).toMatchObject({ bytes: whole.length, lines: 250_001, path: "/tmp/output-1.txt" });
  });

  test("[CL20] holds for every text, and cuts no character in two", async () => {
    const bounds = { maxBytes: 1_000, maxLines: 12, detailsMaxBytes: 1 };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "binary", maxLength: 800 })), fc.constantFrom("\n", "", "🌉"), async (parts, glue) => {
        const given = parts.map((part) => text(`${part}${glue}`.repeat(3)));
        const { kept, keepText } = files();
        const { content, cut } = await guardContent(given, bounds, keepText);
        const shown = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
        const whole = given.map((block) => block.text).join("\n");
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(1_000);
        expect(shown.split("\n").length).toBeLessThanOrEqual(12);
        expect(shown.isWellFormed() || !whole.isWellFormed()).toBe(true);
        expect(kept).toEqual(cut === null ? [] : [whole]);
      }),
    );
  });

  test("[CL20] counts bytes as UTF-8 does", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => utf8Length(value) === Buffer.byteLength(value)));
    expect(utf8Length("\ud800a\udc00")).toBe(7);
  });

  test("[CL20] lets images through and counts several texts as one", async () => {
    const image = { type: "image" as const, data: "a".repeat(200_000), mimeType: "image/png" };
    const half = text("x".repeat(30_000));
    const { content } = await guardContent([half, image, half], BOUNDS, files().keepText);
    expect(content).toHaveLength(2);
    expect(content[1]).toBe(image);
  });

  test("[CL20] says so when the whole text cannot be kept", async () => {
    const { content } = await guardContent([text("x".repeat(60_000))], BOUNDS, () => Promise.reject(new Error("the disk is full")));
    expect(JSON.stringify(content)).toContain("could not be kept: the disk is full");
  });

  test("[CL21] is off where the settings say so", async () => {
    const content = [text("x".repeat(600_000))];
    expect(await guardContent(content, null, files().keepText)).toEqual({ content, cut: null });
    expect(await guardRawResult({ a: "x".repeat(600_000) }, null, files().keepText)).toMatchObject({ a: expect.any(String) as unknown });
  });
});

describe("the raw result", () => {
  test("[CL22] is kept while it is small", async () => {
    const result = { content: [text("a")], structuredContent: { a: 1 } };
    expect(await guardRawResult(result, BOUNDS, files().keepText)).toEqual(result);
  });

  test("[CL22] is a summary with a file when it is large, which says what was left out", async () => {
    const { kept, keepText } = files();
    const result = { content: [text("a".repeat(20_000))], structuredContent: { rows: ["b".repeat(9_000)], total: 7 } };
    expect(await guardRawResult(result, BOUNDS, keepText)).toMatchObject({
      omitted: true,
      path: "/tmp/output-1.txt",
      contentCount: 1,
      content: [{ type: "text" }],
      structuredContent: { omitted: true, keptFields: 1, droppedFields: 1, keys: ["rows", "total"], fields: { total: 7 } },
    });
    expect(JSON.parse(kept[0] ?? "")).toEqual(result);
  });

  test("[CL22] has a bounded summary whatever it is", async () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}${"k".repeat(300)}`, n]));
    const result = { content: Array.from({ length: 5_000 }, () => text("a")), structuredContent: wide };
    const summary = await guardRawResult(result, BOUNDS, files().keepText);
    expect(isJsonObject(summary) && JSON.stringify(summary).length).toBeLessThan(16_384);
  });
});
