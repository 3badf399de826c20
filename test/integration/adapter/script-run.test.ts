/** `mcpScript` from its arguments to its content, with a real thread; and the program that a bundler makes of the runner. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../shared/json.ts";
import { runScript } from "../../../local-agent/adapter/script/run-script.ts";
import type { ScriptAccess } from "../../../local-agent/adapter/script/script-requests.ts";
import { systemClock } from "../../../local-agent/node/system-time.ts";
import { createScriptRunner } from "../../../local-agent/node/script-worker.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { waitUntil } from "../../support/wait-until.ts";

const ROWS = Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}`, filler: "x".repeat(80) }));

async function script(
  code: string,
  call: ScriptAccess["call"] = async () => ({ ok: true, data: { structuredContent: { rows: ROWS } } }),
  args: JsonObject = {},
) {
  const items: JsonValue = [{ path: "db_rows", name: "rows", server: "db" }];
  return runScript(
    { args: { code, ...args }, caller: { kind: "pi" }, signal: new AbortController().signal },
    {
      runner: createScriptRunner(),
      clock: systemClock,
      access: {
        search: async () => ({ items, total: 1, hasMore: false, nextOffset: null }),
        describe: async (path) => ({ path, name: "rows", server: "db", inputTypeScript: "{}" }),
        call,
      },
      guard: async (content) => ({ content, details: {} }),
    },
  );
}

describe("a script", () => {
  test("[MS5] sees every row of a large result", async () => {
    const result = await script(`
      const { items } = await tools.search({ query: "rows" });
      const { path } = await tools.describe({ path: items[0].path });
      const { ok, data } = await tools.call(path, {});
      return ok && data.structuredContent.rows.filter(({ id }) => id === 7).map(({ id }) => id);`);
    expect(result.content).toEqual([{ type: "text", text: "[\n  7\n]" }]);
    expect((result.details["calls"] as JsonObject[]).map(({ operation, ok }) => [operation, ok])).toEqual([
      ["search", true],
      ["describe", true],
      ["call", true],
    ]);
  });

  test("[MS8] can hold all of its 16 MiB", async () => {
    const rows = Array.from({ length: 350_000 }, (_, id) => ({ id, name: `row ${id}`, flag: true }));
    const result = await script(`return (await tools.db_rows()).data.rows.length`, async () => ({ ok: true, data: { rows } }));
    expect(result.content).toEqual([{ type: "text", text: "350000" }]);
  });

  test("[MS4] a call it leaves behind is cancelled", async () => {
    let cancelled = false;
    const result = await script(`tools.slow(); return "early"`, (_path, _args, signal) => {
      signal.addEventListener("abort", () => (cancelled = true));
      return new Promise(() => {});
    });
    expect(result.details["calls"]).toMatchObject([{ path: "slow", error: "incomplete" }]);
    await waitUntil("the call is cancelled", () => cancelled);
  });
});

test("[MS5] works when the agent is bundled into one file, and warns of nothing", async () => {
  const dir = tempDir();
  const outfile = join(dir, "bundle.mjs");
  await build({
    stdin: {
      resolveDir: join(import.meta.dirname, "../../.."),
      contents: `
        import { createScriptRunner } from "./local-agent/node/script-worker.ts";
        for (const place of ["process", "thread"]) {
          const { end } = await createScriptRunner({ place }).run({
            code: "return (await tools.x(1)).data", timeoutMs: 10000, signal: new AbortController().signal, request: async () => ({ ok: true, data: "served" }),
          });
          console.log(place, JSON.stringify(end));
        }`,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    minify: true,
    keepNames: true,
    outfile,
    logLevel: "silent",
  });
  const { stdout, stderr } = spawnSync(process.execPath, ["--trace-warnings", outfile], { encoding: "utf8", timeout: 15_000 });
  expect(stdout).toBe(`process {"how":"returned","value":"served"}\nthread {"how":"returned","value":"served"}\n`);
  expect(stderr).toBe("");
});
