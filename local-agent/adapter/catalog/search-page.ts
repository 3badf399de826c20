/** One page of a list that was searched. */

export interface PageRequest {
  /** How many at most; less than 1 counts as 1. */
  readonly limit: number;
  /** How many to leave out first; less than 0 counts as 0. */
  readonly offset: number;
}

export interface Page<T> {
  readonly hits: readonly T[];
  /** Of all pages. */
  readonly total: number;
  /** Where the next page begins; null: this is the last. */
  readonly nextOffset: number | null;
}

export function pageOf<T>(all: readonly T[], request: PageRequest): Page<T> {
  const offset = Math.max(0, wholeNumber(request.offset, 0));
  const end = offset + Math.max(1, wholeNumber(request.limit, 1));
  return { hits: all.slice(offset, end), total: all.length, nextOffset: end < all.length ? end : null };
}

function wholeNumber(value: number, otherwise: number): number {
  return Number.isFinite(value) ? Math.floor(value) : otherwise;
}
