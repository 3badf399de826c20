/**
 * The published pi-mcp-adapter, to be measured beside ours in the same run: where the folder that `PUBLISHED_ADAPTER` names has it
 * installed (`npm install pi-mcp-adapter` there). It ships TypeScript, which Node does not load from `node_modules`: it is bundled.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";

const ROOT = join(import.meta.dirname, "../..");

/** Null: it is not installed. */
export function publishedFile(file: string): string | null {
  const folder = process.env["PUBLISHED_ADAPTER"];
  if (folder === undefined) return null;
  const path = join(folder, "node_modules/pi-mcp-adapter", file);
  if (!existsSync(path)) throw new Error(`PUBLISHED_ADAPTER: there is no ${path}`);
  return path;
}

/** The extension in `outDir`, in pieces as ours is; its path. Null: it is not installed. */
export async function bundlePublished(outDir: string): Promise<string | null> {
  const entry = publishedFile("index.ts");
  if (entry === null) return null;
  await build({
    entryPoints: { published: entry },
    bundle: true,
    platform: "node",
    target: "node22",
    format: "esm",
    splitting: true,
    minify: true,
    keepNames: true,
    outdir: outDir,
    outExtension: { ".js": ".mjs" },
    banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
    external: ["@napi-rs/keyring", "recheck"],
    plugins: [withoutPi],
    logLevel: "error",
  });
  return join(outDir, "published.mjs");
}

/** What Pi itself gives to extensions. Nothing of it is drawn here; its schema builder is the real one. */
const withoutPi: Plugin = {
  name: "without-pi",
  setup(bundle) {
    bundle.onResolve({ filter: /^typebox/ }, ({ path, kind, pluginData }) =>
      pluginData === "found" ? undefined : bundle.resolve(path, { kind, resolveDir: ROOT, pluginData: "found" }),
    );
    bundle.onResolve({ filter: /^@earendil-works\// }, ({ path }) => ({ path, namespace: "pi" }));
    bundle.onLoad({ filter: /.*/, namespace: "pi" }, () => ({
      contents: `
        const known = {
          withFileMutationQueue: (path, work) => work(),
          truncateHead: (content) => ({ content, truncated: false }),
          DEFAULT_MAX_BYTES: 51200,
          DEFAULT_MAX_LINES: 2000,
        };
        module.exports = new Proxy(known, { get: (target, name) => (name in target ? target[name] : class {}), has: () => true });
      `,
    }));
  },
};
