/** Readers of single values. Each throws `BadValue` with one sentence: what was expected, what came. */
import { DEFAULT_WORKSPACE, isWorkspaceName, WORKSPACE_RULE } from "../../shared/workspace.ts";
import { CLIENT_ID, CLIENT_SECRET } from "../daemon/client-credentials.ts";
import { isLoopback } from "../daemon/settings.ts";
import { didYouMean } from "../../shared/nearest.ts";

/** Thrown by the readers and turned into a result at one place, in `arguments.ts`. */
export class BadValue extends Error {}

/** Every tool Pi has; which of them a platform offers unasked is the tool host's knowledge. */
export const TOOLS: readonly string[] = ["read", "write", "edit", "ls", "grep", "find", "bash", "powershell"];

export function readPort(text: string, as: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new BadValue(`${as} must be a port number from 0 to 65535, got ${JSON.stringify(text)}.`);
  return Number(text);
}

/** A host name or address to listen on, without scheme, port or brackets. */
export function readHost(text: string, as: string): string {
  const host = text.replace(/^\[(.*)\]$/, "$1");
  if (!/^[\w.-]+$/.test(host) && !/^[\da-f:.]+$/i.test(host))
    throw new BadValue(`${as} must be a host name or address without a port, got ${JSON.stringify(text)}.`);
  return host;
}

/** An origin in its canonical form: `https://host[:port]`, or http on loopback. A path, query, fragment or user is refused. */
export function readOrigin(text: string, as: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new BadValue(`${as} must be a URL such as https://mcp.example.com, got ${JSON.stringify(text)}.`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new BadValue(`${as} must be https: only a loopback address may be http, got ${JSON.stringify(text)}.`);
  }
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (!bare) throw new BadValue(`${as} must be an origin without path, query or user, got ${JSON.stringify(text)}: try ${url.origin}.`);
  return url.origin;
}

/** Like an origin, but the URL people paste, `https://relay/mcp`, is understood too; `local` is the embedded relay. */
export function readRelay(text: string, as: string): string {
  if (text === "local") return text;
  refuseWorkspaceIn(text, as, "relay");
  return readOrigin(text.replace(/\/mcp\/?$/, ""), as);
}

/** An origin: the issuer of a workspace follows from it and `--workspace`. */
export function readIssuer(text: string, as: string): string {
  refuseWorkspaceIn(text, as, "issuer");
  return readOrigin(text, as);
}

function refuseWorkspaceIn(text: string, as: string, flag: "relay" | "issuer"): void {
  const [, origin, workspace] = /^(https?:\/\/[^/]+)\/w\/([^/]*)(?:\/mcp)?\/?$/.exec(text) ?? [];
  if (origin !== undefined && workspace !== undefined)
    throw new BadValue(
      `${as} names a workspace in ${JSON.stringify(text)}: write --${flag} ${origin} --workspace ${workspace === "" ? "NAME" : workspace}.`,
    );
}

/** The name of a workspace. Not the default one's, which has none. */
export function readWorkspace(text: string, as: string): string {
  if (isWorkspaceName(text)) return text;
  if (text === DEFAULT_WORKSPACE) throw new BadValue(`${as} ${text} would be the workspace without a name: leave ${as} out.`);
  throw new BadValue(`${as} must be ${WORKSPACE_RULE}, got ${JSON.stringify(text)}.`);
}

/** Bearer tokens are visible ASCII (RFC 6750 §2.1); anything else could not be sent in a header. */
export function readToken(text: string, as: string): string {
  if (!/^[\w.~+/-]+=*$/.test(text)) throw new BadValue(`${as} may hold letters, digits and -._~+/ only: it has to fit an Authorization header.`);
  return text;
}

/** Not shown in the sentence: it may be the secret, pasted into the wrong place. */
export function readClientId(text: string, as: string): string {
  if (CLIENT_ID.test(text)) return text;
  throw new BadValue(`${as} may hold letters, digits and -._~ only, at most 100 of them: it is a name such as pimcp-gemini, no address.`);
}

export function readClientSecret(text: string, as: string): string {
  if (!CLIENT_SECRET.test(text)) throw new BadValue(`${as} must be 1 to 512 visible ASCII characters without spaces.`);
  return text;
}

/** As many as the relay takes. */
const MAX_REDIRECTS = 20;

/** Lists of redirect addresses, kept to the letter: so the relay compares them. */
export function readRedirects(lists: readonly string[], as: string): readonly string[] {
  const addresses = split(lists.join(","));
  if (addresses.length === 0 || addresses.length > MAX_REDIRECTS)
    throw new BadValue(`${as} must name 1 to ${MAX_REDIRECTS} addresses, got ${addresses.length}.`);
  for (const address of addresses) requireRedirect(address, as);
  return addresses;
}

/** The relay's own rules (docs/spec/oauth.md OA13), told to the person who can mend it. */
function requireRedirect(text: string, as: string): void {
  const wrong = (expected: string): BadValue => new BadValue(`${as} ${expected}, got ${JSON.stringify(text.slice(0, 300))}.`);
  if (text.length > 2000 || !/^[!-[\]-~]+$/.test(text)) throw wrong("must be an address of plain ASCII without spaces and backslashes");
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) throw wrong("must be a whole address such as https://client.example/callback");
  const url = new URL(text);
  if (url.protocol === "http:" && !isLoopback(url.hostname)) throw wrong("must be https: only a loopback address may be http");
  if (text.includes("#")) throw wrong("must have no fragment (#…)");
  if (/^[^:]*:\/\/[^/?]*@/.test(text)) throw wrong("must have no user name in it");
}

export function readTools(text: string): readonly string[] {
  const names = split(text);
  const unknown = names.find((name) => !TOOLS.includes(name));
  if (unknown !== undefined)
    throw new BadValue(`Unknown tool ${JSON.stringify(unknown)} in --tools.${didYouMean(unknown, TOOLS)} There are: ${TOOLS.join(", ")}.`);
  if (names.length === 0) throw new BadValue(`--tools must name at least one tool of: ${TOOLS.join(", ")}.`);
  return names;
}

/** What an entry means is the tool host's knowledge; an empty list denies nothing. */
export function readDenied(text: string): readonly string[] {
  return split(text);
}

/** What stands between commas, each once. */
export function split(list: string): readonly string[] {
  return [
    ...new Set(
      list
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    ),
  ];
}
