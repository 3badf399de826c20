/** The words of `/mcp`, and what may follow them. Apart from what they do, which is loaded when one is typed. */

export const SUBCOMMAND_NAMES = [
  "status",
  "tools",
  "prompts",
  "reconnect",
  "disable",
  "enable",
  "direct",
  "token",
  "config",
  "setup",
  "edit",
  "logout",
] as const;

/** Besides names of tools. */
const DIRECT_WORDS = ["on", "off", "search"];

/** What may come next in the line, for completion. Pure. */
export function completionsOf(typed: string, servers: readonly string[]): string[] {
  const [name = "", ...rest] = typed.split(/\s+/);
  if (rest.length === 0) return SUBCOMMAND_NAMES.filter((word) => word.startsWith(name));
  const begun = rest.join(" ");
  const lines = linesAfter(name, servers);
  // A second word comes once the first is there, as these come once the subcommand is.
  const isEarly = (line: string): boolean => lines.some((other) => line.startsWith(`${other} `) && !begun.startsWith(`${other} `));
  return lines.filter((line) => line.startsWith(begun) && !isEarly(line)).map((line) => `${name} ${line}`);
}

function linesAfter(name: string, servers: readonly string[]): readonly string[] {
  const each = (words: readonly string[], line: (server: string, word: string) => string) =>
    words.flatMap((word) => servers.map((server) => line(server, word)));
  switch (name) {
    case "reconnect":
    case "disable":
    case "enable":
    case "config":
      return servers;
    case "direct":
      return [...servers, ...each(DIRECT_WORDS, (server, word) => `${server} ${word}`)];
    case "token":
      return ["status", "remove", ...each(["status", "remove"], (server, word) => `${word} ${server}`)];
    default:
      return [];
  }
}
