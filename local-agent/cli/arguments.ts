/**
 * argv and environment → one command with checked settings, or one sentence. Pure: opens nothing, and asks for what is on disk.
 * Rules: docs/spec/start.md.
 */
import { isAbsolute, join, resolve } from "node:path";
import { err, ok, type Result } from "../../shared/result.ts";
import type { ClientCredentials } from "../daemon/client-credentials.ts";
import { DEFAULTS, hasPage, isLoopback, type Listener, type Mode, type Settings, type UpstreamSettings } from "../daemon/settings.ts";
import { readChosenWorkspace, readingValues } from "./command-words.ts";
import { envName, type FlagName } from "./flags.ts";
import { readArgv, readEnvironment, type CommandLine, type GivenFlag, type GivenFlags } from "./given-flags.ts";
import { keepFitting, type Carrier, type Situation } from "./mode-flags.ts";
import { didYouMean } from "../../shared/nearest.ts";
import { longWaitNotice, readApproved, readBlockMs, readExposed, readUiHost, readUiToken } from "./human-values.ts";
import {
  BadValue,
  readClientId,
  readClientSecret,
  readDenied,
  readHost,
  readIssuer,
  readOrigin,
  readPort,
  readRedirects,
  readRelay,
  readToken,
  readTools,
  readWorkspace,
} from "./values.ts";

export type Command =
  | { readonly kind: "run"; readonly settings: Settings; readonly notices: readonly string[] }
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  /** Of several agents, the one of this workspace; null: all. */
  | { readonly kind: "open"; readonly workspace: string | null };

export interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a plain start dials a relay that was deployed. Asked only when nothing else decides. */
  readonly isRelayDeployed: () => boolean;
}

/** Subcommands of other releases, so that asking for one is told apart from a typing error. */
const NOT_YET_COMMANDS = ["doctor", "pair", "service", "init"];
/** They read their own arguments (`main.ts`) and come here only when something stands before them. */
const FIRST_WORDS = ["deploy", "pending", "allow", "deny", "grants", "revoke", "token", "audit", "config", "upstream-token"];
const COMMANDS = ["open", "help", ...FIRST_WORDS, ...NOT_YET_COMMANDS];

/** The error is one sentence for the person. `deploy` has its own arguments (`deploy-arguments.ts`) and does not come here. */
export function readCommand(argv: readonly string[], around: Surroundings): Result<Command, string> {
  const line = readArgv(argv);
  if (!line.ok) return line;
  if (line.value.given.has("help")) return ok({ kind: "help" });
  if (line.value.given.has("version")) return ok({ kind: "version" });
  if (line.value.command !== null) return readSubcommand(line.value);
  const fromEnv = readEnvironment(around.env);
  if (!fromEnv.ok) return fromEnv;
  const run = readRun({ flags: line.value.given, env: fromEnv.value.given }, around);
  return run.ok ? ok({ kind: "run", settings: run.value.settings, notices: [...fromEnv.value.notices, ...run.value.notices] }) : run;
}

function readSubcommand(line: CommandLine): Result<Command, string> {
  const command = line.command ?? "";
  if (command === "help") return ok({ kind: "help" });
  if (command === "open") {
    const others = [...line.given.keys()].filter((name) => name !== "workspace");
    if (line.words.length > 0 || others.length > 0) return err("pimcp open takes no arguments but --workspace NAME.");
    const workspace = text(line.given, "workspace");
    return readingValues(() => ok({ kind: "open", workspace: workspace === undefined ? null : readChosenWorkspace(workspace) }));
  }
  if (FIRST_WORDS.includes(command)) return err(`${command} has to be the first word: pimcp ${command} [flags].`);
  if (NOT_YET_COMMANDS.includes(command)) return err(`pimcp ${command} is not part of this version yet.`);
  return err(
    `Unexpected argument ${JSON.stringify(command)}: pimcp takes flags, e.g. --root DIR.${didYouMean(command, COMMANDS, "pimcp ")} See pimcp --help.`,
  );
}

/** Choices that exclude each other: one made by a flag sets aside what the environment chose. */
const CHOICES: readonly (readonly FlagName[])[] = [
  ["stdio", "http", "relay"],
  ["oauth", "no-oauth"],
];

/** [ST2] Flags over environment, also across alternatives. */
function overlay(flags: GivenFlags, env: GivenFlags): GivenFlags {
  const all = new Map([...env, ...flags]);
  for (const choice of CHOICES) {
    if (!choice.some((name) => flags.has(name))) continue;
    for (const name of choice) if (!flags.has(name)) all.delete(name);
  }
  return all;
}

interface Run {
  readonly settings: Settings;
  readonly notices: readonly string[];
}

interface Asked {
  readonly flags: GivenFlags;
  readonly env: GivenFlags;
}

function readRun(asked: Asked, around: Surroundings): Result<Run, string> {
  const given = overlay(asked.flags, asked.env);
  try {
    const situation = readSituation(given, around);
    const fitting = keepFitting(given, situation);
    if (!fitting.ok) return fitting;
    const settings = readSettings(fitting.value.given, situation, around);
    if (situation.kind !== "dialled") requireTwoPorts(settings, fitting.value.given);
    return ok({ settings, notices: [...fitting.value.notices, ...notices(asked, fitting.value.given, settings, around)] });
  } catch (error) {
    if (error instanceof BadValue) return err(error.message);
    throw error;
  }
}

/** [ST4] Who carries MCP, before any value is looked at. */
function readSituation(given: GivenFlags, around: Surroundings): Situation {
  return { ...readCarrier(given, around), human: isOn(given, "human") };
}

function readCarrier(given: GivenFlags, around: Surroundings): Carrier {
  const http = isOn(given, "http");
  if (isOn(given, "stdio")) {
    if (http) throw new BadValue("--stdio and --http exclude each other: choose one.");
    return { kind: "stdio", as: as(given, "stdio") };
  }
  if (http && given.has("relay")) throw new BadValue("--http and --relay exclude each other: with --http the agent serves /mcp itself.");
  const oauth = readOauth(given);
  if (http && oauth.is !== "on") return { kind: "http", as: as(given, "http") };
  const noOauthAs = oauth.is === "off" ? oauth.as : null;
  if (http) return { kind: "embedded", as: `${as(given, "http")} with ${oauth.as}`, noOauthAs };
  if (!given.has("relay")) return { kind: around.isRelayDeployed() ? "dialled" : "embedded", as: null, noOauthAs };
  const isLocal = value(given, "relay") === "local";
  const said = given.get("relay")?.by === "flag" ? `--relay ${value(given, "relay")}` : as(given, "relay");
  return { kind: isLocal ? "embedded" : "dialled", as: said, noOauthAs };
}

function readOauth(given: GivenFlags): { readonly is: "on" | "off" | "default"; readonly as: string } {
  const no = given.has("no-oauth") ? isOn(given, "no-oauth") : given.has("oauth") && !isOn(given, "oauth");
  if (no && isOn(given, "oauth")) throw new BadValue("--oauth and --no-oauth exclude each other: leave one out.");
  if (no) return { is: "off", as: as(given, given.has("no-oauth") ? "no-oauth" : "oauth") };
  return { is: isOn(given, "oauth") ? "on" : "default", as: as(given, "oauth") };
}

function readSettings(given: GivenFlags, situation: Situation, around: Surroundings): Settings {
  const tools = given.has("tools") ? readTools(value(given, "tools")) : null;
  return {
    mode: readMode(given, situation, around),
    root: absolute(text(given, "root") ?? ".", around),
    tools,
    deny: given.has("deny") ? readDenied(value(given, "deny")) : DEFAULTS.deny,
    token: given.has("token") ? readToken(value(given, "token"), as(given, "token")) : null,
    client: readClient(given),
    redirects: given.has("oauth-redirect") ? readRedirects(given.get("oauth-redirect")?.values ?? [], as(given, "oauth-redirect")) : null,
    allowOrigins: (given.get("allow-origin")?.values ?? [])
      .flatMap((list) => list.split(","))
      .map((item) => readOrigin(item.trim(), "--allow-origin")),
    ...readPage(given),
    human: isOn(given, "human"),
    approve: readApprove(given, tools),
    blockMs: given.has("block-ms") ? readBlockMs(value(given, "block-ms"), as(given, "block-ms")) : null,
    auditFull: isOn(given, "audit-full"),
    upstreams: readUpstreams(given, around),
    openPage: !isOn(given, "no-open"),
    json: isOn(given, "json"),
    verbose: isOn(given, "verbose"),
  };
}

/** [ST26] Both or neither, whichever way each is given: half a pair would be completed by a stranger to it. */
function readClient(given: GivenFlags): ClientCredentials | null {
  const [id, secret] = ["oauth-client-id", "oauth-client-secret"] as const;
  if (!given.has(id) && !given.has(secret)) return null;
  if (!given.has(id) || !given.has(secret)) {
    const [one, other] = given.has(id) ? [id, secret] : [secret, id];
    throw new BadValue(`${as(given, one)} goes with --${other} (or ${envName(other)}): give both, or neither to use the pair that pimcp keeps.`);
  }
  return { id: readClientId(value(given, id), as(given, id)), secret: readClientSecret(value(given, secret), as(given, secret)) };
}

function readMode(given: GivenFlags, situation: Situation, around: Surroundings): Mode {
  if (situation.kind === "stdio") return { kind: "stdio" };
  const listen = readListener(given, "host", "port", DEFAULTS.port);
  // The agent's own port has no workspaces.
  const readPublic = situation.kind === "http" ? readOrigin : readIssuer;
  const issuer = given.has("issuer") ? readPublic(value(given, "issuer"), as(given, "issuer")) : null;
  const hasOauth = situation.kind !== "http" && situation.noOauthAs === null;
  requireIssuer(listen, issuer, hasOauth || situation.kind === "http");
  if (situation.kind === "http") return { kind: "http", listen, issuer };
  return {
    kind: "relay",
    relay: isOn(given, "http") ? "local" : given.has("relay") ? readRelay(value(given, "relay"), as(given, "relay")) : null,
    workspace: given.has("workspace") ? readWorkspace(value(given, "workspace"), as(given, "workspace")) : null,
    keyFile: given.has("key-file") ? absolute(text(given, "key-file") ?? "", around) : null,
    listen,
    issuer,
    oauth: hasOauth,
    takeOver: isOn(given, "take-over"),
  };
}

/** Credentials must not cross a network in clear text (RFC 6750 §5.3), and clients refuse an http issuer beyond loopback. */
function requireIssuer(listen: Listener, issuer: string | null, takesIssuer: boolean): void {
  if (isLoopback(listen.host) || issuer?.startsWith("https:") === true) return;
  const wayOut = takesIssuer ? "add --issuer https://… (a reverse proxy with TLS in front)" : "leave out --no-oauth and add --issuer https://…";
  throw new BadValue(
    `--host ${listen.host} can be reached from other machines, so clients need an https address: ${wayOut}, or use --host 127.0.0.1.`,
  );
}

/** The page and what serves `/mcp` are two listeners; 0 lets the system choose. */
function requireTwoPorts(settings: Settings, given: GivenFlags): void {
  const { mode, ui } = settings;
  if (mode.kind === "stdio" || !hasPage(settings) || mode.listen.port === 0 || mode.listen.port !== ui.port) return;
  if (!shareAddress(mode.listen.host, ui.host)) return;
  const other = mode.kind === "http" ? "/mcp" : "relay";
  throw new BadValue(`${as(given, "port")} and ${as(given, "ui-port")} are both ${ui.port}: ${other} and page need a port each.`);
}

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

function shareAddress(one: string, other: string): boolean {
  const [a, b] = [one, other].map((host) => (host.toLowerCase() === "localhost" ? DEFAULTS.host : host));
  return a === b || EVERY_ADDRESS.includes(one) || EVERY_ADDRESS.includes(other);
}

/** [ST83] Whoever reaches the page and knows its secret can hand out this workstation: beyond loopback that is for the person to choose. */
function readPage(given: GivenFlags): Pick<Settings, "ui" | "uiToken"> {
  const ui = {
    host: given.has("ui-host") ? readUiHost(value(given, "ui-host"), as(given, "ui-host")) : DEFAULTS.host,
    port: given.has("ui-port") ? readPort(value(given, "ui-port"), as(given, "ui-port")) : DEFAULTS.uiPort,
  };
  const uiToken = given.has("ui-token") ? readUiToken(value(given, "ui-token"), as(given, "ui-token")) : null;
  if (uiToken === null && !isLoopback(ui.host))
    throw new BadValue(
      `${as(given, "ui-host")} ${ui.host} can be reached from other machines, and whoever opens the page can hand out this workstation: set PI_AS_MCP_UI_TOKEN to a secret (openssl rand -hex 16 makes one), or use --ui-host 127.0.0.1.`,
    );
  return { ui, uiToken };
}

/** [ST90] */
function readUpstreams(given: GivenFlags, around: Surroundings): UpstreamSettings | null {
  if (isOn(given, "no-mcp")) {
    const other = (["mcp-config", "expose"] as const).find((name) => given.get(name)?.by === "flag");
    if (other !== undefined) throw new BadValue(`${as(given, "no-mcp")} and --${other} exclude each other: leave one out.`);
    return null;
  }
  return {
    configFile: given.has("mcp-config") ? absolute(value(given, "mcp-config"), around) : null,
    expose: given.has("expose") ? readExposed(value(given, "expose"), as(given, "expose")) : [],
  };
}

/** [ST81] With nobody to ask, a gate would have to let everything through or nothing. */
function readApprove(given: GivenFlags, offered: readonly string[] | null): readonly string[] {
  if (!given.has("approve")) return [];
  if (!isOn(given, "human"))
    throw new BadValue(`${as(given, "approve")} needs --human: calls wait for your click on the page, and without it there is nobody to ask.`);
  return readApproved(value(given, "approve"), as(given, "approve"), offered);
}

function readListener(given: GivenFlags, host: FlagName, port: FlagName, fallback: number): Listener {
  return {
    host: given.has(host) ? readHost(value(given, host), as(given, host)) : DEFAULTS.host,
    port: given.has(port) ? readPort(value(given, port), as(given, port)) : fallback,
  };
}

/** [ST6] Accepted for old command lines; said once. And what would surprise somebody later. */
function notices(asked: Asked, given: GivenFlags, settings: Settings, around: Surroundings): readonly string[] {
  const said: string[] = [];
  if (given.get("oauth")?.by === "flag") said.push(...oauthNotice(asked.env, given, around));
  if (given.get("no-tunnel")?.by === "flag") said.push("--no-tunnel is the default now; you can leave it out.");
  if (settings.token !== null && settings.token.length < 16)
    said.push("The token given is short enough to be guessed; openssl rand -hex 16 makes a good one.");
  if (settings.client !== null && settings.client.secret.length < 20)
    said.push("The client secret given is short enough to be guessed; openssl rand -base64 32 makes a good one.");
  if (settings.blockMs !== null) said.push(...longWaitNotice(settings.blockMs, as(given, "block-ms")));
  return said;
}

/** Leaving `--oauth` out must change nothing where this says that it can be left out. */
function oauthNotice(env: GivenFlags, given: GivenFlags, around: Surroundings): readonly string[] {
  if (isOn(given, "http")) {
    const wayOut = around.isRelayDeployed() ? "--relay local says the same" : "leave both out";
    return [`${as(given, "http")} --oauth is the local relay: ${wayOut}.`];
  }
  const overrules = isOn(env, "no-oauth") || (env.has("oauth") && !isOn(env, "oauth"));
  return overrules ? [] : ["--oauth is the default now; you can leave it out."];
}

function absolute(path: string, around: Surroundings): string {
  const home = path === "~" || path.startsWith("~/") ? join(around.home, path.slice(1)) : path;
  return isAbsolute(home) ? resolve(home) : resolve(around.cwd, home);
}

function value(given: GivenFlags, name: FlagName): string {
  return text(given, name) ?? "";
}

function as(given: GivenFlags, name: FlagName): string {
  return given.get(name)?.as ?? `--${name}`;
}

function text(given: GivenFlags, name: FlagName): string | undefined {
  return given.get(name)?.values.at(-1);
}

function isOn(given: GivenFlags, name: FlagName): boolean {
  const flag: GivenFlag | undefined = given.get(name);
  return flag?.values.at(-1) === "on";
}
