/**
 * What the embedded relay's Worker reaches on the network: client metadata documents, whose addresses strangers choose. The edge
 * keeps a deployed Worker to public addresses; here the addresses a name resolves to are looked at, and the one that was looked
 * at is the one connected to (no rebinding in between).
 */
import { lookup, type LookupAddress } from "node:dns";
import { request as httpsRequest } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";

export interface FetchedDocument {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const DEADLINE_MS = 10_000;
/** The Worker reads less; this only bounds memory here. */
const MAX_BYTES = 64 * 1024;

/** GET without following redirects. Rejects for anything but https on a public address, and past the deadline or size. */
export async function fetchPublic(url: URL, headers: Readonly<Record<string, string>>): Promise<FetchedDocument> {
  if (url.protocol !== "https:") throw new Error("only https leaves the embedded relay");
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw notPublic(url.hostname);
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(url, { method: "GET", headers, lookup: lookupPublic, signal: AbortSignal.timeout(DEADLINE_MS) }, (incoming) => {
      const pieces: Buffer[] = [];
      let size = 0;
      incoming.on("data", (piece: Buffer) => {
        size += piece.byteLength;
        if (size > MAX_BYTES) incoming.destroy(new Error("the document is too large"));
        else pieces.push(piece);
      });
      incoming.on("error", reject);
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 502, headers: plain(incoming.headers), body: Buffer.concat(pieces) }));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** True for addresses of the public internet only; what is not understood is not public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !PRIVATE.check(address, "ipv4");
  // Of IPv6 only what is assigned for global use, less what wraps an IPv4 address or documents something.
  return family === 6 && GLOBAL.check(address, "ipv6") && !PRIVATE.check(address, "ipv6");
}

const PRIVATE = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.addSubnet(net, bits, "ipv4");
}
for (const [net, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  PRIVATE.addSubnet(net, bits, "ipv6");
const GLOBAL = new BlockList();
GLOBAL.addSubnet("2000::", 3, "ipv6");

const lookupPublic: LookupFunction = (hostname, options, answer) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const usable = error === null ? addresses.filter(({ address }) => isPublicAddress(address)) : [];
    const [first] = usable;
    if (error !== null || first === undefined) return answer(error ?? notPublic(hostname), "", 4);
    if (options.all === true) answer(null, usable);
    else answer(null, first.address, first.family);
  });
};

function notPublic(hostname: string): Error {
  return new Error(`${hostname} is not on the public internet`);
}

function plain(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}
