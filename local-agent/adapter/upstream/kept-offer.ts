/** What one server was last heard to offer: told when it is another, and kept for the next run. */
import type { Clock } from "../../../shared/ports.ts";
import type { UpstreamCatalog } from "../catalog/upstream-catalog.ts";

/** What is kept on the disk is written again after that long, so that it does not age while the server is connected. */
const STORE_AGAIN_MS = 300_000;

export interface KeptOffer {
  /** null: nothing was ever heard. */
  catalog(): UpstreamCatalog | null;
  listed(catalog: UpstreamCatalog): void;
}

export function createKeptOffer(parts: {
  /** Of an earlier run. */
  readonly stored: UpstreamCatalog | null;
  readonly clock: Clock;
  readonly sha256: (text: string) => string;
  readonly store: (catalog: UpstreamCatalog) => void;
  readonly onNew: (catalog: UpstreamCatalog) => void;
}): KeptOffer {
  let current = parts.stored;
  let fingerprint = "";
  let storedAt = 0;
  return {
    catalog: () => current,
    listed(catalog) {
      const { listedAt: _listedAt, ...content } = catalog;
      const now = parts.clock.now();
      const heard = parts.sha256(JSON.stringify(content));
      const isSame = heard === fingerprint;
      current = catalog;
      fingerprint = heard;
      if (!isSame || now - storedAt >= STORE_AGAIN_MS) {
        storedAt = now;
        parts.store(catalog);
      }
      if (!isSame) parts.onNew(catalog);
    },
  };
}
