/** What the host offers and answers, held against the public factories of the installed Pi. */
import {
  createBashToolDefinition,
  createEditToolDefinition,
  createFindToolDefinition,
  createGrepToolDefinition,
  createLsToolDefinition,
  createPowerShellToolDefinition,
  createReadToolDefinition,
  createWriteToolDefinition,
} from "@earendil-works/pi-coding-agent";
import { cpSync, readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../shared/json.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { textOf, toolHostUnderTest, writeTree } from "../../support/tool-host-under-test.ts";

const shell = { exposeSessionEnvironment: false };

function piTools(cwd: string) {
  return [
    createReadToolDefinition(cwd),
    createWriteToolDefinition(cwd),
    createEditToolDefinition(cwd),
    createLsToolDefinition(cwd),
    createGrepToolDefinition(cwd),
    createFindToolDefinition(cwd),
    createBashToolDefinition(cwd, shell),
    createPowerShellToolDefinition(cwd, shell),
  ];
}

test("[TL1] names, texts, schemas and prompt lines are those of the installed Pi", async () => {
  const { host } = await toolHostUnderTest({}, { tools: ["read", "write", "edit", "ls", "grep", "find", "bash", "powershell"] });
  const expected = piTools("/").map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: JSON.parse(JSON.stringify(tool.parameters)) as unknown,
    promptSnippet: tool.promptSnippet,
    promptGuidelines: tool.promptGuidelines,
  }));
  expect(host.list().map(({ title: _title, annotations: _annotations, ...rest }) => rest)).toEqual(expected);
  expect(new Set(host.list().map((tool) => tool.title)).size).toBe(8);
});

test("[TL1] annotations say truthfully what a call can do", async () => {
  const { host } = await toolHostUnderTest();
  const by = (trait: "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint") =>
    host.list().flatMap((tool) => (tool.annotations[trait] ? [tool.name] : []));
  expect(by("readOnlyHint")).toEqual(["read", "ls", "grep", "find"]);
  expect(by("destructiveHint")).toEqual(["write", "edit", "bash"]);
  expect(by("idempotentHint")).toEqual(["read", "write", "ls", "grep", "find"]);
  expect(by("openWorldHint")).toEqual(["bash"]);
});

test("[TL1] a call answers what Pi's tool answers directly", async () => {
  const files = {
    "a.txt": "one\ntwo\nthree needle\n",
    "long.txt": Array.from({ length: 3_000 }, (_, line) => `line ${line} needle`).join("\n"),
    "src/b.ts": "const needle = 1;\n",
    ".hidden/c.txt": "needle\n",
    "empty/": "",
  };
  const { root, call } = await toolHostUnderTest(files);
  const twin = join(tempDir("twin"), "root");
  cpSync(root, twin, { recursive: true });
  // Pi looks for ripgrep on PATH; the comparison needs one.
  const { rgPath } = (await import("@vscode/ripgrep")) as { rgPath: string };
  const path = process.env["PATH"];
  process.env["PATH"] = `${join(rgPath, "..")}:${path ?? ""}`;
  process.env["PI_OFFLINE"] = "1";
  const tools = new Map(piTools(twin).map((tool) => [tool.name, tool]));
  const cases: readonly (readonly [string, JsonObject])[] = [
    ["read", { path: "a.txt" }],
    ["read", { path: "a.txt", offset: 2, limit: 1 }],
    ["read", { path: "a.txt", limit: -1 }],
    ["read", { path: "long.txt" }],
    ["read", { path: "long.txt", offset: 2_990 }],
    ["read", { path: "a.txt", offset: 99 }],
    ["read", { path: "missing.txt" }],
    ["ls", {}],
    ["ls", { path: "src" }],
    ["ls", { path: "empty" }],
    ["ls", { path: "a.txt" }],
    ["ls", { path: "missing" }],
    ["ls", { limit: 2 }],
    ["grep", { pattern: "needle", path: "a.txt" }],
    ["grep", { pattern: "needle", path: "src" }],
    ["grep", { pattern: "NEEDLE", path: "a.txt", ignoreCase: true, context: 1 }],
    ["grep", { pattern: "needle", path: "long.txt", limit: 5 }],
    ["grep", { pattern: "needle", glob: "*.ts" }],
    ["grep", { pattern: "no such thing" }],
    ["grep", { pattern: "(" }],
    ["grep", { pattern: "x", path: "missing" }],
    ["write", { path: "new/file.txt", content: "äöü\r\n" }],
    ["edit", { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] }],
    ["edit", { path: "a.txt", edits: [{ oldText: "absent", newText: "2" }] }],
    ["edit", { path: "missing.txt", edits: [{ oldText: "two", newText: "2" }] }],
    ["bash", { command: "echo out; echo err >&2" }],
    ["bash", { command: "pwd >/dev/null; exit 7" }],
    ["bash", { command: "sleep 5", timeout: 0.2 }],
    ["bash", { command: "true", timeout: -1 }],
    ["bash", { command: "kill -9 $$" }],
  ];
  for (const [name, args] of cases) {
    const ours = await call(name, args);
    const direct = await tools
      .get(name)!
      .execute("t", args as never, new AbortController().signal, undefined, undefined as never)
      .then(
        (result) => ({ text: result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n"), isError: result.isError === true }),
        (error: Error) => ({ text: error.message, isError: true }),
      );
    const text = textOf(ours).replaceAll(root, "ROOT");
    expect({ name, args, text, isError: ours.isError }).toEqual({ name, args, ...direct, text: direct.text.replaceAll(twin, "ROOT") });
  }
  expect(readFileSync(join(root, "a.txt"))).toEqual(readFileSync(join(twin, "a.txt")));
  expect(readFileSync(join(root, "new/file.txt"))).toEqual(readFileSync(join(twin, "new/file.txt")));
  process.env["PATH"] = path;
});

test("[TL3] arguments are rewritten, coerced and validated as Pi does", async () => {
  const { call, root } = await toolHostUnderTest({ "a.txt": "one\ntwo\n" });
  expect(textOf(await call("read", { path: "a.txt", offset: "2", limit: null, unknown: 1 }))).toContain("two");
  expect((await call("edit", { path: "a.txt", oldText: "one", newText: "1" })).isError).toBe(false);
  expect((await call("edit", { path: "a.txt", edits: JSON.stringify([{ oldText: "two", newText: "2" }]) })).isError).toBe(false);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("1\n2\n");
  const invalid = await call("write", { path: "b.txt", content: { big: "x".repeat(100_000) } });
  expect(invalid.isError).toBe(true);
  expect(textOf(invalid)).toMatch(/^Validation failed for tool "write":\n {2}- content/);
  expect(textOf(invalid).length).toBeLessThan(2_100);
  expect(textOf(await call("nothing", {}))).toBe('there is no tool "nothing" here');
  expect(textOf(await call("powershell", { command: "1" }))).toBe('there is no tool "powershell" here');
});

test("[TL3] what was prepared is what is executed, and only once", async () => {
  const { host, root } = await toolHostUnderTest({ "a.txt": "one\n" });
  const args: Record<string, string> = { path: "a.txt", oldText: "one", newText: "1" };
  const signal = new AbortController().signal;
  const prepared = await host.prepare({ name: "edit", args, callId: "p", signal, onProgress: () => {} });
  if (!prepared.ok) throw new Error(textOf(prepared.error));
  expect(prepared.value.args).toEqual({ path: "a.txt", edits: [{ oldText: "one", newText: "1" }] });
  args["newText"] = "changed after approval";
  expect((await prepared.value.execute()).isError).toBe(false);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("1\n");
  expect(textOf(await prepared.value.execute())).toContain("was not run");
  const second = await host.prepare({ name: "write", args: { path: "b.txt", content: "x" }, callId: "q", signal, onProgress: () => {} });
  if (!second.ok) throw new Error(textOf(second.error));
  second.value.discard();
  expect(textOf(await second.value.execute())).toContain("was not run");
});

test("[TL4] a tool that throws and a command that fails both answer isError", async () => {
  const { call } = await toolHostUnderTest();
  expect((await call("read", { path: "missing" })).isError).toBe(true);
  const failed = await call("bash", { command: "echo partial; exit 3" });
  expect(failed.isError).toBe(true);
  expect(textOf(failed)).toBe("partial\n\n\nCommand exited with code 3");
  expect(failed.structuredContent).toMatchObject({ output: "partial\n", exit_code: 3 });
});

test("[TL5] images are passed on, a large one resized; details never, structured content of shells only", async () => {
  const { call, root } = await toolHostUnderTest({ "a.txt": "x" });
  writeTree(root, { "small.png": png(8, 8), "large.png": png(2_400, 1_200) });
  const small = await call("read", { path: "small.png" });
  expect(small.content.map((part) => part.type)).toEqual(["text", "image"]);
  expect(small.content[1]).toMatchObject({ mimeType: "image/png", data: png(8, 8).toString("base64") });
  const large = await call("read", { path: "large.png" });
  expect(textOf(large)).toContain("original 2400x1200, displayed at 2000x1000");
  for (const outcome of [small, large, await call("read", { path: "a.txt" }), await call("ls", {})]) {
    expect(Object.keys(outcome).toSorted()).toEqual(["content", "isError"]);
  }
  const long = await call("bash", { command: "seq 5000" });
  expect(Object.keys(long).toSorted()).toEqual(["content", "isError", "structuredContent"]);
  expect(long.structuredContent).toMatchObject({ output: textOf(long), truncated: true, exit_code: 0 });
});

test("[TL5] an image is resized beside the host, which goes on serving", async () => {
  const { call, root } = await toolHostUnderTest({ "a.txt": "x" });
  writeTree(root, { "large.png": png(2_200, 1_600) });
  let resized = false;
  const image = call("read", { path: "large.png" }).then(() => (resized = true));
  await call("read", { path: "a.txt" });
  expect(resized).toBe(false);
  await image;
});

test("[TL2] an unknown tool is refused before anything starts", async () => {
  await expect(toolHostUnderTest({}, { tools: ["read", "cat"] })).rejects.toThrow(/^unknown tool cat: choose from read, write/);
  const { host } = await toolHostUnderTest({}, { tools: ["grep", "read"] });
  expect(host.list().map((tool) => tool.name)).toEqual(["read", "grep"]);
});

/** A grey PNG, built here so that no binary file is kept. */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "ascii"), data]);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, 0x80);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
