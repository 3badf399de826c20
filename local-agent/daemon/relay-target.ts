/** Which relay a run uses, and what it is called from outside. */
import { workspacePrefix } from "../../shared/workspace.ts";
import { readPrivateFile } from "./config-dir.ts";
import { agentKeyPath, readRememberedRelay } from "./remembered-relay.ts";
import { isLoopback, urlHost, type Listener, type Mode } from "./settings.ts";
import { StartFailure } from "./start-failure.ts";

export type RelayTarget = { readonly workspace: string | null } & (
  | { readonly kind: "embedded"; readonly listen: Listener; readonly place?: number }
  | { readonly kind: "deployed"; readonly url: string; readonly agentKey: string }
);

/** [ST4] Throws `StartFailure` when a relay is named for which no key can be found. */
export function chooseRelay(mode: Mode & { readonly kind: "relay" }, configDir: string): RelayTarget {
  const remembered = mode.relay === null ? readRememberedRelay(configDir) : undefined;
  const url = mode.relay ?? remembered?.url ?? "local";
  const { workspace } = mode;
  if (url === "local") {
    if (mode.keyFile !== null)
      throw new StartFailure("--key-file goes with a deployed relay, and none is configured: add --relay https://…, or leave it out.");
    return { kind: "embedded", workspace, listen: mode.listen, ...(mode.place === undefined ? {} : { place: mode.place }) };
  }
  const keyFile = mode.keyFile ?? remembered?.keyFile ?? keyFileOf(url, configDir);
  const agentKey = readPrivateFile(keyFile);
  if (agentKey === undefined)
    throw new StartFailure(`The agent key of ${url} is not at ${keyFile}: name its file with --key-file, or run npm run deploy.`);
  if (!/^[!-~]{1,512}$/.test(agentKey))
    throw new StartFailure(`${keyFile} holds no agent key: expected one line of visible characters without spaces.`);
  return { kind: "deployed", workspace, url, agentKey };
}

/** `--relay` naming the remembered relay needs no `--key-file`; the key is never sent to another one. */
function keyFileOf(url: string, configDir: string): string {
  const remembered = readRememberedRelay(configDir);
  if (remembered?.url === url) return remembered.keyFile;
  throw new StartFailure(
    `Which key ${url} was given is not known here: name its file with --key-file (npm run deploy keeps its own at ${agentKeyPath(configDir)}).`,
  );
}

/**
 * The origins clients may use, preferred one first (DESIGN D5). On loopback both names of this machine, because some clients
 * only accept one of them. Behind a public issuer that one alone: whoever reaches the port from outside chooses the Host header,
 * and a loopback name would be asked for no code (D6).
 */
export function canonicalOrigins(relayUrl: string, issuer: string | null): string[] {
  const own = ownOrigins(relayUrl);
  if (issuer === null) return own;
  const isPublic = !isLoopbackOrigin(issuer);
  return [...new Set([issuer, ...own.filter((each) => !isPublic || !isLoopbackOrigin(each))])];
}

/** By which the relay is reached without anything in front. */
function ownOrigins(relayUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(relayUrl);
  const suffix = port === "" ? "" : `:${port}`;
  const isHere = isLoopback(hostname) || hostname === "0.0.0.0" || hostname === "[::]";
  return isHere ? loopbackNames(hostname).map((name) => `${protocol}//${name}${suffix}`) : [origin];
}

/**
 * What a person should know of an issuer that is not the relay's own address: clients are told it and use no other (RFC 8414 §3.3), and
 * whether it leads to this relay cannot be seen from here. Sentences for people; none when there is nothing to say.
 */
export function issuerWarnings(kind: RelayTarget["kind"], relayUrl: string, issuer: string | null): readonly string[] {
  const [own = relayUrl, ...others] = ownOrigins(relayUrl);
  if (issuer === null || [own, ...others].includes(issuer)) return [];
  if (!isLoopbackOrigin(issuer)) {
    // In front of a port of this machine there has to be something; a relay that is dialled has a public address already.
    if (kind === "embedded") return [];
    return [
      `Clients are told ${issuer}, and the relay that is dialled is ${own}: both have to lead to the same relay, as a domain of your own does.`,
    ];
  }
  if (!isLoopbackOrigin(own))
    return [
      `Clients are told ${issuer}, which no other machine can reach, though the relay is ${own}: leave out --issuer, or name an https address of that relay.`,
    ];
  return [
    `Clients are told ${issuer}, and the relay listens at ${own}: they get in only if something on this machine leads from there to it. Otherwise leave out --issuer.`,
  ];
}

function isLoopbackOrigin(origin: string): boolean {
  return isLoopback(new URL(origin).hostname);
}

/** What identifies a workspace of a relay on this machine: the name of its directory and, in words, in messages. */
export function relayName(target: RelayTarget): string {
  const prefix = workspacePrefix(target.workspace);
  if (target.kind === "deployed") return target.url + prefix;
  const { listen, place = 0 } = target;
  return `http://${urlHost(listen.host)}:${listen.port}${prefix}${place === 0 ? "" : `#${place}`}`;
}

/** `relayName` taken apart again. */
export function readRelayName(name: string): { readonly relay: string; readonly workspace: string | null } {
  const [, relay = name, workspace] = /^(https?:\/\/[^/#]+)(?:\/w\/([^/#]+))?/.exec(name) ?? [];
  return { relay, workspace: workspace ?? null };
}

/** The flags with which another agent finds a place beside the one that has this. */
export function flagsBeside({ kind }: RelayTarget, hasPage: boolean): string {
  return `${kind === "deployed" ? "--workspace NAME" : "another --port"}${hasPage ? " and another --ui-port" : ""}`;
}

function loopbackNames(hostname: string): readonly string[] {
  if (hostname === "[::1]") return ["[::1]", "localhost"];
  return hostname === "localhost" || hostname === "0.0.0.0" || hostname === "[::]" ? ["127.0.0.1", "localhost"] : [hostname, "localhost"];
}
