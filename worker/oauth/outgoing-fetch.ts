/**
 * The relay's only outgoing requests fetch a client's metadata document (OAuth Client ID Metadata Documents §3, §6.5),
 * for an address that a stranger wrote. The provider bounds size (5 kB) and time (10 s) but follows redirects and fetches
 * up to four times a sign-in, and takes no `fetch` of ours; so the global one is wrapped.
 */
import { readAnswer } from "./body.ts";

/** Successful documents are kept this long; failures never. Short, because a document may take back a redirect address. */
const KEEP_MS = 60_000;
const MAX_KEPT = 16;
/** Above the provider's own limit of 5 kB, so that it is the one to say so. */
const MAX_BYTES = 8 * 1024;

const GUARDED = Symbol.for("pi-relay.guarded-fetch");

type Fetch = typeof globalThis.fetch;
type Kept = { readonly until: number; readonly body: string; readonly type: string };

/** Puts the guard around the global `fetch`, once per isolate. */
export function guardOutgoingFetch(now: () => number): void {
  if (GUARDED in globalThis.fetch) return;
  globalThis.fetch = Object.assign(guarded(globalThis.fetch.bind(globalThis), now), { [GUARDED]: true });
}

/** Whether an address may be fetched for a stranger: https on its usual port, by a public-looking name. */
export function isPublicDocumentAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  const { protocol, port, username, password } = url;
  const hostname = url.hostname.replace(/\.$/, ""); // "localhost." is localhost.
  if (protocol !== "https:" || port !== "" || username !== "" || password !== "") return false;
  // At the edge the platform keeps such requests on the public internet; an embedded relay has no such wall.
  const isAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
  const isLocalName = !hostname.includes(".") || /\.(localhost|local|internal|intranet|lan|home|corp|test|invalid|arpa)$/i.test(hostname);
  return !isAddress && !isLocalName;
}

export function guarded(fetchNow: Fetch, now: () => number): Fetch {
  const kept = new Map<string, Kept>();
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input).href; // Lower-case scheme and host, however written.
    if (!url.startsWith("https:")) return fetchNow(input, init);
    if (!isPublicDocumentAddress(url)) throw new TypeError("the address is not a public one");
    const known = kept.get(url);
    if (known !== undefined && known.until > now()) return answer(known);
    const response = await fetchNow(input, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) throw new TypeError("the address redirects, which is not followed");
    if (!response.ok) return response;
    const body = await readAnswer(response, MAX_BYTES);
    if (body === undefined) throw new TypeError(`the answer is longer than ${MAX_BYTES} bytes`);
    const fresh = { until: now() + KEEP_MS, body, type: response.headers.get("content-type") ?? "" };
    kept.delete(url);
    if (kept.size >= MAX_KEPT) kept.delete([...kept.keys()][0] ?? "");
    kept.set(url, fresh);
    return answer(fresh);
  };
}

/** Without the original's headers: its length and encoding are those of bytes that were already decoded. */
function answer({ body, type }: Kept): Response {
  return new Response(body, { headers: { "content-type": type, "cache-control": "no-store" } });
}
