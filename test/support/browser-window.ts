/** A browser without scripts that opens a waiting page, by plain HTTP and under any public name: for tests where the person decides elsewhere. */
import { rawRequest, type RawAnswer } from "./raw-http.ts";

const REDIRECT = "https://client.example/callback";

export interface WaitingWindow {
  readonly id: string;
  /** What the page shows; undefined where no code is asked for. */
  readonly code: string | undefined;
  /** Loads the page again, which raises the card the first time: where it is sent, undefined while it waits. */
  reload(): Promise<URL | undefined>;
}

/** Registers a client of this name at the relay that listens on `port` under the host name `host`, and opens its sign-in. */
export async function openWaitingWindow(port: number, host: string, clientName: string): Promise<WaitingWindow> {
  const ask = (path: string, more: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {}) =>
    rawRequest({ port, path, ...more, headers: { host, ...more.headers } });
  const registered = await ask("/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: clientName, redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" }),
  });
  const { client_id: clientId } = parsed(registered) as { client_id: string };
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", // RFC 7636 appendix B
    code_challenge_method: "S256",
    state: "s",
  });
  const page = await ask(`/authorize?${query}`);
  const id = /data-id="([^"]+)"/.exec(page.body)?.[1] ?? "";
  const cookie = page.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  return {
    id,
    code: /id="code">([^<]+)</.exec(page.body)?.[1],
    async reload() {
      const { location } = (await ask(`/authorize/wait?id=${id}&page=1`, { headers: { cookie } })).headers;
      return location === undefined ? undefined : new URL(location);
    },
  };
}

function parsed(answer: RawAnswer): unknown {
  if (answer.status >= 300) throw new Error(`the relay answered ${answer.status}: ${answer.body}`);
  return JSON.parse(answer.body);
}
