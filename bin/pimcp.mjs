#!/usr/bin/env node
// Thin on purpose: an old Node must get a sentence, not a syntax error from the bundle.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
const bundle = new URL("../dist/pimcp.mjs", import.meta.url);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`pimcp needs Node 22.19 or newer, this is ${process.version}: install a newer one, or use npm start in the checkout.\n`);
  process.exitCode = 2;
} else if (!existsSync(fileURLToPath(bundle))) {
  process.stderr.write("pimcp is not built yet: run npm run build in its checkout.\n");
  process.exitCode = 2;
} else {
  await import(bundle.href);
}
