/** A credential store in memory, with the faults real ones have. */
import type { OpenEntry } from "../../local-agent/node/keyring-tokens.ts";

export interface MemoryKeyring {
  readonly open: OpenEntry;
  /** `service account` → what is kept. */
  readonly entries: Map<string, string>;
  /** Set: every access fails so. */
  fault: string | null;
  /** Takes what is written and forgets it, as stores without a session do. */
  forgets: boolean;
}

export function memoryKeyring(): MemoryKeyring {
  const keyring: MemoryKeyring = {
    entries: new Map(),
    fault: null,
    forgets: false,
    open: (service, account) => {
      const name = `${service} ${account}`;
      const access = <T>(use: () => T): Promise<T> => (keyring.fault === null ? Promise.resolve(use()) : Promise.reject(new Error(keyring.fault)));
      return Promise.resolve({
        getPassword: () => access(() => keyring.entries.get(name) ?? null),
        setPassword: (password) => access(() => void (keyring.forgets || keyring.entries.set(name, password))),
        deletePassword: () => access(() => keyring.entries.delete(name)),
      });
    },
  };
  return keyring;
}
