/**
 * A loopback origin in front of an issuer, whose documents then offer one way to send a secret and no other. The suite
 * sends no secret to an issuer that offers `none` as well; ours has to offer it, because clients look for it.
 */
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type SecretMethod = "client_secret_post" | "client_secret_basic";

export interface SecretMethodShim extends AsyncDisposable {
  /** One that the issuer has to know as its own: requests arrive there under this name. */
  readonly origin: string;
  offer(method: SecretMethod): void;
}

export async function startSecretMethodShim(issuer: string): Promise<SecretMethodShim> {
  let offered: SecretMethod = "client_secret_post";
  const server = createServer((incoming, outgoing) => forward(new URL(issuer), () => offered, incoming, outgoing));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    offer: (method) => void (offered = method),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(to: URL, offered: () => SecretMethod, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url = "/", headers } = incoming;
  const upstream = request({ hostname: to.hostname, port: to.port, method, path: url, headers }, (answer) => {
    if (!url.startsWith("/.well-known/")) {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      return;
    }
    let body = "";
    answer.setEncoding("utf8").on("data", (text: string) => (body += text));
    answer.on("end", () => {
      const document = { ...(JSON.parse(body) as object), token_endpoint_auth_methods_supported: [offered()] };
      outgoing.writeHead(answer.statusCode ?? 502, { "content-type": answer.headers["content-type"] ?? "" });
      outgoing.end(JSON.stringify(document));
    });
  });
  incoming.pipe(upstream);
  outgoing.on("close", () => upstream.destroy());
  upstream.on("error", () => outgoing.destroy());
}
