/**
 * What a Windows path can mean besides a file below a directory. Pure, so that it is tested on every platform.
 * Source: "Naming Files, Paths, and Namespaces" and "File path formats on Windows systems" (Microsoft Learn).
 */
import { win32 } from "node:path";

const RESERVED = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/**
 * Why Windows would not treat `path` as a plain path below `root`, as a phrase; undefined when it would.
 * Links, junctions, 8.3 names and case are not judged here: the real path settles them.
 */
export function windowsObjection(path: string, root: string): string | undefined {
  const slashed = path.replaceAll("/", "\\");
  if (/^\\\\[?.]\\/.test(slashed) || slashed.startsWith("\\??\\")) return "it names a device or a raw path";
  const belowRoot = isWindowsInside(root, slashed);
  if (slashed.startsWith("\\\\") && !belowRoot) return "it names a network share";
  const rest = slashed.replace(/^[a-z]:/i, "");
  if (rest !== slashed && !rest.startsWith("\\")) return "it is relative to the current directory of a drive";
  const names = (slashed.startsWith("\\\\") ? slashed.slice(root.length) : rest).split("\\");
  for (const name of names) {
    const objection = nameObjection(name);
    if (objection !== undefined) return objection;
  }
  return undefined;
}

function nameObjection(name: string): string | undefined {
  if (name === "" || name === "." || name === "..") return undefined;
  if (name.includes(":")) return "it names an alternate data stream";
  if (/[. ]$/.test(name)) return "Windows drops the dot or space at the end of a name";
  // Windows ignores everything after the first dot, and spaces before it: "NUL .txt" is the device.
  if (RESERVED.test((name.split(".")[0] ?? "").trimEnd())) return "it names a device";
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[<>"|?*\u0000-\u001f]/.test(name)) return "it contains a character Windows does not allow in a name";
  return undefined;
}

/** Whether `path` is `root` or below it, ignoring case, by whole components. Both absolute. */
export function isWindowsInside(root: string, path: string): boolean {
  const relative = win32.relative(root, path);
  return relative === "" || (!win32.isAbsolute(relative) && relative.split("\\")[0] !== "..");
}
