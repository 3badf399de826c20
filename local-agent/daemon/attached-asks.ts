/** What the processes that use our servers can be asked, all together: a server is told when it is connected to. */
import type { SharedAsks } from "../node/shared-protocol.ts";

export interface AttachedAsks {
  any(what: keyof SharedAsks): boolean;
  add(asks: SharedAsks): () => void;
}

export function createAttachedAsks(): AttachedAsks {
  const all = new Set<SharedAsks>();
  return {
    any: (what) => [...all].some((asks) => asks[what]),
    add(asks) {
      const own = { ...asks };
      all.add(own);
      return () => void all.delete(own);
    },
  };
}
