/**
 * Who opened a page or registered a client, as far as the edge knows. Only `CF-Connecting-IP` and `CF-IPCountry` count:
 * the platform sets them. `X-Forwarded-*` can be written by anyone and is never read.
 */

/** Address and source of whoever came without one; all of them share the limits of one source. */
const UNKNOWN = "unknown";

export interface Visitor {
  readonly address: string;
  /** Key of rate limits: an IPv4 address, or the /64 of an IPv6 one, because a household or attacker owns a whole /64. */
  readonly source: string;
  readonly country: string;
  /** "Firefox on Linux": enough to recognise one's own. */
  readonly browser: string;
}

export function visitorOf(request: Request): Visitor {
  const address = request.headers.get("cf-connecting-ip")?.trim().slice(0, 64) ?? "";
  return {
    address: address === "" ? UNKNOWN : address,
    source: sourceOf(address),
    country: request.headers.get("cf-ipcountry")?.slice(0, 2) ?? "",
    browser: browserOf(request.headers.get("user-agent") ?? ""),
  };
}

export function sourceOf(address: string): string {
  if (!address.includes(":")) return address === "" ? UNKNOWN : address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.toLowerCase().split("%")[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ""));
  return `${groups.join(":")}::/64`;
}

/**
 * Nobody can be told from anybody else: behind a proxy that says nothing of its callers. A count by the hour would let one stranger use
 * up everybody's share.
 */
export function isUnknown(source: string): boolean {
  return source === UNKNOWN;
}

/** What a web page does from its visitor's machine is a source of its own there. */
export function sourceOfPage(source: string, page: string): string {
  return `${source} ${page.slice(0, 300)}`;
}

/**
 * The network a source lies in: the /24 of an IPv4 address, the /48 of an IPv6 one. One customer easily gets as much. The web
 * pages of a network form another group than its programs.
 */
export function groupOf(source: string): string {
  const [address = "", page] = source.split(" ", 2);
  const network = address.replace(/^(\d+\.\d+\.\d+)\.\d+$/, "$1.0/24").replace(/^([\da-f]+:[\da-f]+:[\da-f]+):[\da-f]+::\/64$/, "$1::/48");
  return page === undefined ? network : `${network} pages`;
}

/** `null` when either address is not known: two strangers without an address are not one. */
export function isSameSource(source: string, workstationAddress: string | undefined): boolean | null {
  const own = knownSource(workstationAddress);
  return isUnknown(source) || own === undefined ? null : source === own;
}

/** The source of an address, `undefined` if there is none. */
export function knownSource(address: string | undefined): string | undefined {
  const source = sourceOf(address ?? "");
  return isUnknown(source) ? undefined : source;
}

/** Whether `CF-Connecting-IP` names this machine. */
export function isFromLoopback(request: Request): boolean {
  const { source } = visitorOf(request);
  return source.startsWith("127.") || source === sourceOf("::1");
}

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Electron\//, "a desktop app"],
  [/Chrome\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/CrOS/, "ChromeOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux|X11/, "Linux"],
];

export function browserOf(userAgent: string): string {
  const find = (table: typeof BROWSERS) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = find(BROWSERS) ?? "an unknown browser";
  const system = find(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
