/**
 * Bearer tokens in the operating system's credential store, each bound to the address it was stored for: a server whose URL changed
 * gets nothing. Fails closed: without a store there is no token, and none is ever written anywhere else.
 */
import { createHash } from "node:crypto";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import type { StoredTokens } from "./bearer-tokens.ts";

export interface TokenStore extends StoredTokens {
  /** Rejects with a sentence when it was not kept. */
  write(server: string, url: string, token: string): Promise<void>;
  /** What is kept for the server, whatever address it was stored for. Rejects as `read` does. */
  status(server: string): Promise<{ readonly url: string } | null>;
  /** False: there was none. Rejects when it could not be removed. */
  remove(server: string): Promise<boolean>;
}

/** One entry of a store. `@napi-rs/keyring` has this shape. */
export interface KeyringEntry {
  getPassword(signal?: AbortSignal | null): Promise<string | null>;
  setPassword(password: string, signal?: AbortSignal | null): Promise<void>;
  deletePassword(signal?: AbortSignal | null): Promise<boolean>;
}

export type OpenEntry = (service: string, account: string) => Promise<KeyringEntry>;

/** Service and account names, and the value's form, are those other programs with the same tokens use. */
const SERVICE = "pi-mcp-adapter.bearer";
/** The store may ask the person to unlock it. */
const DEADLINE_MS = 60_000;

/** @param deadlineMs for one access */
export function keyringTokens(openEntry: OpenEntry = nativeEntry, deadlineMs = DEADLINE_MS): TokenStore {
  const ask = async <T>(server: string, what: string, use: (entry: KeyringEntry, signal: AbortSignal) => Promise<T>): Promise<T> => {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      // The signal withdraws what has not begun yet; a store that was asked already and is silent is left to itself.
      return await Promise.race([openEntry(SERVICE, accountOf(server)).then((entry) => use(entry, signal)), untilAborted(signal)]);
    } catch (error) {
      const reason = signal.aborted ? `no answer within ${deadlineMs / 1000} seconds` : reasonOf(error);
      throw new Error(`The operating system's credential store could not ${what}: ${reason}. ${WHAT_TO_DO}`, { cause: error });
    }
  };
  const stored = async (server: string): Promise<{ token: string; url: string } | null> => {
    const value = parseJson((await ask(server, "be read", (entry, signal) => entry.getPassword(signal))) ?? "null");
    if (!isJsonObject(value)) return null;
    const { token, serverUrl } = value;
    return typeof token === "string" && token !== "" && typeof serverUrl === "string" ? { token, url: serverUrl } : null;
  };
  return {
    read: async (server, url) => {
      const found = await stored(server);
      return found !== null && sameAddress(found.url, url) ? found.token : null;
    },
    status: async (server) => {
      const found = await stored(server);
      return found === null ? null : { url: found.url };
    },
    write: async (server, url, token) => {
      await ask(server, "keep the token", (entry, signal) => entry.setPassword(JSON.stringify({ token, serverUrl: url }), signal));
      // A store that forgets at once, as some do without a session, has kept nothing.
      if ((await stored(server))?.token !== token) throw new Error(`The operating system's credential store did not keep the token. ${WHAT_TO_DO}`);
    },
    remove: (server) =>
      // Whatever lies there, also what cannot be read any more.
      ask(server, "remove the token", async (entry, signal) => {
        const had = (await entry.getPassword(signal)) !== null;
        return (await entry.deletePassword(signal)) || had;
      }),
  };
}

const WHAT_TO_DO =
  process.platform === "linux"
    ? `A Secret Service such as GNOME Keyring or KWallet must run and be unlocked; or use "bearerTokenEnv" or a "!command" instead.`
    : `Unlock it; or use "bearerTokenEnv" or a "!command" instead.`;

/**
 * The native module costs memory, and most agents never need it. Without a Secret Service it would take the kernel's keyring, which
 * forgets at the next start: better to say that there is no store.
 */
const nativeEntry: OpenEntry = async (service, account) => {
  const { AsyncEntry } = await import("@napi-rs/keyring");
  return new AsyncEntry(service, account, { linux: { store: "secret-service" } });
};

function accountOf(server: string): string {
  return `sha256-${createHash("sha256").update(server).digest("hex")}`;
}

function sameAddress(a: string, b: string): boolean {
  return (URL.parse(a)?.href ?? a) === (URL.parse(b)?.href ?? b);
}

function untilAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  return promise;
}

/** The store's own words, of which none holds a secret. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
