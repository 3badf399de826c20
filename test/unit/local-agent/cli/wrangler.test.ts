import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { wranglerCommand } from "../../../../local-agent/cli/wrangler.ts";
import { tempDir } from "../../../support/temp-dir.ts";

function installed(bin: unknown): string {
  const dir = tempDir();
  mkdirSync(join(dir, "node_modules/wrangler"), { recursive: true });
  writeFileSync(join(dir, "node_modules/wrangler/package.json"), JSON.stringify({ bin }));
  return dir;
}

test("[ST45] the installed wrangler is run as a file by this Node, so that no shell reads its arguments", () => {
  const packageRoot = installed({ wrangler: "./bin/wrangler.js" });
  expect(wranglerCommand({ packageRoot, env: {} })).toEqual([process.execPath, join(packageRoot, "node_modules/wrangler/bin/wrangler.js")]);
});

test("[ST45] without one it is the one on the PATH", () => {
  expect(wranglerCommand({ packageRoot: tempDir(), env: {} })).toEqual(["wrangler"]);
  expect(wranglerCommand({ packageRoot: installed(undefined), env: {} })).toEqual(["wrangler"]);
});

test.for<[string, string[]]>([
  ["/opt/wrangler", ["/opt/wrangler"]],
  ["/a dir/wrangler.mjs", [process.execPath, "/a dir/wrangler.mjs"]],
])("[ST45] PIMCP_WRANGLER=%s goes before it", ([named, command]) => {
  expect(wranglerCommand({ packageRoot: installed({ wrangler: "x.js" }), env: { PIMCP_WRANGLER: named } })).toEqual(command);
});
