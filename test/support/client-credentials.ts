/** How a played client comes to its client id, and how it then authenticates. */
import { randomInt } from "node:crypto";
import * as v from "valibot";
import type { Way } from "../fixtures/clients/profile.ts";
import type { ServerMetadata } from "./client-discovery.ts";

const AuthMethod = v.picklist(["none", "client_secret_basic", "client_secret_post"]);
const Registered = v.object({
  client_id: v.string(),
  client_secret: v.optional(v.string()),
  redirect_uris: v.array(v.string()),
  token_endpoint_auth_method: AuthMethod,
});

export interface Credentials {
  readonly id: string;
  readonly secret: string;
  readonly auth: v.InferOutput<typeof AuthMethod>;
  readonly pkce: boolean;
  readonly redirect: string;
}

/** What a person typed into the client's dialog. */
export interface Pair {
  readonly id: string;
  readonly secret: string;
}

/** The first way that this issuer offers, of those that need nobody's help. */
export function automaticWay(ways: readonly Way[], server: ServerMetadata): Way | undefined {
  return ways.find((way) => {
    if (way.by === "registration") return server.registration_endpoint !== undefined;
    return way.by === "document" && way.needs.every((need) => isOffered(need, server));
  });
}

function isOffered(need: "documents" | "none" | "iss", server: ServerMetadata): boolean {
  switch (need) {
    case "documents":
      return server.client_id_metadata_document_supported;
    case "none":
      return server.token_endpoint_auth_methods_supported.includes("none");
    case "iss":
      return server.authorization_response_iss_parameter_supported;
  }
}

export async function obtain(
  way: Exclude<Way, { by: "header" }>,
  server: ServerMetadata,
  pair: Pair | undefined,
  via: typeof fetch,
): Promise<Credentials> {
  const port = String(randomInt(49_152, 65_535));
  const redirect = way.redirect.replace("{port}", port);
  switch (way.by) {
    case "document":
      // What it would rather use is not offered, or it has nothing else.
      return { id: way.document.client_id, secret: "", auth: "none", pkce: true, redirect };
    case "pair":
      if (pair === undefined) throw new Error("nobody typed an id and a secret");
      return { ...pair, auth: way.secretIn, pkce: way.pkce, redirect };
    case "registration":
      return register(JSON.stringify(way.body).replaceAll("{port}", port), redirect, server, via);
  }
}

async function register(body: string, redirect: string, server: ServerMetadata, via: typeof fetch): Promise<Credentials> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const answer = await via(server.registration_endpoint ?? "", { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error(`registering was answered ${answer.status}: ${await answer.text()}`);
  const registered = v.parse(Registered, await answer.json());
  if (!registered.redirect_uris.includes(redirect)) throw new Error(`${redirect} was not registered, but ${registered.redirect_uris.join(", ")}`);
  const { client_secret: secret = "", token_endpoint_auth_method: auth } = registered;
  if (auth !== "none" && secret === "") throw new Error(`registered for ${auth} without a secret`);
  return { id: registered.client_id, secret, auth, pkce: true, redirect };
}

/** The client's part of a token request: headers, and what is added to the form (RFC 6749 §2.3.1). */
export function authenticated({ id, secret, auth }: Credentials): {
  readonly headers: Record<string, string>;
  readonly form: Record<string, string>;
} {
  switch (auth) {
    case "none":
      return { headers: {}, form: { client_id: id } };
    case "client_secret_post":
      return { headers: {}, form: { client_id: id, client_secret: secret } };
    case "client_secret_basic": {
      const encoded = [id, secret].map((part) => encodeURIComponent(part)).join(":");
      return { headers: { authorization: `Basic ${Buffer.from(encoded).toString("base64")}` }, form: {} };
    }
  }
}
