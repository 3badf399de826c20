/**
 * One start: loads the extension that the first argument names, begins a session and asks `mcp` for the status, which has to know as
 * many servers as the second says. Prints the milliseconds since the process began, and how many of them were Node's own.
 */
import { playPi } from "./played-pi.ts";

const [extension = "", servers = ""] = process.argv.slice(2);
const node = now();
const { default: install } = (await import(extension)) as { default: (pi: never) => unknown };
const pi = await playPi(install, process.cwd());
const answer = await pi.call("mcp", {});
const first = now();
const text = answer.content.map((block) => block.text ?? "").join("\n");
if (!new RegExp(`\\b${servers} servers`).test(text)) throw new Error(`the status says: ${text.slice(0, 500)}`);
console.log(JSON.stringify({ answer: first, node }));
await pi.end();
process.exit(0);

/** Since the process began. */
function now(): { readonly ms: number; readonly cpuMs: number } {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1000 };
}
