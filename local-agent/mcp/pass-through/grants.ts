/** That a call was allowed, for its next round alone: a state that comes a second time allows nothing. */
export interface Grants {
  give(): string;
  /** Whether it was there; it is not any more. */
  take(grant: string | undefined): boolean;
}

/** What is older than so many newer ones has to be asked again. */
const MAX_OPEN = 1024;

export function createGrants(newId: () => string): Grants {
  const open = new Set<string>();
  return {
    give() {
      const grant = newId();
      open.add(grant);
      const [oldest] = open;
      if (open.size > MAX_OPEN && oldest !== undefined) open.delete(oldest);
      return grant;
    },
    take: (grant) => grant !== undefined && open.delete(grant),
  };
}
