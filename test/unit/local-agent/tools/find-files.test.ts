import { rgPath } from "@vscode/ripgrep";
import { expect, test } from "vitest";
import { findFiles } from "../../../../local-agent/tools/find-files.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { writeTree } from "../../../support/tool-host-under-test.ts";

function requestIn(root: string) {
  const base = { rgPath, searchPath: root, realPath: root, pattern: "*", ignore: [], limit: 100 };
  return { ...base, exclude: [] as string[], mayShow: (_path: string) => true, signal: new AbortController().signal };
}

test("[CF11] either of the two locks keeps a denied place out of what find reports", async () => {
  const root = tempDir("find");
  writeTree(root, { "a.txt": "", ".ssh/id": "", "b/.ssh/key": "" });
  const request = requestIn(root);
  expect(await findFiles(request)).toEqual([".ssh/", ".ssh/id", "a.txt", "b/", "b/.ssh/", "b/.ssh/key"]);
  expect(await findFiles({ ...request, exclude: ["!**/.ssh"] })).toEqual(["a.txt"]);
  expect(await findFiles({ ...request, mayShow: (path) => !path.includes(".ssh") })).toEqual(["a.txt", "b/"]);
});

test("[TL11] a limit stops the search, and a cancelled one fails", async () => {
  const root = tempDir("find");
  writeTree(root, Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`d${index}/f.txt`, ""])));
  expect(await findFiles({ ...requestIn(root), limit: 7 })).toHaveLength(7);
  await expect(findFiles({ ...requestIn(root), signal: AbortSignal.abort() })).rejects.toThrow();
  await expect(findFiles({ ...requestIn(root), rgPath: "/no/such/rg" })).rejects.toThrow("ripgrep could not be started");
});
