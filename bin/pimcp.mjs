#!/usr/bin/env node
// Thin on purpose: an old Node must get a sentence, not a syntax error from the bundle. In a checkout that is not set up,
// or on a Node too old for the bundle, it goes the way of `npm start`.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const load = (path) => import(pathToFileURL(join(root, path)).href);
const [major, minor] = process.versions.node.split(".").map(Number);
const isNodeNew = major > 22 || (major === 22 && minor >= 19);
const isCheckout = existsSync(join(root, "scripts/run.mjs"));

if (isNodeNew && (!isCheckout || (await load("scripts/run/prepare.mjs")).isBuilt(root))) {
  await load("dist/pimcp.mjs");
} else if (isCheckout) {
  process.argv.splice(2, 0, "start");
  await load("scripts/run.mjs");
} else {
  process.stderr.write(`pimcp needs Node 22.19 or newer, this is ${process.version}: install a newer one.\n`);
  process.exitCode = 2;
}
