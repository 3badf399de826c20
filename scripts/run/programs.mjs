// Programs by the file that Node runs. What npm puts into node_modules/.bin is on Windows a script for a shell, and a shell
// would read spaces, quotes and `%` in the arguments once more.
import { existsSync, readFileSync } from "node:fs";
import { join, win32 } from "node:path";
import { Stop } from "./say.mjs";

/** The file behind a program of an installed package: `entryOf(root, "tsc", "typescript")`. */
export function entryOf(root, program, packageName = program) {
  const dir = join(root, "node_modules", packageName);
  const manifest = join(dir, "package.json");
  if (!existsSync(manifest)) throw new Stop(`${packageName} is not installed: run npm ci.`);
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  const path = typeof bin === "string" ? bin : bin?.[program];
  if (path === undefined) throw new Stop(`${packageName} has no program ${program}: run npm ci.`);
  return join(dir, path);
}

/** The npm that started this, else the one that came with this Node, else the one on the PATH. */
export function npmCommand({ env, node, platform, exists = existsSync }) {
  const started = env.npm_execpath;
  const places = started !== undefined && /npm-cli\.c?js$/.test(started) ? [started] : [];
  // There `npm` is a script for a shell; elsewhere it is found on the PATH as it is.
  if (platform === "win32") {
    const dirs = [win32.dirname(node), ...(env.PATH ?? "").split(";").filter((dir) => dir !== "")];
    places.push(...dirs.map((dir) => win32.join(dir, "node_modules", "npm", "bin", "npm-cli.js")));
  }
  const found = places.find((path) => exists(path));
  return found === undefined ? ["npm"] : [node, found];
}

/** The Node that package.json pins, named by its path: a shell or a loader that looks `node` up again could find the machine's own. */
export function pinnedNode(root, platform) {
  return platform === "win32" ? join(root, "node_modules", "node", "bin", "node.exe") : join(root, "node_modules", ".bin", "node");
}
