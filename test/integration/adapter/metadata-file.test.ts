import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../../../local-agent/node/log-sinks.ts";
import { createMetadataFile } from "../../../local-agent/node/metadata-file.ts";
import type { StoredCatalog } from "../../../local-agent/adapter/ports.ts";
import type { Log } from "../../../shared/ports.ts";
import { upstreamCatalog, upstreamTool } from "../../support/server-definitions.ts";
import { tempDir } from "../../support/temp-dir.ts";

const stored: StoredCatalog = { configHash: "hash", catalog: upstreamCatalog({ tools: [upstreamTool("a")] }) };
const place = () => join(tempDir(), "mcp-cache.json");
const store = (path: string) => createMetadataFile({ path, log: silentLog });
const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as { version: number; servers: Record<string, unknown> };

test("[CT22] is compact, private, and leaves nothing beside itself", async () => {
  const path = place();
  await store(path).write("s", stored);
  expect(readFileSync(path, "utf8")).toBe(
    '{"version":1,"servers":{"s":{"configHash":"hash","tools":[{"name":"a","description":"Does a.","inputSchema":{"type":"object","properties":{}}}],"resources":[],"prompts":[],"cachedAt":1000000}}}',
  );
  expect(readdirSync(join(path, ".."))).toEqual(["mcp-cache.json"]);
  if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600); // oxlint-disable-line vitest/no-conditional-expect
});

test("[CT22] keeps what others wrote as it is", async () => {
  const path = place();
  const theirs = { configHash: "theirs", tools: [{ name: "x", future: { a: 1 } }], resources: [], cachedAt: 1, added: true };
  writeFileSync(path, JSON.stringify({ version: 1, servers: { theirs, odd: 5 } }));
  await store(path).write("s", stored);
  expect(read(path).servers).toMatchObject({ theirs, odd: 5 });
});

test.each([
  ["damaged", "{"],
  ["empty", ""],
  ["of another version", '{"version":2,"servers":{"x":{}}}'],
  ["of another shape", '{"version":1,"servers":[]}'],
  ["no text", "\u0000\ufffe"],
])("[CT22] counts as none when it is %s, and is replaced", async (_what, content) => {
  const path = place();
  writeFileSync(path, content);
  expect(await store(path).read()).toEqual(new Map());
  await store(path).write("s", stored);
  expect(await store(path).read()).toEqual(new Map([["s", stored]]));
});

test("[CT22] stays within what is read of it: what is written has room first, then the latest, and how many were left out is logged", async () => {
  const path = place();
  const logged: unknown[] = [];
  const log: Log = { event: (...said) => void logged.push(said) };
  const bounded = createMetadataFile({ path, log, maxBytes: 5000 });
  const of = (listedAt: number, chars: number): StoredCatalog => ({
    configHash: "é".repeat(chars / 2),
    catalog: { ...stored.catalog, listedAt },
  });
  await bounded.write("oldest", of(1, 1000));
  await bounded.write("large", of(2, 3000));
  expect(logged).toEqual([]);
  await bounded.write("latest", of(3, 1000));
  expect([...(await bounded.read()).keys()]).toEqual(["large", "latest"]);
  await bounded.write("of before", of(0, 2000));
  expect([...(await bounded.read()).keys()]).toEqual(["latest", "of before"]);
  await Promise.all([bounded.write("huge", of(4, 6000)), bounded.write("latest", of(5, 1000))]);
  expect([...(await bounded.read()).keys()]).toEqual(["latest", "of before"]);
  expect(logged).toEqual([1, 1, 1].map((servers) => ["warn", "metadata.lost", { servers, reason: "no room" }]));
  expect(statSync(path).size).toBeLessThanOrEqual(5000);
});

test("[CT22] of exactly what is read is written and read", async () => {
  const path = place();
  await store(path).write("s", stored);
  const { size } = statSync(path);
  const exact = createMetadataFile({ path, log: silentLog, maxBytes: size });
  await exact.write("s", stored);
  expect(await exact.read()).toEqual(new Map([["s", stored]]));
});

test("[CT22] that cannot be written stops nothing", async () => {
  const path = place();
  mkdirSync(path);
  expect(await store(path).read()).toEqual(new Map());
  await store(path).write("s", stored);
  await store(join(path, "..", "file", "below", "mcp-cache.json")).write("s", stored);
  writeFileSync(join(path, "..", "plain"), "");
  await store(join(path, "..", "plain", "mcp-cache.json")).write("s", stored);
});

test.skipIf(process.platform === "win32")("[CT22] stays a link where it is one", async () => {
  const path = place();
  const target = join(path, "..", "elsewhere.json");
  writeFileSync(target, "{}");
  symlinkSync(target, path);
  await store(path).write("s", stored);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(Object.keys(read(target).servers)).toEqual(["s"]);
});

test("[CT21] several processes that write at once lose nothing", async () => {
  const path = place();
  const writers = ["a", "b", "c"].map((name) => {
    const script = `
      const { createMetadataFile } = await import(${JSON.stringify(join(import.meta.dirname, "../../../local-agent/node/metadata-file.ts"))});
      const store = createMetadataFile({ path: process.env.CACHE, log: { event: (...said) => console.error(said) } });
      for (let index = 0; index < 8; index += 1) await store.write("${name}" + index, ${JSON.stringify(stored)});`;
    return spawn(process.execPath, ["--input-type=module", "-e", script], {
      env: { ...process.env, CACHE: path },
      stdio: ["ignore", "ignore", "pipe"],
    });
  });
  const ends = await Promise.all(writers.map(async (writer) => (await once(writer, "close"))[0] as number));
  expect(ends).toEqual([0, 0, 0]);
  expect(Object.keys(read(path).servers).toSorted()).toEqual(
    ["a", "b", "c"].flatMap((name) => Array.from({ length: 8 }, (_, index) => `${name}${index}`)),
  );
});
