/** Published servers as exposed upstreams: real processes, real SDK clients of both eras. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clientOf, passingSurface } from "../../support/passing-surface.ts";
import { tempDir } from "../../support/temp-dir.ts";

const PACKAGES = "../node_modules/@modelcontextprotocol";
const EVERYTHING = { file: `${PACKAGES}/server-everything/dist/index.js`, speaks: "legacy" } as const;
const MEMORY = { file: `${PACKAGES}/server-memory/dist/index.js`, speaks: "legacy" } as const;

describe.each(["legacy", "modern"] as const)("a %s client of published servers", (era) => {
  test("[PT20] [PT24] uses server-everything: tools, progress, resources, prompts, completion", async () => {
    await using surface = passingSurface({ everything: EVERYTHING });
    await using connected = await clientOf(surface.surface, { era });
    const { client } = connected;
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    expect(tools).toContain("echo");
    expect((await client.callTool({ name: "echo", arguments: { message: "hi" } })).content).toEqual([{ type: "text", text: "Echo: hi" }]);
    const reports: number[] = [];
    const long = { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } };
    await client.callTool(long, { onprogress: ({ progress }) => reports.push(progress) });
    expect(reports).toEqual([1, 2, 3]);
    const [resource] = (await client.listResources()).resources;
    expect((await client.readResource({ uri: resource?.uri ?? "" })).contents).toHaveLength(1);
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(1);
  });

  test("[PT2] [PT48] uses server-filesystem and server-memory side by side", async () => {
    const root = join(tempDir(), "shared");
    await mkdir(root);
    await writeFile(join(root, "note.txt"), "water the plants");
    const files = { file: `${PACKAGES}/server-filesystem/dist/index.js`, flags: [root], speaks: "legacy" } as const;
    await using surface = passingSurface({ files, memory: MEMORY });
    await using connected = await clientOf(surface.surface, { era });
    const { client } = connected;
    const read = await client.callTool({ name: "files_read_text_file", arguments: { path: join(root, "note.txt") } });
    expect(JSON.stringify(read.content)).toContain("water the plants");
    const entities = [{ name: "ada", entityType: "person", observations: ["counts"] }];
    await client.callTool({ name: "memory_create_entities", arguments: { entities } });
    expect(JSON.stringify((await client.callTool({ name: "memory_read_graph", arguments: {} })).content)).toContain("ada");
  });
});
