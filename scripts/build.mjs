// Bundles what is shipped: the Worker, the agent, its two child processes, the Pi extension, and the page.
// `--only=agent,tool-host,pi,worker,ui` builds a part; `--outdir=<directory>` puts it elsewhere.
import { build } from "esbuild";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { workerBundle } from "./worker-bundle.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const wanted = process.argv
  .find((argument) => argument.startsWith("--only="))
  ?.slice("--only=".length)
  .split(",");
const target = join(root, process.argv.find((argument) => argument.startsWith("--outdir="))?.slice("--outdir=".length) ?? "dist");
/** A build is made beside the old one and then takes its place, whole or file by file: an agent may be running from there. */
const outdir = `${target}-${process.pid}`;
const builds = (part) => wanted === undefined || wanted.includes(part);

/** CommonJS dependencies inside an ES module bundle need a `require`. */
const requireBanner = { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' };
const node = {
  bundle: true,
  platform: "node",
  target: "node22",
  format: "esm",
  outExtension: { ".js": ".mjs" },
  // Its entry for Node hides what it requires from the bundler; the same package has a module build.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  outdir,
  absWorkingDir: root,
  banner: requireBanner,
  // CommonJS modules find their own path in it; an ES module has none under this name.
  define: { __filename: "import.meta.filename", __dirname: "import.meta.dirname" },
  legalComments: "linked",
  minify: true,
  keepNames: true,
  sourcemap: false,
  logLevel: "warning",
};

/**
 * Pi's tools bring what draws them on a terminal, a syntax highlighter with all its languages included: a third of the
 * tool host's start, and nothing there is drawn. A name Pi adds or renames fails the build.
 */
const withoutTerminalRenderers = {
  name: "without-terminal-renderers",
  setup(bundle) {
    bundle.onLoad({ filter: /pi-coding-agent[\\/]dist[\\/]core[\\/]tools[\\/]renderers[\\/]\w+\.js$/ }, () => ({
      contents: `
        export const readRenderers = {}, writeRenderers = {}, editRenderers = {}, lsRenderers = {}, grepRenderers = {}, findRenderers = {};
        export const createShellRenderers = () => ({}), BASH_UPDATE_THROTTLE_MS = 100;
      `,
    }));
  },
};

/**
 * The SDK's Node build brings a JSON Schema compiler of 150 kB that the agent has no use for; its other runtimes get by with
 * the interpreter of the same interface, which the SDK ships too.
 */
const withoutSchemaCompiler = {
  name: "without-schema-compiler",
  setup(bundle) {
    bundle.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path }) => ({ path, namespace: "mcp-shims" }));
    bundle.onLoad({ filter: /.*/, namespace: "mcp-shims" }, () => ({
      resolveDir: root,
      contents: `
        export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from "@modelcontextprotocol/server/validators/cf-worker";
        export { default as process } from "node:process";
      `,
    }));
  },
};

/** Inside Pi there is one copy of Pi, and the extension gets everything from it as arguments; a second copy here would be another Pi. */
const withoutPi = {
  name: "without-pi",
  setup(bundle) {
    bundle.onResolve({ filter: /^@earendil-works\// }, ({ path, importer }) => ({
      errors: [{ text: `${importer} imports ${path}: the extension may import types of Pi only.` }],
    }));
  },
};

const jobs = [];
if (builds("worker")) {
  jobs.push(build({ ...workerBundle, entryPoints: { "worker/index": "worker/index.ts" }, outdir, absWorkingDir: root }));
}
if (builds("agent")) {
  jobs.push(
    build({
      ...node,
      entryPoints: { pimcp: "local-agent/cli/main.ts" },
      // What talks to MCP servers is loaded only where some are configured.
      splitting: true,
      chunkNames: "chunks/[name]-[hash]",
      external: ["miniflare", "@vscode/ripgrep", "wrangler", "esbuild", "@napi-rs/keyring"],
      plugins: [withoutSchemaCompiler],
    }),
  );
  jobs.push(build({ ...node, entryPoints: { "embedded-relay-child": "local-agent/daemon/embedded-relay-child.ts" }, external: ["miniflare"] }));
}
if (builds("agent") || builds("tool-host")) {
  const external = ["@vscode/ripgrep", "@silvia-odwyer/photon-node"];
  jobs.push(
    build({ ...node, entryPoints: { "tool-host-child": "local-agent/tools/tool-host-child.ts" }, external, plugins: [withoutTerminalRenderers] }),
  );
  // Pi resizes images in a worker it looks for under this name beside its own module, which the bundle is.
  const resizeWorker = "node_modules/@earendil-works/pi-coding-agent/dist/utils/image-resize-worker.js";
  jobs.push(build({ ...node, outExtension: { ".js": ".js" }, entryPoints: { "image-resize-worker": resizeWorker }, external }));
}
if (builds("pi")) {
  // In pieces, so that a session loads only what it comes to use.
  const pieces = { splitting: true, chunkNames: "pi-extension/[name]-[hash]" };
  const sdk = ["root", "types", "config", "metadata-cache", "oauth"];
  const entryPoints = {
    "pi-extension": "local-agent/pi/extension.ts",
    ...Object.fromEntries(sdk.map((name) => [`sdk/${name}`, `local-agent/pi/sdk/${name}.ts`])),
  };
  jobs.push(build({ ...node, ...pieces, entryPoints, external: ["@napi-rs/keyring"], plugins: [withoutPi] }));
  const declare = (name) => copyFile(join(root, `local-agent/pi/sdk/declared/${name}.d.ts`), join(outdir, `sdk/${name}.d.ts`));
  jobs.push(mkdir(join(outdir, "sdk"), { recursive: true }).then(() => Promise.all(sdk.map(declare))));
}
if (builds("ui")) {
  jobs.push(
    import("vite").then(({ build: viteBuild }) =>
      viteBuild({ configFile: join(root, "ui/vite.config.ts"), logLevel: "warn", build: { outDir: join(outdir, "ui"), emptyOutDir: true } }),
    ),
  );
}
try {
  await Promise.all(jobs);
  await (wanted === undefined ? takePlace() : replaceFiles());
} finally {
  await rm(outdir, { recursive: true, force: true });
}

async function takePlace() {
  const old = `${outdir}-old`;
  if (existsSync(target)) await rename(target, old);
  await rename(outdir, target);
  await rm(old, { recursive: true, force: true });
}

async function replaceFiles() {
  for (const entry of await readdir(outdir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const made = join(entry.parentPath, entry.name);
    const place = join(target, relative(outdir, made));
    await mkdir(dirname(place), { recursive: true });
    await rename(made, place);
  }
}
