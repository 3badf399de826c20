import { editDistance } from "./edit-distance.ts";

/** " — did you mean `--root`?", or nothing. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ""): string {
  const found = nearest(word, candidates);
  return found === undefined ? "" : ` Did you mean ${prefix}${found}?`;
}

/** The candidate a person most likely meant, or undefined when none is near (more than a third of the letters wrong). Pure. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate, limit) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= limit ? best.candidate : undefined;
}
