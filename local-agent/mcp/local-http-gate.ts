/** Who may speak to the loopback port: Host, then Origin, then token. Pure but for hashing. */
import { createHash, timingSafeEqual } from "node:crypto";

export interface NamedToken {
  readonly id: string;
  readonly name: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface LocalHttpGateOptions {
  readonly host: string;
  readonly port: number;
  readonly tokenSha256s: readonly string[];
  readonly namedTokens?: () => readonly NamedToken[];
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

type Headers = Readonly<Record<string, string>>;

type GateDecision =
  | { readonly at: "admitted"; readonly token: NamedToken; readonly headers: Headers }
  | { readonly at: "preflight"; readonly headers: Headers }
  | { readonly at: "refused"; readonly status: 401 | 403; readonly reason: string; readonly headers: Headers };

interface GatedRequest {
  readonly method?: string | undefined;
  readonly headers: {
    readonly host?: string | undefined;
    readonly origin?: string | undefined;
    readonly authorization?: string | undefined;
    readonly "access-control-request-headers"?: string | undefined;
  };
}

export interface LocalHttpGate {
  decide(request: GatedRequest): GateDecision;
}

export function createLocalHttpGate(options: LocalHttpGateOptions): LocalHttpGate {
  const hosts = acceptedHosts(options);
  const origins = new Set([...[...hosts].map((host) => `http://${host}`), ...(options.allowedOrigins ?? [])]);
  const unnamed = options.tokenSha256s.map((sha256) => ({ id: sha256.slice(0, 16), name: "token", sha256 }));
  return {
    decide({ method, headers }) {
      const { host = "", origin, authorization } = headers;
      // [MC41] A name that a stranger's DNS points at 127.0.0.1 ends here.
      if (!hosts.has(host.toLowerCase())) return refused(403, `this server is reached as ${[...hosts].join(" or ")}, not as ${JSON.stringify(host)}`);
      if (origin !== undefined && !origins.has(origin.toLowerCase()))
        return refused(403, `web pages of ${JSON.stringify(origin)} may not call this server`);
      const shared = origin === undefined ? {} : corsHeaders(origin, headers["access-control-request-headers"]);
      if (method === "OPTIONS" && origin !== undefined) return { at: "preflight", headers: shared };
      const token = admittedToken(authorization, [...unnamed, ...(options.namedTokens?.() ?? [])]);
      if (token !== undefined) return { at: "admitted", token, headers: shared };
      return refused(401, "expected Authorization: Bearer with the token that pimcp printed", { ...shared, "WWW-Authenticate": "Bearer" });
    },
  };
}

function acceptedHosts({ host, port, allowedHosts = [] }: LocalHttpGateOptions): ReadonlySet<string> {
  const own = host.includes(":") ? `[${host}]` : host;
  const named = ["127.0.0.1", "localhost", "[::1]", own].flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  return new Set([...named, ...allowedHosts].map((name) => name.toLowerCase()));
}

/** [MC40] Compared in constant time, all of them always: neither the place nor the count of a match shows. */
function admittedToken(authorization: string | undefined, accepted: readonly NamedToken[]): NamedToken | undefined {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) return undefined;
  const hash = createHash("sha256").update(token).digest();
  const matches = accepted.filter(({ sha256 }) => {
    const expected = Buffer.from(sha256, "hex");
    return expected.length === hash.length && timingSafeEqual(expected, hash);
  });
  return matches[0];
}

/** Each revision adds `mcp-*` headers of its own. */
function mcpHeaders(asked: string | undefined): string[] {
  const names = (asked ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => /^mcp-[a-z0-9-]+$/i.test(name));
}

function corsHeaders(origin: string, asked: string | undefined): Headers {
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": "POST, DELETE",
    "Access-Control-Allow-Headers": ["Authorization, Content-Type, Accept, Last-Event-ID", ...mcpHeaders(asked)].join(", "),
    "Access-Control-Expose-Headers": "WWW-Authenticate",
    Vary: "Origin",
  };
}

function refused(status: 401 | 403, reason: string, headers: Headers = {}): GateDecision {
  return { at: "refused", status, reason, headers };
}
