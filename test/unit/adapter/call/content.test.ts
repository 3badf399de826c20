import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../shared/json.ts";
import { resourceContent, toolContent } from "../../../../local-agent/adapter/call/content.ts";

const keep = (base64: string) => Promise.resolve({ path: "/tmp/kept.bin", bytes: base64.length });
const refuse = () => Promise.reject(new Error("the disk is full"));
const shown = (result: object) => toolContent({ content: [], ...result }, keep);
const PNG = Buffer.from("\x89PNG\r\n\x1a\nIHDR", "latin1").toString("base64");
const JPEG = Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF", "latin1").toString("base64");
const WEBP = Buffer.from("RIFF\x24\0\0\0WEBPVP8 ", "latin1").toString("base64");
const text = (value: string) => ({ type: "text" as const, text: value });

describe("a tool's result", () => {
  test("[CL10] shows every kind of content", async () => {
    const content = [
      text("plain"),
      { type: "image", data: WEBP, mimeType: "image/webp" },
      { type: "image", data: PNG },
      { type: "image", data: JPEG, mimeType: "image/png" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "image", data: "not base64!", mimeType: "image/svg+xml" },
      { type: "audio", data: "aGkh", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a", description: "first" },
      { type: "resource", resource: { uri: "file:///b", text: "body" } },
      { type: "resource", resource: { uri: "file:///c", blob: "aGkh", mimeType: "application/pdf" } },
      { type: "hologram" },
    ];
    expect(await shown({ content })).toEqual([
      text("plain"),
      { type: "image", data: WEBP, mimeType: "image/webp" },
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "image", data: JPEG, mimeType: "image/jpeg" },
      text("[Image (image/png), 4 bytes, saved to /tmp/kept.bin]"),
      text("[Image (image/svg+xml), 11 bytes, saved to /tmp/kept.bin]"),
      text("[Audio (audio/wav), 4 bytes, saved to /tmp/kept.bin]"),
      text("[Resource: a] file:///a - first"),
      text("[Resource: file:///b]\nbody"),
      text("[Resource file:///c (application/pdf), 4 bytes, saved to /tmp/kept.bin]"),
      text("[content of an unknown type: hologram]"),
    ]);
  });

  test("[CL10] says so when binary data cannot be kept", async () => {
    const content = [{ type: "audio" as const, data: "aGkh", mimeType: "audio/wav" }];
    expect(await toolContent({ content }, refuse)).toEqual([text("[Audio (audio/wav) could not be saved: the disk is full]")]);
  });

  test("[CL11] shows structured content alone, and beside a text that says something else", async () => {
    expect(await shown({ structuredContent: { a: 1 } })).toEqual([text('{\n  "a": 1\n}')]);
    expect(await shown({ content: [text("ok")], structuredContent: { m: "pong" } })).toEqual([text("ok"), text('{\n  "m": "pong"\n}')]);
  });

  test.each([
    ["in another order and spacing", [text('{ "b": [1], "a": 1 }')], { a: 1, b: [1] }],
    ["beside a sentence", [text("Found it:"), text('{"a":1}')], { a: 1 }],
    ["wrapped as a result", [text("plain words")], { result: "plain words" }],
    ["as a wrapped list", [text("[1,2]")], { result: [1, 2] }],
    ["under whatever key", [text("plain words")], { content: "plain words" }],
  ])("[CL11] shows structured content once when a text has it %s", async (_how, content, structuredContent) => {
    expect(await shown({ content, structuredContent })).toEqual(content);
  });

  test("[CL11] says so when structured content is nested beyond showing", async () => {
    const deep = Array.from({ length: 20_000 }).reduce<JsonObject>((inner) => ({ a: inner }), {});
    expect(await shown({ structuredContent: deep })).toEqual([text("[structured content that is nested too deeply to be shown]")]);
  });

  test("[CL11] says when there is nothing", async () => {
    expect(await shown({})).toEqual([text("(empty result)")]);
    expect(await shown({ content: [text("")] })).toEqual([text("(empty result)")]);
  });
});

describe("a resource", () => {
  test("[CL12] is shown as text, as an image, or as a file", async () => {
    const contents = [
      { uri: "a:b", text: "body" },
      { uri: "a:c", blob: PNG, mimeType: "application/octet-stream" },
      { uri: "a:d", blob: "aGk=", mimeType: "application/zip" },
    ];
    expect(await resourceContent({ contents }, keep)).toEqual([
      text("body"),
      { type: "image", data: PNG, mimeType: "image/png" },
      text("[Binary resource (application/zip), 4 bytes, saved to /tmp/kept.bin]"),
    ]);
    expect(await resourceContent({ contents: [] }, keep)).toEqual([text("(empty resource)")]);
  });
});
