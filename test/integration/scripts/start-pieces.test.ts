/** What a start has to read before anything is asked of it: heavy parts belong to the pieces that come with their first use. */
import { build, type Metafile } from "esbuild";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
/** Of each of these, reading it costs more than all that a start does. */
const HEAVY = {
  search: /node_modules\/minisearch\/|adapter\/catalog\/search\.ts/,
  patterns: /node_modules\/re2js\//,
  schemas: /node_modules\/ajv\//,
  "MCP client": /node_modules\/@modelcontextprotocol\/client\//,
  HTTP: /node_modules\/undici\//,
  lock: /node_modules\/(?:proper-lockfile|write-file-atomic)\//,
};

test("[PI75] a Pi session starts without what searches, checks arguments, or talks to servers", async () => {
  const { atStart, later } = await piecesOf("local-agent/pi/pi-adapter.ts");

  expect(heavyOf(atStart)).toEqual([]);
  // They are in the bundle, under the names that are looked for.
  expect(heavyOf(later)).toEqual(Object.keys(HEAVY));
});

test("[PI75] Pi itself starts without the adapter", async () => {
  const { atStart, later } = await piecesOf("local-agent/pi/extension.ts");

  const adapter = /local-agent\/adapter\/create-adapter\.ts/;
  expect(atStart.filter((file) => adapter.test(file))).toEqual([]);
  expect(later.filter((file) => adapter.test(file))).toHaveLength(1);
  expect(heavyOf(atStart)).toEqual([]);
});

function heavyOf(files: readonly string[]): readonly string[] {
  return Object.entries(HEAVY).flatMap(([name, pattern]) => (files.some((file) => pattern.test(file)) ? [name] : []));
}

/** Source files by when they are read: with the entry, or when something imports them as it runs. */
async function piecesOf(entry: string): Promise<{ readonly atStart: readonly string[]; readonly later: readonly string[] }> {
  const { metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: ROOT,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    outdir: "never-written",
    external: ["@napi-rs/keyring"],
    write: false,
    metafile: true,
    logLevel: "error",
  });
  const first = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === entry)?.[0] ?? "";
  const read = reached(metafile, first, new Set());
  const inputsOf = (outputs: Iterable<string>) => [...outputs].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}));
  return { atStart: inputsOf(read), later: inputsOf(Object.keys(metafile.outputs).filter((output) => !read.has(output))) };
}

function reached(metafile: Metafile, output: string, seen: Set<string>): Set<string> {
  if (seen.has(output)) return seen;
  seen.add(output);
  for (const { path, kind } of metafile.outputs[output]?.imports ?? []) if (kind === "import-statement") reached(metafile, path, seen);
  return seen;
}
