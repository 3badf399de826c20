/** Everything one run was asked to do, as values that were checked already (`cli/arguments.ts` makes them). */
import type { ClientCredentials } from "./client-credentials.ts";

export interface Listener {
  readonly host: string;
  /** 0 lets the system choose; used by tests. */
  readonly port: number;
}

/** Who carries MCP to this agent. */
export type Mode =
  | { readonly kind: "stdio" }
  /** The agent itself serves `/mcp`; static token only. */
  | { readonly kind: "http"; readonly listen: Listener; readonly issuer: string | null }
  | {
      readonly kind: "relay";
      /** An https (or loopback http) origin; `"local"` is the embedded relay; null: the remembered one, else the embedded one. */
      readonly relay: string | null;
      /** Which workspace of it; null: the one without a name. */
      readonly workspace: string | null;
      readonly keyFile: string | null;
      /** Where the embedded relay listens. */
      readonly listen: Listener;
      /** Public origin put in front of the relay, as clients see it; no path, no slash. */
      readonly issuer: string | null;
      /** False with `--no-oauth`: no OAuth routes. */
      readonly oauth: boolean;
      readonly takeOver: boolean;
      /** Tells agents apart whose embedded relays all let the system choose a port: 0, 1, 2 … */
      readonly place?: number;
    };

export interface UpstreamSettings {
  /** Absolute; in place of the file in Pi's directory. */
  readonly configFile: string | null;
  /** Names of the servers that clients see as they are. */
  readonly expose: readonly string[] | "all";
}

export interface Settings {
  readonly mode: Mode;
  /** Absolute. That it exists is checked when the agent starts. */
  readonly root: string;
  /** null: the platform's default. */
  readonly tools: readonly string[] | null;
  readonly deny: readonly string[];
  /** Static bearer token of this run; null: the minted one. */
  readonly token: string | null;
  /** Id and secret of the client that is set up by hand, for this run; null: the minted ones. */
  readonly client: ClientCredentials | null;
  /** The only addresses that client may return to; null: the person decides about each one. */
  readonly redirects: readonly string[] | null;
  /** Foreign web origins that may call `/mcp`. */
  readonly allowOrigins: readonly string[];
  /** Where the page is served: an IP address. */
  readonly ui: Listener;
  /** The page's secret, chosen by the person; null: a new one at every start. */
  readonly uiToken: string | null;
  /** Whether clients can talk with the person. */
  readonly human: boolean;
  /** Tools whose every call waits for a click; never without `human`. */
  readonly approve: readonly string[];
  /** How long `human_ask` and `human_wait` may block, in milliseconds; null: the default. */
  readonly blockMs: number | null;
  /** Whether the audit log has the arguments themselves, not only their hashes. */
  readonly auditFull: boolean;
  /** MCP servers of this workstation; null: left out. */
  readonly upstreams: UpstreamSettings | null;
  readonly openPage: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
}

export const DEFAULTS = {
  port: 8777,
  uiPort: 8790,
  host: "127.0.0.1",
  deny: [".ssh", ".aws", ".gnupg", ".git-credentials", ".netrc", ".config/gcloud"],
} as const;

/** [ST84] The page is where clients are allowed and where the person talks with them: without both there is none. */
export function hasPage({ mode, human }: Pick<Settings, "mode" | "human">): boolean {
  return human || (mode.kind === "relay" && mode.oauth);
}

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "::1", "[::1]"]);

/** Whether a listening address or a URL's host name is this machine only. All of 127/8 is (RFC 1122 §3.2.1.3). */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.has(host.toLowerCase()) || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A host as it stands in a URL: an IPv6 address in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
