/** Readers of the values that concern the person: the page's address and secret, waiting, approval. Each throws `BadValue`. */
import { isIP } from "node:net";
import { didYouMean } from "../../shared/nearest.ts";
import { BadValue, split, TOOLS } from "./values.ts";

/** [ST81] Tools that are offered; `offered` null: the platform's own choice, so any that there is. */
export function readApproved(text: string, as: string, offered: readonly string[] | null): readonly string[] {
  const names = split(text);
  const allowed = [...(offered ?? TOOLS), ...UPSTREAM_TOOLS];
  const unknown = names.find((name) => !allowed.includes(name));
  if (unknown !== undefined) {
    const what = TOOLS.includes(unknown) ? `${unknown} in ${as} is not offered by --tools` : `Unknown tool ${JSON.stringify(unknown)} in ${as}`;
    throw new BadValue(`${what}.${didYouMean(unknown, allowed)} Calls that can wait for your click are those of: ${allowed.join(", ")}.`);
  }
  if (names.length === 0) throw new BadValue(`${as} must name at least one tool of: ${allowed.join(", ")}.`);
  return names;
}

/** Whether there are any follows from files that are read later. */
const UPSTREAM_TOOLS = ["mcp", "mcpScript"];

/** Which servers there are is known when the files are read. */
export function readExposed(text: string, as: string): readonly string[] | "all" {
  const names = split(text);
  if (names.length === 0) throw new BadValue(`${as} must name at least one MCP server of this workstation, or all.`);
  if (names.length === 1 && names[0] === "all") return "all";
  if (names.includes("all")) throw new BadValue(`${as} names servers or all, not both.`);
  return [...new Set(names)];
}

const BLOCK_MS = { min: 1000, max: 600_000, safe: 90_000 } as const;

/** [ST82] */
export function readBlockMs(text: string, as: string): number {
  const ms = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (ms >= BLOCK_MS.min && ms <= BLOCK_MS.max) return ms;
  throw new BadValue(
    `${as} must be a whole number of milliseconds from ${BLOCK_MS.min} to ${BLOCK_MS.max} (ten minutes), got ${JSON.stringify(text)}: 45000 is 45 seconds.`,
  );
}

export function longWaitNotice(blockMs: number, as: string): readonly string[] {
  if (blockMs <= BLOCK_MS.safe) return [];
  return [
    `${as} ${blockMs} is longer than many proxies and clients wait: an answer that is silent for about 100 s is often cut. What you write then stays queued and comes with the next call.`,
  ];
}

/** [ST83] An IP address, or `localhost` for 127.0.0.1: the page answers to addresses only, since a name can be made to lead here. */
export function readUiHost(text: string, as: string): string {
  const host = text.replace(/^\[(.*)\]$/, "$1");
  if (host.toLowerCase() === "localhost") return "127.0.0.1";
  if (isIP(host) !== 0 && !host.includes("%")) return host;
  throw new BadValue(`${as} must be an IP address of this machine, such as 127.0.0.1 or 0.0.0.0 for all, got ${JSON.stringify(text)}.`);
}

/** Travels in a header, and in the fragment of an address, where a browser would rewrite the four that are left out. Never shown. */
export function readUiToken(text: string, as: string): string {
  if (/^[!-~]{16,512}$/.test(text) && !/["<>`]/.test(text)) return text;
  throw new BadValue(`${as} must be 16 to 512 visible ASCII characters without spaces and without " < > \`: openssl rand -hex 16 makes a good one.`);
}
