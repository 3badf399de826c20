/**
 * argv and environment → one command with checked settings, or one sentence. Pure: looks at no file and opens nothing.
 * Rules: docs/spec/start.md.
 */
import { isAbsolute, join, resolve } from "node:path";
import { err, ok, type Result } from "../../shared/result.ts";
import { DEFAULTS, isLoopback, type Listener, type Mode, type Settings } from "../daemon/settings.ts";
import type { FlagName } from "./flags.ts";
import { readArgv, readEnvironment, type CommandLine, type GivenFlag, type GivenFlags } from "./given-flags.ts";
import { didYouMean } from "./nearest.ts";
import { BadValue, readDenied, readHost, readOrigin, readPort, readRelay, readToken, readTools } from "./values.ts";

export type Command =
  | { readonly kind: "run"; readonly settings: Settings; readonly notices: readonly string[] }
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "open" };

export interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Subcommands of other releases, so that asking for one is told apart from a typing error. */
const NOT_YET_COMMANDS = ["grants", "revoke", "token", "audit", "config", "upstream-token", "doctor", "pair", "service", "init"];
const COMMANDS = ["open", "deploy", ...NOT_YET_COMMANDS];

/** The error is one sentence for the person. `deploy` has its own arguments (`deploy-arguments.ts`) and does not come here. */
export function readCommand(argv: readonly string[], around: Surroundings): Result<Command, string> {
  const line = readArgv(argv);
  if (!line.ok) return line;
  if (line.value.given.has("help")) return ok({ kind: "help" });
  if (line.value.given.has("version")) return ok({ kind: "version" });
  if (line.value.command !== null) return readSubcommand(line.value);
  const fromEnv = readEnvironment(around.env);
  if (!fromEnv.ok) return fromEnv;
  const given = overlay(line.value.given, fromEnv.value.given);
  const settings = readSettings(given, around);
  if (!settings.ok) return settings;
  return ok({ kind: "run", settings: settings.value, notices: [...fromEnv.value.notices, ...notices(given, settings.value)] });
}

function readSubcommand(line: CommandLine): Result<Command, string> {
  const command = line.command ?? "";
  if (command === "open") {
    return line.words.length === 0 && line.given.size === 0 ? ok({ kind: "open" }) : err("pimcp open takes no arguments.");
  }
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

function readSettings(given: GivenFlags, around: Surroundings): Result<Settings, string> {
  try {
    const mode = readMode(given, around);
    return ok({
      mode,
      root: absolute(text(given, "root") ?? ".", around),
      tools: given.has("tools") ? readTools(value(given, "tools")) : null,
      deny: given.has("deny") ? readDenied(value(given, "deny")) : DEFAULTS.deny,
      token: given.has("token") ? readToken(value(given, "token"), as(given, "token")) : null,
      allowOrigins: (given.get("allow-origin")?.values ?? [])
        .flatMap((list) => list.split(","))
        .map((item) => readOrigin(item.trim(), "--allow-origin")),
      ui: readUiListener(given),
      openPage: !isOn(given, "no-open"),
      json: isOn(given, "json"),
      verbose: isOn(given, "verbose"),
    });
  } catch (error) {
    if (error instanceof BadValue) return err(error.message);
    throw error;
  }
}

function readMode(given: GivenFlags, around: Surroundings): Mode {
  const stdio = isOn(given, "stdio");
  const http = isOn(given, "http");
  const oauth = readOauth(given);
  if (stdio && http) throw new BadValue("--stdio and --http exclude each other: choose one.");
  if (stdio) {
    refuseFlags(given, "--stdio", [
      "relay",
      "key-file",
      "take-over",
      "issuer",
      "allow-origin",
      "token",
      "oauth",
      "no-oauth",
      "port",
      "host",
      "ui-port",
      "ui-host",
    ]);
    return { kind: "stdio" };
  }
  if (http && given.has("relay")) throw new BadValue("--http and --relay exclude each other: with --http the agent serves /mcp itself.");
  const listen = readListener(given, "host", "port", DEFAULTS.port);
  const issuer = readIssuer(given, oauth !== "off");
  requireIssuer(listen, issuer, oauth !== "off");
  if (http && oauth !== "on") {
    refuseFlags(given, "--http", ["key-file", "take-over", "ui-port", "ui-host"]);
    return { kind: "http", listen, issuer };
  }
  return {
    kind: "relay",
    relay: http ? "local" : given.has("relay") ? readRelay(value(given, "relay"), as(given, "relay")) : null,
    keyFile: given.has("key-file") ? absolute(text(given, "key-file") ?? "", around) : null,
    listen,
    issuer,
    oauth: oauth !== "off",
    takeOver: isOn(given, "take-over"),
  };
}

function readOauth(given: GivenFlags): "on" | "off" | "default" {
  const no = given.has("no-oauth") ? isOn(given, "no-oauth") : given.has("oauth") && !isOn(given, "oauth");
  if (no && isOn(given, "oauth")) throw new BadValue("--oauth and --no-oauth exclude each other: leave one out.");
  return no ? "off" : isOn(given, "oauth") ? "on" : "default";
}

function readIssuer(given: GivenFlags, oauth: boolean): string | null {
  const issuer = given.get("issuer");
  if (issuer === undefined) return null;
  if (oauth) return readOrigin(value(given, "issuer"), issuer.as);
  // A variable set for another mode is no contradiction of this one; a flag is (ST3).
  if (issuer.by === "flag") throw new BadValue("--issuer names the OAuth issuer, which --no-oauth switches off: leave one out.");
  return null;
}

/** Credentials must not cross a network in clear text (RFC 6750 §5.3), and clients refuse an http issuer beyond loopback. */
function requireIssuer(listen: Listener, issuer: string | null, oauth: boolean): void {
  if (isLoopback(listen.host) || issuer?.startsWith("https:") === true) return;
  const wayOut = oauth ? "add --issuer https://… (a reverse proxy with TLS in front)" : "leave out --no-oauth and add --issuer https://…";
  throw new BadValue(
    `--host ${listen.host} can be reached from other machines, so clients need an https address: ${wayOut}, or use --host 127.0.0.1.`,
  );
}

function readUiListener(given: GivenFlags): Listener {
  const ui = readListener(given, "ui-host", "ui-port", DEFAULTS.uiPort);
  if (ui.host === "127.0.0.1" || ui.host.toLowerCase() === "localhost") return { host: DEFAULTS.host, port: ui.port };
  throw new BadValue(
    `${as(given, "ui-host")} must be 127.0.0.1 or localhost, got ${JSON.stringify(ui.host)}: whoever reaches the page can hand out this workstation.`,
  );
}

function readListener(given: GivenFlags, host: FlagName, port: FlagName, fallback: number): Listener {
  return {
    host: given.has(host) ? readHost(value(given, host), as(given, host)) : DEFAULTS.host,
    port: given.has(port) ? readPort(value(given, port), as(given, port)) : fallback,
  };
}

function refuseFlags(given: GivenFlags, mode: string, names: readonly FlagName[]): void {
  const named = names.find((name) => given.get(name)?.by === "flag");
  if (named !== undefined) throw new BadValue(`--${named} has no meaning with ${mode}: leave one out.`);
}

/** [ST6] Accepted for old command lines; said once. And what would surprise somebody later. */
function notices(given: GivenFlags, settings: Settings): readonly string[] {
  const said: string[] = [];
  if (given.get("oauth")?.by === "flag" && settings.mode.kind === "relay") said.push("--oauth is the default now; you can leave it out.");
  if (given.get("no-tunnel")?.by === "flag") said.push("--no-tunnel is the default now; you can leave it out.");
  if (settings.token !== null && settings.token.length < 16)
    said.push("The token given is short enough to be guessed; openssl rand -hex 16 makes a good one.");
  return said;
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
