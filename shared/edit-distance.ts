/** How far one word is from another. Pure. */

/**
 * How many letters must be added, removed, exchanged or swapped with their neighbour to make one word of the other; `limit + 1` as soon as
 * it is more than `limit`.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const present = nextRow({ a, b, row }, last, beforeLast);
    if (Math.min(...present) > limit) return limit + 1;
    beforeLast = last;
    last = present;
  }
  return Math.min(limit + 1, at(last, b.length));
}

/** One row of the table of distances between the beginnings of both words. */
function nextRow({ a, b, row }: { a: string; b: string; row: number }, last: readonly number[], beforeLast: readonly number[]): number[] {
  const present = [row];
  for (let column = 1; column <= b.length; column++) {
    const exchanged = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
    const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
    const swapped = isSwapped ? at(beforeLast, column - 2) + 1 : exchanged;
    present.push(Math.min(at(last, column) + 1, at(present, column - 1) + 1, exchanged, swapped));
  }
  return present;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
