/** The package as npm would install it: an empty folder, what package.json names as dependencies, and nothing of Pi. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtPackage, piPlace, runPi, toolEnds } from "../support/pi-program.ts";

const repository = join(import.meta.dirname, "../..");
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly pi: { readonly extensions: readonly string[] };
}

let folder: string;
let installed: string;
let manifest: Manifest;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pi-relay-package-"));
  const tarball = execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: builtPackage(),
    encoding: "utf8",
  }).trim();
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", folder]);
  installed = join(folder, "node_modules/pi-relay");
  mkdirSync(dirname(installed));
  execFileSync("mv", [join(folder, "package"), installed]);
  manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as Manifest;
  for (const name of Object.keys(manifest.dependencies)) {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(repository, "node_modules", name), place);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("[PI8] plain Node imports the adapter's factory from it, and TypeScript finds its types", () => {
  writeFileSync(
    join(folder, "program.ts"),
    'import extension, { createMcpAdapter, MCP_STATUS_EVENT, type McpStatusSnapshot } from "pi-relay";\n' +
      'import { loadMcpConfig } from "pi-relay/config";\n' +
      'import { isServerCacheValid, loadMetadataCache } from "pi-relay/metadata-cache";\n' +
      'import { getMcpOAuthTokensForUrl } from "pi-relay/oauth";\n' +
      'import { MCP_STATUS_EVENT as named, type MetadataCache } from "pi-relay/types";\n' +
      "const cache: MetadataCache | null = loadMetadataCache();\n" +
      'if (named !== MCP_STATUS_EVENT || typeof loadMcpConfig !== "function" || typeof isServerCacheValid !== "function") throw new Error();\n' +
      'void getMcpOAuthTokensForUrl("a", "https://a.example").then(() => cache, () => null);\n' +
      "const shown = (snapshot: McpStatusSnapshot): number => snapshot.totalTools;\n" +
      "process.stdout.write([typeof extension, typeof createMcpAdapter({ config: {} }), MCP_STATUS_EVENT, typeof shown].join());\n",
  );
  const run = spawnSync(process.execPath, [join(folder, "program.ts")], { encoding: "utf8" });
  expect(run).toMatchObject({ stdout: "function,function,pi-mcp-adapter/status/v1,function", stderr: "", status: 0 });
  // Pi's types are there wherever somebody embeds Pi.
  mkdirSync(join(folder, "node_modules/@earendil-works"), { recursive: true });
  for (const name of Object.keys(manifest.peerDependencies)) symlinkSync(join(repository, "node_modules", name), join(folder, "node_modules", name));
  // Pi's own declarations do not all compile.
  const types = [
    "--noEmit",
    "--skipLibCheck",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--types",
    "node",
    "--typeRoots",
    join(repository, "node_modules/@types"),
  ];
  const checked = spawnSync(process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), ...types, join(folder, "program.ts")], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(checked.stdout).toBe("");
});

test("[PI9] Pi loads it from where npm put it, with its skill, and none of Pi comes with it", async () => {
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@earendil-works/"))).toEqual([]);
  for (const path of manifest.pi.extensions) expect(existsSync(join(installed, path))).toBe(true);
  expect(existsSync(join(installed, "skills/mcp-scripting/SKILL.md"))).toBe(true);
  await using place = piPlace({ mcpServers: { good: { fixture: "good" } } });
  const { events } = await runPi(place, { mode: "json", prompt: 'mcp {"tool":"good_echo","args":{"text":"packed"}}', extension: installed });
  expect(toolEnds(events)[0]).toMatchObject({ text: "packed", isError: false });
});

test("[PI9] a checkout that is not built runs from its sources", async () => {
  const checkout = join(folder, "checkout");
  mkdirSync(checkout);
  for (const part of ["bin", "local-agent", "shared", "scripts", "skills", "worker", "ui", "package.json", "package-lock.json", "wrangler.toml"]) {
    cpSync(join(repository, part), join(checkout, part), { recursive: true });
  }
  symlinkSync(join(repository, "node_modules"), join(checkout, "node_modules"));
  await using place = piPlace({ mcpServers: {} });
  const { stdout } = await runPi(place, { mode: "print", prompt: "/mcp status", extension: join(checkout, "bin/pi-extension.mjs") });
  expect(stdout).toContain("No MCP server is configured.");
});
