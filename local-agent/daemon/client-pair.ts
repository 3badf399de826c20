/** The id and secret that a person pastes into a client which asks for them: kept over restarts, minted at first use (ST19). */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { CLIENT_ID, CLIENT_SECRET, type ClientCredentials } from "./client-credentials.ts";
import { mintSecret, readOrMint } from "./config-dir.ts";
import { StartFailure } from "./start-failure.ts";

export interface ClientPair extends ClientCredentials {
  /** Of the secret, lower-case hex: all that leaves this machine. */
  readonly sha256: string;
  /** Where both are kept; null when they were given for this run. */
  readonly file: string | null;
  /** The only addresses it may return to; null: the person decides about each one. */
  readonly redirects: readonly string[] | null;
}

/** Throws `StartFailure` for a file that is there and makes no sense: another pair would lock out the client that has this one. */
export function readClientPair(
  configDir: string,
  { credentials, redirects }: { readonly credentials: ClientCredentials | null; readonly redirects: readonly string[] | null },
): ClientPair {
  const file = join(configDir, "oauth-client.json");
  const { id, secret } = credentials ?? understand(readOrMint(file, mint), file);
  const sha256 = createHash("sha256").update(secret).digest("hex");
  return { id, secret, sha256, file: credentials === null ? file : null, redirects };
}

function mint(): string {
  return JSON.stringify({ id: `pimcp-${randomBytes(9).toString("base64url")}`, secret: mintSecret() }, null, 2);
}

function understand(text: string, file: string): ClientCredentials {
  const kept = parseJson(text);
  if (isJsonObject(kept)) {
    const { id, secret } = kept;
    if (typeof id === "string" && CLIENT_ID.test(id) && typeof secret === "string" && CLIENT_SECRET.test(secret)) return { id, secret };
  }
  throw new StartFailure(
    `${file} is damaged: restore it, or remove it to have a new id and secret made (paste those into the client that has the old ones).`,
  );
}
