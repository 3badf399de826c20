/** The text of `--help`, made from the flag table. Pure. */
import { envName, FLAGS, WITHOUT_ENV, type Flag } from "./flags.ts";
import { wrap } from "./wrap.ts";

export function helpText(version: string): string {
  return `pimcp ${version}: lets an AI client work in one directory of this machine, through one fixed URL.

Usage: pimcp [flags]          start; npm start -- [flags] in a checkout
       pimcp open             open the page of the running agent; --workspace NAME of several
       pimcp pending          list the apps that ask for access, without the page
       pimcp allow CODE [ID]  allow one, with the code its waiting page shows
       pimcp deny ID          refuse one
       pimcp grants           list the apps that have access
       pimcp revoke ID        take access back at once; --all from all
       pimcp token create     make a token for a client that only sends one; also list, revoke
       pimcp audit            what was allowed and refused on this machine
       pimcp config           which MCP servers are configured, and where
       pimcp upstream-token   keep the token of an MCP server in the system's store (--help)
       pimcp deploy [flags]   deploy your own relay (pimcp deploy --help)

${(FLAGS as readonly Flag[]).map(line).join("\n")}

Every flag but --help and --version can be set by a variable: --ui-port is ${envName("ui-port")}, a
switch is 1 or 0. Flags go before variables.

Exit codes: 0 ended as asked, 1 something broke, 2 a setting has to be changed first, 3 the relay
refuses this agent.
`;
}

const COLUMNS = 100;
const NAME_COLUMNS = 24;

function line(flag: Flag): string {
  const name = `  --${flag.name}${flag.value === null ? "" : ` ${flag.value}`}`;
  const fallback = flag.fallback === "" || WITHOUT_ENV.has(flag.name) ? "" : ` [${flag.fallback}]`;
  // A default stays on one line: its spaces do not break.
  const lines = wrap(`${flag.meaning}${fallback.replaceAll(/(?<=\S) /g, "\u00A0")}`, COLUMNS - NAME_COLUMNS);
  const [first = "", ...others] = lines.map((text) => " ".repeat(NAME_COLUMNS) + text.replaceAll("\u00A0", " "));
  // A long name has a line of its own.
  return [...(name.length < NAME_COLUMNS ? [name + first.slice(name.length)] : [name, first]), ...others].join("\n");
}
