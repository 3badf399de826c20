/**
 * The bearer token of an HTTP upstream, wherever it comes from: the file, a variable, a command, the operating system's store.
 * A token that was refused is asked for anew where that can help.
 */
import { secretValue, variable } from "../adapter/config/expansion.ts";
import type { HttpServer } from "../adapter/config/server-definition.ts";
import type { Clock } from "../../shared/ports.ts";
import { commandOutput, filledIn, isSendable, UnusableValue, type ValueHost } from "./configured-values.ts";

export interface BearerSource {
  /** The token to send now. Throws `UnusableValue`. */
  token(): Promise<string>;
  /**
   * It was refused: the next `token` is another one, if that can be. False: nothing would change.
   * @param refused the token that was sent; null: the current one. One that was replaced meanwhile is no reason to replace it again
   */
  renew(refused: string | null): boolean;
}

export interface StoredTokens {
  /** Null: none is kept for this server at this address. Rejects with a sentence when the store cannot be used. */
  read(server: string, url: string): Promise<string | null>;
}

export interface BearerHost extends ValueHost {
  readonly clock: Clock;
  readonly stored: () => Promise<StoredTokens>;
}

const DEFAULT_TTL_MS = 5 * 60_000;
/** A token that is refused right after it was made anew is not made again. */
const RENEWED_RECENTLY_MS = 30_000;

/** Null: the server is sent none. `url` is the address after expansion: a stored token is bound to it. */
export function bearerSource(name: string, server: HttpServer, url: string, host: BearerHost): BearerSource | null {
  if (server.auth === "oauth") return null;
  const { bearerToken, bearerTokenEnv, bearerTokenStore } = server;
  if (bearerToken !== null) {
    const secret = server.literal ? ({ kind: "text", text: bearerToken } as const) : secretValue(bearerToken);
    if (secret.kind === "command") {
      // Shared by whoever asks meanwhile, so no single one may cancel it; it has its own deadline.
      const { signal } = new AbortController();
      return renewable(() => commandOutput(secret.command, "bearerToken", host, signal), ttlOf(host), host.clock);
    }
    return fixed(server.literal ? secret.text : filledIn(secret.text, host), `"bearerToken" is empty: the variable it names is not set.`);
  }
  if (bearerTokenEnv !== null) return fixed(variable(host.env, bearerTokenEnv) ?? "", `"bearerTokenEnv" names $${bearerTokenEnv}, which is not set.`);
  if (bearerTokenStore) return renewable(() => storedToken(name, url, host), Number.POSITIVE_INFINITY, host.clock);
  return server.auth === "bearer" ? fixed("", `"auth" is "bearer", but there is no "bearerToken", "bearerTokenEnv" or "bearerTokenStore".`) : null;
}

async function storedToken(name: string, url: string, host: BearerHost): Promise<string> {
  const stored = await host.stored();
  const token = await stored.read(name, url).catch((error: unknown) => {
    throw new UnusableValue(error instanceof Error ? error.message : String(error));
  });
  if (token === null) throw new UnusableValue(`No token is stored for "${name}" at this address; store one with: pimcp upstream-token set ${name}`);
  return token;
}

function fixed(token: string, problem: string): BearerSource {
  return {
    token: async () => {
      if (token === "") throw new UnusableValue(problem);
      return sendable(token);
    },
    renew: () => false,
  };
}

/** What refuses to send another one shows it. A command that prints a warning before the token makes one of two lines. */
function sendable(given: string): string {
  const token = given.trim();
  if (isSendable("authorization", `Bearer ${token}`)) return token;
  throw new UnusableValue(
    "The bearer token cannot be sent: it has line breaks or other characters HTTP does not allow. A command must print the token and nothing else.",
  );
}

/** Kept for `ttlMs`; one that is older but good stays in use when no newer one can be had. */
function renewable(fetchToken: () => Promise<string>, ttlMs: number, clock: Clock): BearerSource {
  let kept: { readonly token: string; readonly at: number } | null = null;
  let renewedAt: number | null = null;
  let fetching: Promise<string> | null = null;

  const fetchOnce = async (): Promise<string> => {
    const token = sendable(await fetchToken());
    kept = { token, at: clock.now() };
    return token;
  };
  return {
    token: async () => {
      if (kept !== null && clock.now() - kept.at < ttlMs) return kept.token;
      const lastGood = kept?.token ?? null;
      fetching ??= fetchOnce().finally(() => (fetching = null));
      try {
        return await fetching;
      } catch (error) {
        if (lastGood === null) throw error;
        return lastGood;
      }
    },
    renew: (refused) => {
      if (kept === null || (refused !== null && refused !== kept.token)) return true;
      const now = clock.now();
      if (renewedAt !== null && now - renewedAt < RENEWED_RECENTLY_MS) return false;
      renewedAt = now;
      kept = null;
      return true;
    },
  };
}

function ttlOf({ env }: BearerHost): number {
  const given = Number(env["PI_MCP_ADAPTER_BEARER_COMMAND_TTL_MS"]);
  return env["PI_MCP_ADAPTER_BEARER_COMMAND_TTL_MS"] !== undefined && Number.isFinite(given) && given >= 0 ? given : DEFAULT_TTL_MS;
}
