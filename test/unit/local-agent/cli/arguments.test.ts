import { expect, test } from "vitest";
import { readCommand } from "../../../../local-agent/cli/arguments.ts";
import type { Settings } from "../../../../local-agent/daemon/settings.ts";

type Env = Record<string, string>;

/** A variable that stands for what `deploy` remembered. */
const DEPLOYED = "TEST_DEPLOYED";

function read(line: string, env: Env = {}) {
  const argv = line === "" ? [] : line.split(" ");
  return readCommand(argv, { cwd: "/srv/dir", home: "/home/p", env, isRelayDeployed: () => env[DEPLOYED] === "1" });
}

function settings(line: string, env: Env = {}): Settings {
  const command = read(line, env);
  if (!command.ok || command.value.kind !== "run") throw new Error(`expected settings, got ${JSON.stringify(command)}`);
  return command.value.settings;
}

function refusal(line: string, env: Env = {}): string {
  const command = read(line, env);
  if (command.ok) throw new Error(`expected a refusal, got ${JSON.stringify(command.value)}`);
  return command.error;
}

function notices(line: string, env: Env = {}): readonly string[] {
  const command = read(line, env);
  if (!command.ok || command.value.kind !== "run") throw new Error("expected settings");
  return command.value.notices;
}

test("[ST1] no argument at all is a complete command", () => {
  expect(settings("")).toEqual({
    mode: {
      kind: "relay",
      relay: null,
      workspace: null,
      keyFile: null,
      listen: { host: "127.0.0.1", port: 8777 },
      issuer: null,
      oauth: true,
      takeOver: false,
    },
    root: "/srv/dir",
    tools: null,
    deny: [".ssh", ".aws", ".gnupg", ".git-credentials", ".netrc", ".config/gcloud"],
    token: null,
    client: null,
    redirects: null,
    allowOrigins: [],
    ui: { host: "127.0.0.1", port: 8790 },
    uiToken: null,
    human: false,
    approve: [],
    blockMs: null,
    auditFull: false,
    upstreams: { configFile: null, expose: [] },
    openPage: true,
    json: false,
    verbose: false,
  });
});

test.for<[string, Partial<Settings>]>([
  ["--root sub", { root: "/srv/dir/sub" }],
  ["--root=../x", { root: "/srv/x" }],
  ["--root=~/x", { root: "/home/p/x" }],
  ["--tools read,bash,read", { tools: ["read", "bash"] }],
  ["--tools powershell", { tools: ["powershell"] }],
  ["--no-mcp", { upstreams: null }],
  ["--mcp-config my.json --expose github,docs,github", { upstreams: { configFile: "/srv/dir/my.json", expose: ["github", "docs"] } }],
  ["--expose all", { upstreams: { configFile: null, expose: "all" } }],
  ["--deny .env,.config/gcloud,~/x", { deny: [".env", ".config/gcloud", "~/x"] }],
  ["--deny=", { deny: [] }],
  ["--token abc.DEF-_~+/=", { token: "abc.DEF-_~+/=" }],
  ["--ui-port 0 --ui-host localhost", { ui: { host: "127.0.0.1", port: 0 } }],
  ["--no-open --json --verbose", { openPage: false, json: true, verbose: true }],
  [
    "--allow-origin https://a.example --allow-origin https://b.example/,http://localhost:3000",
    { allowOrigins: ["https://a.example", "https://b.example", "http://localhost:3000"] },
  ],
  ["--stdio", { mode: { kind: "stdio" } }],
  ["--port 0 --ui-port 0", { ui: { host: "127.0.0.1", port: 0 } }],
  ["--http --port 0", { mode: { kind: "http", listen: { host: "127.0.0.1", port: 0 }, issuer: null } }],
])("[ST1] %s", ([line, expected]) => {
  expect(settings(line)).toMatchObject(expected);
});

const relay = { kind: "relay", relay: null, workspace: null, keyFile: null, oauth: true, issuer: null, takeOver: false };

test.for<[string, object]>([
  ["--relay https://r.example/mcp", { ...relay, relay: "https://r.example" }],
  ["--relay https://R.example:443", { ...relay, relay: "https://r.example" }],
  ["--relay http://127.0.0.1:9000", { ...relay, relay: "http://127.0.0.1:9000" }],
  ["--relay local", { ...relay, relay: "local" }],
  ["--relay https://r.example --key-file k --take-over", { ...relay, relay: "https://r.example", keyFile: "/srv/dir/k", takeOver: true }],
  ["--http --oauth", { ...relay, relay: "local" }],
  ["--no-oauth", { ...relay, oauth: false }],
  ["--workspace pi-1", { ...relay, workspace: "pi-1" }],
  ["--relay https://r.example --workspace x --no-oauth", { ...relay, relay: "https://r.example", workspace: "x", oauth: false }],
  ["--http --oauth --workspace x", { ...relay, relay: "local", workspace: "x" }],
  ["--host 0.0.0.0 --issuer https://m.example", { ...relay, issuer: "https://m.example", listen: { host: "0.0.0.0", port: 8777 } }],
  ["--host [::1] --issuer http://localhost:8777", { ...relay, issuer: "http://localhost:8777", listen: { host: "::1", port: 8777 } }],
])("[ST4] mode of %s", ([line, mode]) => {
  expect(settings(line).mode).toMatchObject(mode);
});

test.for<[string, Env, object]>([
  ["", { PI_AS_MCP_PORT: "1234" }, { listen: { port: 1234 } }],
  ["--port 99", { PI_AS_MCP_PORT: "1234" }, { listen: { port: 99 } }],
  ["", { PI_AS_MCP_HTTP: "1" }, { kind: "http" }],
  ["", { PI_AS_MCP_WORKSPACE: "x" }, { workspace: "x" }],
  ["--workspace y", { PI_AS_MCP_WORKSPACE: "x" }, { workspace: "y" }],
  ["--stdio", { PI_AS_MCP_HTTP: "1", PI_AS_MCP_ISSUER: "https://m.example" }, { kind: "stdio" }],
  ["--relay https://r.example", { PI_AS_MCP_HTTP: "true" }, { kind: "relay", relay: "https://r.example" }],
  ["--http", { PI_AS_MCP_RELAY: "https://r.example" }, { kind: "http" }],
  ["", { PI_AS_MCP_OAUTH: "0" }, { oauth: false }],
  ["--oauth", { PI_AS_MCP_NO_OAUTH: "1" }, { oauth: true }],
  ["--no-oauth", { PI_AS_MCP_ISSUER: "https://m.example" }, { oauth: false, issuer: null }],
  ["", { [DEPLOYED]: "1", PI_AS_MCP_KEY_FILE: "/k", PI_AS_MCP_HTTP: "", PI_AS_MCP_HUMAN: "0" }, { kind: "relay", keyFile: "/k" }],
])("[ST2] flags go before the environment: %s with %o", ([line, env, mode]) => {
  expect(settings(line, env).mode).toMatchObject(mode);
});

test.for<[string, string]>([
  ["--rot x", "Unknown flag --rot. Did you mean --root? See pimcp --help."],
  ["-x", "Unknown flag -x. See pimcp --help."],
  ["run", 'Unexpected argument "run": pimcp takes flags, e.g. --root DIR. See pimcp --help.'],
  ["opne", 'Unexpected argument "opne": pimcp takes flags, e.g. --root DIR. Did you mean pimcp open? See pimcp --help.'],
  ["token", "token has to be the first word: pimcp token [flags]."],
  ["--json grants", "grants has to be the first word: pimcp grants [flags]."],
  ["--root", "--root needs a value: --root DIR."],
  ["--root --http", "--root needs a value: --root DIR."],
  ["--token=", "--token must not be empty: --token TOKEN."],
  ["--http=1", '--http takes no value, got "1".'],
  ["--port 80a", '--port must be a port number from 0 to 65535, got "80a".'],
  ["--port 65536", '--port must be a port number from 0 to 65535, got "65536".'],
  ["--port -1", '--port must be a port number from 0 to 65535, got "-1".'],
  ["--host a:b/c", '--host must be a host name or address without a port, got "a:b/c".'],
  ["--relay nonsense", '--relay must be a URL such as https://mcp.example.com, got "nonsense".'],
  ["--relay http://r.example", '--relay must be https: only a loopback address may be http, got "http://r.example".'],
  ["--workspace default", "--workspace default would be the workspace without a name: leave --workspace out."],
  [
    "--workspace Pi",
    '--workspace must be 1 to 32 lower-case letters, digits and hyphens, without a hyphen at either end, and not "default", got "Pi".',
  ],
  ["--workspace", "--workspace needs a value: --workspace NAME."],
  ["--relay https://r.example/w/x/mcp", '--relay names a workspace in "https://r.example/w/x/mcp": write --relay https://r.example --workspace x.'],
  ["--relay https://r.example/w/", '--relay names a workspace in "https://r.example/w/": write --relay https://r.example --workspace NAME.'],
  ["--issuer http://m.example", '--issuer must be https: only a loopback address may be http, got "http://m.example".'],
  ["--issuer https://m.example/x", '--issuer must be an origin without path, query or user, got "https://m.example/x": try https://m.example.'],
  ["--issuer https://m.example/w/a", '--issuer names a workspace in "https://m.example/w/a": write --issuer https://m.example --workspace a.'],
  [
    "--issuer https://m.example/w/a/mcp",
    '--issuer names a workspace in "https://m.example/w/a/mcp": write --issuer https://m.example --workspace a.',
  ],
  [
    "--http --issuer https://m.example/w/a",
    '--issuer must be an origin without path, query or user, got "https://m.example/w/a": try https://m.example.',
  ],
  ["--issuer https://u@m.example", '--issuer must be an origin without path, query or user, got "https://u@m.example": try https://m.example.'],
  ["--allow-origin null", '--allow-origin must be a URL such as https://mcp.example.com, got "null".'],
  ["--tools read,bsh", 'Unknown tool "bsh" in --tools. Did you mean bash? There are: read, write, edit, ls, grep, find, bash, powershell.'],
  ["--tools ,", "--tools must name at least one tool of: read, write, edit, ls, grep, find, bash, powershell."],
  ["--token a:b", "--token may hold letters, digits and -._~+/ only: it has to fit an Authorization header."],
])("[ST3] %s is one sentence with the way out", ([line, sentence]) => {
  expect(refusal(line)).toBe(sentence);
});

test.for<[string, RegExp]>([
  ["--stdio --http", /exclude each other/],
  ["--http --relay https://r.example", /exclude each other/],
  ["--oauth --no-oauth", /exclude each other/],
  ["--no-oauth --issuer https://m.example", /--no-oauth switches off: leave one out/],
  ["--stdio --token abcdefghijklmnopq", /--token has no meaning with --stdio/],
  ["--http --take-over", /--take-over has no meaning with --http/],
  ["--host 0.0.0.0", /--host 0\.0\.0\.0 can be reached from other machines.*--issuer https/],
  ["--port 8790", /^--port and --ui-port are both 8790: relay and page need a port each\.$/],
  ["--port 9 --ui-port 9", /^--port and --ui-port are both 9:/],
  ["--host 0.0.0.0 --no-oauth", /leave out --no-oauth and add --issuer https/],
  ["--host 0.0.0.0 --issuer http://localhost:8777", /clients need an https address/],
  ["--http --no-oauth --host 0.0.0.0", /: add --issuer https/],
])("[ST5] %s is refused", ([line, sentence]) => {
  expect(refusal(line)).toMatch(sentence);
});

test("[ST5] with --http the issuer names the proxy in front, also where --no-oauth is said", () => {
  expect(settings("--http --no-oauth --issuer https://m.example").mode).toMatchObject({ kind: "http", issuer: "https://m.example" });
});

/** A value for each flag, by itself beyond reproach. */
const FLAG = {
  relay: "--relay https://r.example",
  workspace: "--workspace x",
  "key-file": "--key-file k",
  "take-over": "--take-over",
  issuer: "--issuer https://m.example",
  "allow-origin": "--allow-origin https://a.example",
  token: "--token abcdefghijklmnopq",
  "oauth-redirect": "--oauth-redirect https://c.example/cb",
  // Half a pair has tests of its own.
  "oauth-client-id": "--oauth-client-id a --oauth-client-secret abcdefghijklmnopqrst",
  "no-oauth": "--no-oauth",
  oauth: "--oauth",
  port: "--port 1",
  host: "--host 127.0.0.1",
  "ui-port": "--ui-port 1",
  "ui-host": "--ui-host localhost",
  "ui-token": "--ui-token abcdefghijklmnopq",
  "no-open": "--no-open",
  "block-ms": "--block-ms 45000",
  "audit-full": "--audit-full",
  json: "--json",
} as const;
type Named = keyof typeof FLAG;
const ALL = Object.keys(FLAG) as Named[];
const PAGE = ["ui-port", "ui-host", "ui-token", "no-open"] as const;
/** Mean something with `--human` only. */
const HUMAN = ["block-ms", "audit-full"] as const;
const OAUTH = ["oauth-redirect", "oauth-client-id"] as const;
const NAMED_RELAY = ["relay", "oauth", "no-oauth"] as const;

test.for<[string, RegExp]>([
  ["--no-mcp --expose a", /^--no-mcp and --expose exclude each other/],
  ["--mcp-config a.json --no-mcp", /^--no-mcp and --mcp-config exclude each other/],
  ["--expose ,", /^--expose must name at least one MCP server/],
  ["--expose all,a", /^--expose names servers or all, not both/],
])("[ST90] '%s' is refused: MCP servers are left out or used, some or all of them exposed", ([line, sentence]) => {
  expect(refusal(line)).toMatch(sentence);
});

const deployed = { [DEPLOYED]: "1" };
const AND_LEAVE = ": leave one out.";
const ADD_OR_LEAVE = (flag: string): string => `: add ${flag}, or leave it out.`;
const ADD_HUMAN = ": add --human, or leave one out.";

interface Way {
  readonly line: string;
  readonly env?: Env;
  readonly refused: readonly Named[];
  /** Follows the flag's name. */
  readonly sentence: string;
  /** Chooses another way, or is refused with a sentence of its own that has a test above. */
  readonly apart?: readonly Named[];
}

const WAYS: readonly Way[] = [
  {
    line: "--stdio",
    refused: ALL.filter((flag) => ![...PAGE, ...HUMAN].some((other) => other === flag)),
    sentence: ` has no meaning with --stdio${AND_LEAVE}`,
    apart: [...PAGE, ...HUMAN],
  },
  {
    line: "--stdio",
    refused: PAGE,
    sentence: ` is for the page, which --stdio has with --human only${ADD_HUMAN}`,
    apart: ALL.filter((flag) => !(PAGE as readonly string[]).includes(flag)),
  },
  {
    line: "--stdio --human",
    refused: ALL.filter((flag) => ![...PAGE, ...HUMAN].some((other) => other === flag)),
    sentence: ` has no meaning with --stdio${AND_LEAVE}`,
  },
  {
    line: "--http",
    refused: ["workspace", ...OAUTH, "key-file", "take-over"],
    sentence: ` has no meaning with --http${AND_LEAVE}`,
    apart: ["relay", "oauth", ...PAGE, ...HUMAN],
  },
  {
    line: "--http",
    refused: PAGE,
    sentence: ` is for the page, which --http has with --human only${ADD_HUMAN}`,
    apart: ["relay", "oauth", "workspace", ...OAUTH, "key-file", "take-over", ...HUMAN],
  },
  {
    line: "--http --human",
    refused: ["workspace", ...OAUTH, "key-file", "take-over"],
    sentence: ` has no meaning with --http${AND_LEAVE}`,
    apart: ["relay", "oauth"],
  },
  {
    line: "--relay https://r.example",
    refused: HUMAN,
    sentence: ` goes with --human${ADD_OR_LEAVE("--human")}`,
    apart: ["port", "host", ...NAMED_RELAY],
  },
  { line: "--relay https://r.example --human --no-oauth", refused: [], sentence: "", apart: ["port", "host", "issuer", ...OAUTH, ...NAMED_RELAY] },
  {
    line: "--relay https://r.example",
    refused: ["port", "host"],
    sentence: ` is for the local relay, and --relay https://r.example dials another${AND_LEAVE}`,
    apart: [...HUMAN, ...NAMED_RELAY],
  },
  {
    line: "",
    env: deployed,
    refused: ["port", "host"],
    sentence: ` is for the local relay, and the deployed one is dialled${ADD_OR_LEAVE("--relay local")}`,
    apart: [...HUMAN, ...NAMED_RELAY],
  },
  {
    line: "",
    refused: ["key-file", "take-over"],
    sentence: ` goes with a deployed relay, and none is configured${ADD_OR_LEAVE("--relay https://…")}`,
    apart: [...HUMAN, ...NAMED_RELAY],
  },
  {
    line: "--relay local",
    env: deployed,
    refused: ["key-file", "take-over"],
    sentence: ` goes with a deployed relay, and --relay local is the one of this machine${AND_LEAVE}`,
    apart: [...HUMAN, ...NAMED_RELAY],
  },
  {
    line: "--http --oauth",
    refused: ["key-file", "take-over"],
    sentence: ` goes with a deployed relay, and --http with --oauth is the one of this machine${AND_LEAVE}`,
    apart: [...HUMAN, ...NAMED_RELAY],
  },
  {
    line: "--relay local --no-oauth",
    refused: PAGE,
    sentence: ` is for the page, which --no-oauth switches off where --human is not given${ADD_HUMAN}`,
    apart: ["key-file", "take-over", "issuer", ...OAUTH, ...HUMAN, ...NAMED_RELAY],
  },
  {
    line: "--relay local --no-oauth",
    refused: OAUTH,
    sentence: ` is for OAuth, which --no-oauth switches off${AND_LEAVE}`,
    apart: ["key-file", "take-over", "issuer", ...PAGE, ...HUMAN, ...NAMED_RELAY],
  },
];

test.for(WAYS)(
  "[ST5] '$line' with $env refuses exactly the flags that have no meaning there",
  ({ line, env = {}, refused, sentence, apart = [] }) => {
    for (const name of ALL.filter((flag) => !apart.includes(flag))) {
      const command = read(`${line} ${FLAG[name]}`.trim(), env);
      expect([name, command.ok ? "starts" : command.error]).toEqual([name, refused.includes(name) ? `--${name}${sentence}` : "starts"]);
    }
  },
);

test.for<[string, Env, string]>([
  ["--stdio", { PI_AS_MCP_PORT: "1" }, "PI_AS_MCP_PORT has no meaning with --stdio, so it is ignored."],
  ["--stdio", { PI_AS_MCP_WORKSPACE: "x" }, "PI_AS_MCP_WORKSPACE has no meaning with --stdio, so it is ignored."],
  ["--http", { PI_AS_MCP_KEY_FILE: "/k" }, "PI_AS_MCP_KEY_FILE has no meaning with --http, so it is ignored."],
  ["", { ...deployed, PI_AS_MCP_HOST: "0.0.0.0" }, "PI_AS_MCP_HOST is for the local relay, and the deployed one is dialled, so it is ignored."],
  ["", { PI_AS_MCP_TAKE_OVER: "1" }, "PI_AS_MCP_TAKE_OVER goes with a deployed relay, and none is configured, so it is ignored."],
  ["--stdio", { PI_AS_MCP_OAUTH_CLIENT_ID: "a" }, "PI_AS_MCP_OAUTH_CLIENT_ID has no meaning with --stdio, so it is ignored."],
  ["--http", { PI_AS_MCP_OAUTH_CLIENT_SECRET: "s" }, "PI_AS_MCP_OAUTH_CLIENT_SECRET has no meaning with --http, so it is ignored."],
  [
    "--no-oauth",
    { PI_AS_MCP_OAUTH_REDIRECT: "https://a.example/cb" },
    "PI_AS_MCP_OAUTH_REDIRECT is for OAuth, which --no-oauth switches off, so it is ignored.",
  ],
  [
    "--no-oauth",
    { PI_AS_MCP_UI_PORT: "1" },
    "PI_AS_MCP_UI_PORT is for the page, which --no-oauth switches off where --human is not given, so it is ignored.",
  ],
  ["--stdio", { PI_AS_MCP_UI_TOKEN: "x" }, "PI_AS_MCP_UI_TOKEN is for the page, which --stdio has with --human only, so it is ignored."],
  ["", { PI_AS_MCP_BLOCK_MS: "x" }, "PI_AS_MCP_BLOCK_MS goes with --human, so it is ignored."],
])("[ST5] [ST6] '%s' with %o ignores the variable and says so", ([line, env, notice]) => {
  expect(notices(line, env)).toEqual([notice]);
  const without = Object.fromEntries(Object.entries(env).filter(([name]) => name === DEPLOYED));
  expect(settings(line, env)).toEqual(settings(line, without));
});

test("[ST6] a switch that is off by its variable is no remark", () => {
  expect(notices("", { PI_AS_MCP_TAKE_OVER: "0" })).toEqual([]);
});

test("[ST5] a flag against a variable that chose the mode names the variable", () => {
  expect(refusal("--port 1", { PI_AS_MCP_STDIO: "1" })).toBe("--port has no meaning with PI_AS_MCP_STDIO: leave one out.");
  expect(refusal("--port 1", { PI_AS_MCP_RELAY: "https://r.example" })).toBe(
    "--port is for the local relay, and PI_AS_MCP_RELAY dials another: leave one out.",
  );
});

test.for<[Env, RegExp]>([
  [{ PI_AS_MCP_HTTP: "maybe" }, /^PI_AS_MCP_HTTP is a switch: 1 or 0, got "maybe"\.$/],
  [{ PI_AS_MCP_UI_PORT: "x" }, /^PI_AS_MCP_UI_PORT must be a port number/],
])("[ST3] a variable that cannot be read refuses the start: %o", ([env, sentence]) => {
  expect(refusal("", env)).toMatch(sentence);
});

test("[ST6] --oauth and --no-tunnel are accepted and said to be the default, once each", () => {
  expect(notices("--oauth --no-tunnel")).toEqual([
    "--oauth is the default now; you can leave it out.",
    "--no-tunnel is the default now; you can leave it out.",
  ]);
  expect(notices("", { PI_AS_MCP_OAUTH: "1" })).toEqual([]);
});

test("[ST6] nothing is said to be the default whose absence would change the start", () => {
  expect(notices("--http --oauth")).toEqual(["--http --oauth is the local relay: leave both out."]);
  expect(notices("--http --oauth", deployed)).toEqual(["--http --oauth is the local relay: --relay local says the same."]);
  expect(notices("--oauth", { PI_AS_MCP_NO_OAUTH: "1" })).toEqual([]);
  expect(notices("--oauth", { PI_AS_MCP_OAUTH: "0" })).toEqual([]);
});

test("[ST6] a variable that is no setting is named and ignored", () => {
  expect(notices("", { PI_AS_MCP_PROT: "1" })).toEqual([
    "PI_AS_MCP_PROT is not a setting of this version and is ignored. Did you mean PI_AS_MCP_PORT?",
  ]);
});

test("[ST6] a token short enough to guess is remarked on without being shown", () => {
  expect(notices("--token hunter2").join()).toContain("short enough to be guessed");
  expect(notices("--token hunter2").join()).not.toContain("hunter2");
});

test.for<[string, object]>([
  ["open", { ok: true, value: { kind: "open", workspace: null } }],
  ["open --workspace pi", { ok: true, value: { kind: "open", workspace: "pi" } }],
  ["--workspace=default open", { ok: true, value: { kind: "open", workspace: "default" } }],
  ["open --port 1", { ok: false, error: "pimcp open takes no arguments but --workspace NAME." }],
  ["open x", { ok: false, error: "pimcp open takes no arguments but --workspace NAME." }],
  ["open --workspace Pi", { ok: false, error: expect.stringMatching(/^--workspace must be 1 to 32/) as string }],
])("[ST8] %s chooses the page", ([line, command]) => {
  expect(read(line)).toEqual(command);
});

test.for<[string, string]>([
  ["--help", "help"],
  ["-h", "help"],
  ["--port x --help", "help"],
  ["help", "help"],
  ["--version", "version"],
  ["open", "open"],
])("[ST8] %s", ([line, kind]) => {
  expect(read(line)).toMatchObject({ ok: true, value: { kind } });
});

const SECRET = "A+secret/of=plenty-characters";
const PAIR = { id: "pimcp-gemini", secret: SECRET };

test.for<[string, Env]>([
  [`--oauth-client-id pimcp-gemini --oauth-client-secret ${SECRET}`, {}],
  ["--oauth-client-id pimcp-gemini", { PI_AS_MCP_OAUTH_CLIENT_SECRET: SECRET }],
  [`--oauth-client-secret=${SECRET}`, { PI_AS_MCP_OAUTH_CLIENT_ID: "pimcp-gemini" }],
  ["", { PI_AS_MCP_OAUTH_CLIENT_ID: "pimcp-gemini", PI_AS_MCP_OAUTH_CLIENT_SECRET: SECRET }],
  ["--oauth-client-id pimcp-gemini", { PI_AS_MCP_OAUTH_CLIENT_ID: "other", PI_AS_MCP_OAUTH_CLIENT_SECRET: SECRET }],
  ["--http --oauth --oauth-client-id pimcp-gemini", { PI_AS_MCP_OAUTH_CLIENT_SECRET: SECRET }],
  ["--relay https://r.example --oauth-client-id pimcp-gemini", { PI_AS_MCP_OAUTH_CLIENT_SECRET: SECRET }],
])("[ST26] a pair is whole whichever way its halves come: %s with %o", ([line, env]) => {
  expect(settings(line, env).client).toEqual(PAIR);
});

test.for<[string, Env, string]>([
  ["--oauth-client-id a", {}, "--oauth-client-id goes with --oauth-client-secret (or PI_AS_MCP_OAUTH_CLIENT_SECRET)"],
  [`--oauth-client-secret ${SECRET}`, {}, "--oauth-client-secret goes with --oauth-client-id (or PI_AS_MCP_OAUTH_CLIENT_ID)"],
  ["", { PI_AS_MCP_OAUTH_CLIENT_ID: "a" }, "PI_AS_MCP_OAUTH_CLIENT_ID goes with --oauth-client-secret (or PI_AS_MCP_OAUTH_CLIENT_SECRET)"],
  ["", { PI_AS_MCP_OAUTH_CLIENT_SECRET: SECRET, PI_AS_MCP_OAUTH_CLIENT_ID: "" }, "PI_AS_MCP_OAUTH_CLIENT_SECRET goes with --oauth-client-id"],
])("[ST26] half a pair refuses the start: %s with %o", ([line, env, sentence]) => {
  const said = refusal(line, env);
  expect(said.startsWith(sentence)).toBe(true);
  expect(said).toMatch(/: give both, or neither to use the pair that pimcp keeps\.$/);
  expect(said).not.toContain(SECRET);
});

test.for([
  ["https://a.example/c", SECRET],
  ["pimcp b", SECRET],
  ["pimcp/b", SECRET],
  ["p".repeat(101), SECRET],
  ["pimcp-é", SECRET],
  ["pimcp-a", "with a space"],
  ["pimcp-a", "secret-é"],
  ["pimcp-a", "x".repeat(513)],
])("[ST26] [ST3] the pair %s and %s is refused in one sentence that shows neither", ([id = "", secret = ""]) => {
  const said = refusal("", { PI_AS_MCP_OAUTH_CLIENT_ID: id, PI_AS_MCP_OAUTH_CLIENT_SECRET: secret });
  expect(said).toMatch(
    /^PI_AS_MCP_OAUTH_CLIENT_(ID may hold letters, digits and -\._~ only, at most 100 of them: .*|SECRET must be 1 to 512 visible ASCII characters without spaces)\.$/,
  );
  expect(said.replace("pimcp-gemini", "")).not.toContain(id);
  expect(said).not.toContain(secret);
});

test("[ST26] [ST6] a client secret short enough to guess is remarked on without being shown", () => {
  expect(notices(`--oauth-client-id a --oauth-client-secret ${"x".repeat(20)}`)).toEqual([]);
  const said = notices("--oauth-client-id a --oauth-client-secret hunter2").join();
  expect(said).toContain("short enough to be guessed");
  expect(said).not.toContain("hunter2");
});

test.for<[string, Env, readonly string[]]>([
  ["--oauth-redirect https://a.example/r/x?y=1", {}, ["https://a.example/r/x?y=1"]],
  [
    "--oauth-redirect https://a.example,https://b.example/ --oauth-redirect http://127.0.0.1/cb",
    {},
    ["https://a.example", "https://b.example/", "http://127.0.0.1/cb"],
  ],
  ["--oauth-redirect http://localhost:8000/cb,http://localhost:8000/cb", {}, ["http://localhost:8000/cb"]],
  ["", { PI_AS_MCP_OAUTH_REDIRECT: "https://a.example/1, http://[::1]:9/cb" }, ["https://a.example/1", "http://[::1]:9/cb"]],
  ["--oauth-redirect https://flag.example", { PI_AS_MCP_OAUTH_REDIRECT: "https://variable.example" }, ["https://flag.example"]],
])("[ST26] addresses named in advance are kept to the letter: %s with %o", ([line, env, redirects]) => {
  expect(settings(line, env).redirects).toEqual(redirects);
});

test.for<[string, string]>([
  ["http://a.example/cb", "must be https: only a loopback address may be http"],
  ["http://localhost.a.example/cb", "must be https: only a loopback address may be http"],
  ["https://a.example/cb#x", "must have no fragment (#…)"],
  ["https://a.example/cb#", "must have no fragment (#…)"],
  ["https://user@a.example/cb", "must have no user name in it"],
  ["https://:@a.example/cb", "must have no user name in it"],
  ["a.example/cb", "must be a whole address such as https://client.example/callback"],
  ["/cb", "must be a whole address such as https://client.example/callback"],
  ["https:a.example", "must be a whole address such as https://client.example/callback"],
  ["https:///cb", "must be a whole address such as https://client.example/callback"],
  ["cursor://x/cb", "must be a whole address such as https://client.example/callback"],
  ["javascript:alert(1)", "must be a whole address such as https://client.example/callback"],
  ["https://a.example/c b", "must be an address of plain ASCII without spaces and backslashes"],
  ["https://a.example\\b", "must be an address of plain ASCII without spaces and backslashes"],
  ["https://a.example/é", "must be an address of plain ASCII without spaces and backslashes"],
  [`https://a.example/${"x".repeat(2000)}`, "must be an address of plain ASCII without spaces and backslashes"],
])("[ST26] [ST3] the redirect address %s is refused", ([address, expected]) => {
  expect(refusal("", { PI_AS_MCP_OAUTH_REDIRECT: `https://good.example,${address}` })).toBe(
    `PI_AS_MCP_OAUTH_REDIRECT ${expected}, got ${JSON.stringify(address.slice(0, 300))}.`,
  );
});

test("[ST26] no address at all, or more than the relay takes, is refused", () => {
  expect(refusal("--oauth-redirect ,")).toBe("--oauth-redirect must name 1 to 20 addresses, got 0.");
  const many = Array.from({ length: 21 }, (_, at) => `https://a.example/${at}`).join(",");
  expect(refusal(`--oauth-redirect ${many}`)).toBe("--oauth-redirect must name 1 to 20 addresses, got 21.");
});
