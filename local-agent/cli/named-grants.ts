/** Which grants the words behind `pimcp revoke` mean. Pure; nothing is ever guessed. */
import type { Grant } from "../../shared/authorization.ts";
import { err, ok, type Result } from "../../shared/result.ts";

/** A shorter one is a slip of the finger. */
export const MIN_ID_CHARS = 4;

/** Why none was chosen: `unknown` holds the words that no grant has; `unclear`: the person has to say more. */
export type NotNamed = { readonly why: "unknown"; readonly unknown: readonly string[] } | { readonly why: "unclear"; readonly sentence: string };

/** Whole ids, each once, or nothing at all: one word that means none, or several, and none is chosen. */
export function grantsNamed(grants: readonly Grant[], words: readonly string[]): Result<readonly string[], NotNamed> {
  const ids = grants.map(({ id }) => id);
  const found = words.map((word) => ({ word, fitting: ids.includes(word) ? [word] : ids.filter((id) => id.startsWith(word)) }));
  const unknown = found.filter(({ fitting }) => fitting.length === 0).map(({ word }) => word);
  if (unknown.length > 0) return err({ why: "unknown", unknown: [...new Set(unknown)] });
  const unclear = found.find(({ fitting }) => fitting.length > 1);
  if (unclear !== undefined) {
    const sentence = `${unclear.word} can be any of ${unclear.fitting.join(", ")}, so nothing was taken back: type more of the one that is meant.`;
    return err({ why: "unclear", sentence });
  }
  return ok([...new Set(found.flatMap(({ fitting }) => fitting))]);
}
