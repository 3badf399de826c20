/**
 * Every flag once: name, kind of value, default, meaning. The environment variable follows from the name
 * (`--ui-port` is `PI_AS_MCP_UI_PORT`). The help text and docs/configuration.md are made from, or held against, this table.
 */

export interface Flag {
  readonly name: string;
  /** Placeholder of the value; null for a switch. */
  readonly value: string | null;
  readonly fallback: string;
  readonly meaning: string;
  /** A list that grows when the flag is repeated. */
  readonly repeats?: true;
}

export const FLAGS = [
  { name: "root", value: "DIR", fallback: "the current directory", meaning: "Every path a tool is given is confined to this directory." },
  {
    name: "tools",
    value: "LIST",
    fallback: "all for this platform",
    meaning: "Comma-separated tools to offer; powershell is on Windows only unless named.",
  },
  {
    name: "deny",
    value: "LIST",
    fallback: ".ssh,.aws,.gnupg,.git-credentials,.netrc,.config/gcloud",
    meaning: "Comma-separated names refused even inside the root, at any depth.",
  },
  { name: "human", value: null, fallback: "off", meaning: "Let clients talk with you: they say, ask and wait, you write on the page." },
  {
    name: "approve",
    value: "LIST",
    fallback: "none",
    meaning: "Comma-separated tools whose every call waits for your click on the page, e.g. bash; with --human.",
  },
  {
    name: "block-ms",
    value: "MS",
    fallback: "by client, 90000 at most",
    meaning: "How long a call waits for you before the client has to call again; with --human.",
  },
  { name: "audit-full", value: null, fallback: "off", meaning: "Keep arguments themselves in the log of approvals, not only their hashes." },
  {
    name: "mcp-config",
    value: "FILE",
    fallback: "Pi's own mcp.json",
    meaning: "File with MCP servers of this workstation, in place of the one in Pi's directory.",
  },
  {
    name: "expose",
    value: "LIST",
    fallback: "none",
    meaning: "Comma-separated MCP servers of this workstation whose own tools, prompts and resources clients see; or all.",
  },
  { name: "no-mcp", value: null, fallback: "off", meaning: "Leave the MCP servers of this workstation out." },
  { name: "token", value: "TOKEN", fallback: "minted once, kept", meaning: "Bearer token of this run, for clients without OAuth." },
  { name: "relay", value: "URL", fallback: "the deployed one, else local", meaning: "Relay to dial; `local` is the one embedded in this program." },
  { name: "key-file", value: "FILE", fallback: "the deployed one's", meaning: "File with the relay's agent key; only you may be able to read it." },
  { name: "workspace", value: "NAME", fallback: "the one without a name", meaning: "Workspace of the relay, with a URL of its own: /w/NAME/mcp." },
  { name: "take-over", value: null, fallback: "off", meaning: "Take the workspace from another machine that holds it." },
  { name: "issuer", value: "URL", fallback: "the relay's own URL", meaning: "Public address clients reach: https, or http on loopback." },
  {
    name: "allow-origin",
    value: "ORIGIN",
    fallback: "none",
    meaning: "Web origin that may call /mcp from a browser; may be repeated.",
    repeats: true,
  },
  {
    name: "oauth-redirect",
    value: "LIST",
    fallback: "you decide on the page",
    meaning: "Comma-separated addresses the client set up by hand may return to, and no others; may be repeated.",
    repeats: true,
  },
  { name: "oauth-client-id", value: "ID", fallback: "minted once, kept", meaning: "Id of that client for this run; with --oauth-client-secret." },
  {
    name: "oauth-client-secret",
    value: "SECRET",
    fallback: "minted once, kept",
    meaning: "Its secret; better by variable: programs of this machine can see flags.",
  },
  { name: "no-oauth", value: null, fallback: "off", meaning: "Static token only: no OAuth routes; no page without --human." },
  { name: "stdio", value: null, fallback: "off", meaning: "Speak MCP over stdin and stdout; no relay, no page without --human." },
  {
    name: "http",
    value: null,
    fallback: "off",
    meaning: "Serve /mcp from the agent itself, with the token only; no relay, no page without --human.",
  },
  { name: "port", value: "PORT", fallback: "8777", meaning: "Port of the local relay, or of --http. A busy port is an error." },
  { name: "host", value: "HOST", fallback: "127.0.0.1", meaning: "Address to listen on; beyond loopback it needs an https --issuer." },
  { name: "ui-port", value: "PORT", fallback: "8790", meaning: "Port of the page. A busy port is an error." },
  { name: "ui-host", value: "HOST", fallback: "127.0.0.1", meaning: "IP address to serve the page at; beyond loopback it needs --ui-token." },
  {
    name: "ui-token",
    value: "TOKEN",
    fallback: "minted at every start",
    meaning: "The page's secret; better by variable: programs of this machine can see flags.",
  },
  { name: "no-open", value: null, fallback: "off", meaning: "Do not open the page in a browser." },
  { name: "json", value: null, fallback: "off", meaning: "Print one JSON object instead of text once the agent is ready." },
  { name: "verbose", value: null, fallback: "off", meaning: "Log events to stderr." },
  { name: "help", value: null, fallback: "", meaning: "Show this text." },
  { name: "version", value: null, fallback: "", meaning: "Show the version." },
  { name: "oauth", value: null, fallback: "on", meaning: "Accepted, already the default; with --http it means the local relay." },
  { name: "no-tunnel", value: null, fallback: "on", meaning: "Accepted, already the default: no tunnel program is ever started." },
] as const satisfies readonly Flag[];

export type FlagName = (typeof FLAGS)[number]["name"];

export const ENV_PREFIX = "PI_AS_MCP_";

/** `--ui-port` → `PI_AS_MCP_UI_PORT`. */
export function envName(flag: string): string {
  return ENV_PREFIX + flag.toUpperCase().replaceAll("-", "_");
}

/** Help and version are questions to the command line; a variable that asks them would only break scripts. */
export const WITHOUT_ENV: ReadonlySet<string> = new Set(["help", "version"]);
