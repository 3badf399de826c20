import { rgPath } from "@vscode/ripgrep";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filterSearchOutput } from "../../../../local-agent/tools/search-output.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { writeTree } from "../../../support/tool-host-under-test.ts";

/** Pi's way of reading ripgrep: lines until `close`. */
async function search(files: Readonly<Record<string, string>>, mayShow: (path: string) => boolean): Promise<string[]> {
  const root = tempDir("search");
  writeTree(root, files);
  const child = spawn(rgPath, ["--json", "--hidden", "--context=1", "--", "needle", "."], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  filterSearchOutput(child, (path) => mayShow(join("/", path)));
  const seen: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line === "") return;
    const event = JSON.parse(line) as { type: string; data: { path?: { text: string }; line_number?: number } };
    if (event.type === "match" || event.type === "context") seen.push(`${event.type} ${event.data.path?.text ?? ""}:${event.data.line_number ?? 0}`);
  });
  await once(child, "close");
  return seen.toSorted();
}

test("[CF11] a file ripgrep should not have searched is taken out of what it reports", async () => {
  const files = { "a.txt": "needle\nx\n", "secret/b.txt": "x\nneedle\n", "c.txt": "needle\n" };
  expect(await search(files, (path) => !path.startsWith("/secret"))).toEqual(["context ./a.txt:2", "match ./a.txt:1", "match ./c.txt:1"]);
  expect(await search(files, () => false)).toEqual([]);
});

test("[CF11] every line arrives before the end is told, however much there is", async () => {
  const text = "needle\n".repeat(20_000);
  expect(await search({ "a.txt": text, "b.txt": text }, () => true)).toHaveLength(40_000);
});

test("[CF17] a line too long to hold is left out, and the rest arrives", async () => {
  const files = { "a.txt": `needle\nneedle${"x".repeat(17 * 1024 * 1024)}\nneedle\n` };
  expect(await search(files, () => true)).toEqual(["match ./a.txt:1", "match ./a.txt:3"]);
});
