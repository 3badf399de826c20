// What Pi loads. The built extension is loaded as plain JavaScript, past Pi's own compiler, which takes longer for it than everything
// else at the start. A checkout that is not built, as `pi install git:…` makes one, runs from its sources.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);
const isCheckout = existsSync(join(root, "scripts/run/prepare.mjs"));

export default async function mcpServers(pi) {
  const isBuilt = !isCheckout || require(join(root, "scripts/run/prepare.mjs")).isBuilt(root);
  const loaded = isBuilt ? require(join(root, "dist/pi-extension.mjs")) : await import("../local-agent/pi/extension.ts");
  return loaded.default(pi);
}
