/**
 * The relay's only outgoing requests fetch a client's metadata document (OAuth Client ID Metadata Documents §3, §6.5),
 * for an address that a stranger wrote. The provider bounds size (5 kB) and time (10 s) but follows redirects and fetches
 * up to four times a sign-in, and takes no `fetch` of ours; so the global one is wrapped.
 */

/** Successful documents are kept this long; failures never. Short, because a document may take back a redirect address. */
const KEEP_MS = 60_000;
const MAX_KEPT = 16;
/** Above the provider's own limit, so that it is the one to refuse. */
const MAX_KEPT_BYTES = 8 * 1024;

type Fetch = typeof globalThis.fetch;
type Kept = { readonly until: number; readonly status: number; readonly headers: Headers; readonly body: ArrayBuffer };

/** Puts the guard around the global `fetch`, once per isolate. */
export function guardOutgoingFetch(now: () => number): void {
  if (GUARDED in globalThis.fetch) return;
  globalThis.fetch = Object.assign(guarded(globalThis.fetch.bind(globalThis), now), { [GUARDED]: true });
}

const GUARDED = Symbol.for("pi-relay.guarded-fetch");

/** Whether an address may be fetched for a stranger: https on its usual port, by a public-looking name. */
export function isPublicDocumentAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, port, username, password } = new URL(address);
  if (protocol !== "https:" || port !== "" || username !== "" || password !== "") return false;
  // At the edge the platform keeps such requests on the public internet; an embedded relay has no such wall.
  const isAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
  const isLocalName = !hostname.includes(".") || /\.(localhost|local|internal|intranet|lan|home|corp|test|invalid|arpa)\.?$/i.test(hostname);
  return !isAddress && !isLocalName;
}

export function guarded(fetchNow: Fetch, now: () => number): Fetch {
  const kept = new Map<string, Kept>();
  return async (input, init) => {
    const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    if (!url.startsWith("https:")) return fetchNow(input, init);
    if (!isPublicDocumentAddress(url)) throw new TypeError("the address is not a public one");
    const known = kept.get(url);
    if (known !== undefined && known.until > now()) return new Response(known.body.slice(0), known);
    const response = await fetchNow(input, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) throw new TypeError("the address redirects, which is not followed");
    if (!response.ok || Number(response.headers.get("content-length") ?? Infinity) > MAX_KEPT_BYTES) return response;
    const body = await response.arrayBuffer();
    kept.delete(url);
    if (kept.size >= MAX_KEPT) kept.delete([...kept.keys()][0] ?? "");
    kept.set(url, { until: now() + KEEP_MS, status: response.status, headers: new Headers(response.headers), body });
    return new Response(body.slice(0), { status: response.status, headers: response.headers });
  };
}
