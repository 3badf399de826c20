/**
 * The relay's only outgoing requests fetch a client's metadata document (OAuth Client ID Metadata Documents §3, §6.5),
 * for an address that a stranger wrote. The provider bounds size (5 kB) and time (10 s) but follows redirects and fetches
 * up to four times a sign-in, and takes no `fetch` of ours; so the global one is wrapped.
 */
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { readAnswer } from "./body.ts";
import { pinnedDocument } from "./pinned-documents.ts";

/** Good documents are kept this long; failures never. Short, because a document may take back a redirect address. */
const KEEP_MS = 60_000;
const MAX_KEPT = 16;
/** Above the provider's own limit, so that it is the one to say so. */
const MAX_BYTES = 8 * 1024;
const PROVIDER_MAX_BYTES = 5 * 1024;
/** Where there is a copy to go by, a person is not kept waiting for the provider's 10 s. */
const PINNED_PATIENCE_MS = 3_000;
/** One page or token request asks up to five times: the copy stands in for all of them, and the next request asks anew. */
const STAND_IN_MS = 5_000;

const GUARDED = Symbol.for("pi-relay.guarded-fetch");

type Fetch = typeof globalThis.fetch;
type Kept = { readonly until: number; readonly body: string; readonly type: string };
/** What is not `served` is an error status, too large, or no JSON: the provider refuses it, unless there is a copy. */
type Read = { readonly served: boolean; readonly response: Response };
/** The request as it was made, but without following redirects, and until this signal. */
type Ask = (signal: AbortSignal | undefined) => Promise<Response>;

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
  const standIns = new Map<string, number>();

  async function read(url: string, ask: Ask, signal: AbortSignal | undefined): Promise<Read> {
    const response = await ask(signal);
    if (response.status >= 300 && response.status < 400) throw new TypeError("the address redirects, which is not followed");
    if (!response.ok) return { served: false, response };
    const body = await readAnswer(response, MAX_BYTES, signal);
    if (body === undefined) throw new TypeError(`the answer is longer than ${MAX_BYTES} bytes`);
    const document = parseJson(body);
    const fresh = { until: now() + KEEP_MS, body, type: response.headers.get("content-type") ?? "" };
    const served = document !== undefined && body.length <= PROVIDER_MAX_BYTES;
    // Of what is no description of this client nothing is remembered.
    if (served && isJsonObject(document) && document["client_id"] === url) keep(url, fresh);
    return { served, response: answer(fresh) };
  }

  function keep(url: string, fresh: Kept): void {
    kept.delete(url);
    if (kept.size >= MAX_KEPT) kept.delete([...kept.keys()][0] ?? "");
    kept.set(url, fresh);
  }

  /** Whatever is served counts, so an address that was taken back stays so; only where nothing is, the copy does. */
  async function readOrStandIn(url: string, ask: Ask, copy: string): Promise<Response> {
    const standIn = () => answer({ body: copy, type: "application/json" });
    if ((standIns.get(url) ?? 0) > now()) return standIn();
    const found = await read(url, ask, AbortSignal.timeout(PINNED_PATIENCE_MS)).catch(() => undefined);
    if (found?.served === true) return found.response;
    standIns.set(url, now() + STAND_IN_MS);
    return standIn();
  }

  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input).href; // Lower-case scheme and host, however written.
    if (!url.startsWith("https:")) return fetchNow(input, init);
    if (!isPublicDocumentAddress(url)) throw new TypeError("the address is not a public one");
    const known = kept.get(url);
    if (known !== undefined && known.until > now()) return answer(known);
    const copy = pinnedDocument(url);
    const ask: Ask = (signal) => fetchNow(input, { ...init, redirect: "manual", ...(signal && { signal }) });
    return copy === undefined ? (await read(url, ask, init?.signal ?? undefined)).response : readOrStandIn(url, ask, copy);
  };
}

/** Without the original's headers: its length and encoding are those of bytes that were already decoded. */
function answer({ body, type }: Omit<Kept, "until">): Response {
  return new Response(body, { headers: { "content-type": type, "cache-control": "no-store" } });
}
