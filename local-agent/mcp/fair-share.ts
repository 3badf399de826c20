/**
 * [MC23] How many calls one client may have running. A legacy call runs on when its client is gone, so a client that keeps
 * leaving could otherwise fill every place of the tool host for an hour.
 */
export interface FairShare {
  /** Takes a place and returns how to give it back, or undefined when this principal has all of its own. */
  take(principalId: string): (() => void) | undefined;
}

export function createFairShare(most: number): FairShare {
  const taken = new Map<string, number>();
  return {
    take(principalId) {
      const now = taken.get(principalId) ?? 0;
      if (now >= most) return undefined;
      taken.set(principalId, now + 1);
      return () => {
        const left = (taken.get(principalId) ?? 1) - 1;
        if (left > 0) taken.set(principalId, left);
        else taken.delete(principalId);
      };
    },
  };
}
