/**
 * Names that stay closed although they lie below the root. Pure: what an entry means and whether a path matches it.
 * `confined-root.ts` is the only caller that turns an answer into a refusal.
 */
import { err, ok, type Result } from "../../shared/result.ts";

/** `anywhere`: these names in a row, at any depth. `place`: one absolute place, still to be resolved. */
export type DenyEntry =
  | { readonly kind: "anywhere"; readonly names: readonly string[]; readonly shown: string }
  | { readonly kind: "place"; readonly path: string; readonly shown: string };

/** What a check needs: folded names, anchored at the root or not. */
export interface DenyRule {
  readonly names: readonly string[];
  readonly anchored: boolean;
  readonly shown: string;
}

export interface DenyBase {
  readonly home: string;
  readonly windows: boolean;
}

/**
 * Reads one entry of `--deny`. Relative entries match at any depth; `~/…` and absolute ones mean that one place.
 * `..`, patterns and empty names are refused rather than guessed at: an entry that protects nothing must not look as if it did.
 */
export function readDenyEntry(entry: string, base: DenyBase): Result<DenyEntry, string> {
  const shown = entry;
  const text = base.windows ? entry.replaceAll("\\", "/") : entry;
  if (text.includes("\0")) return err(`deny entry ${JSON.stringify(entry)}: a name cannot contain a NUL character`);
  if (/[*?[\]]/.test(text)) {
    return err(`deny entry ${JSON.stringify(entry)}: patterns are not supported; give names, for example ".ssh" or ".config/gcloud"`);
  }
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) {
    return err(`deny entry ${JSON.stringify(entry)}: ".." is not supported; give a name that matches at any depth, or an absolute path`);
  }
  if (text === "~" || text.startsWith("~/")) return ok({ kind: "place", path: `${base.home}/${names.slice(1).join("/")}`, shown });
  if (text.startsWith("/") || (base.windows && /^[a-z]:\//i.test(text))) return ok({ kind: "place", path: text, shown });
  if (names.length === 0) return err(`deny entry ${JSON.stringify(entry)}: expected a name, got none`);
  return ok({ kind: "anywhere", names: names.map(foldName), shown });
}

/** The entry that closes this path, given as its components below the root; undefined when none does. */
export function deniedBy(rules: readonly DenyRule[], components: readonly string[]): string | undefined {
  const folded = components.map(foldName);
  return rules.find((rule) => matches(rule, folded))?.shown;
}

function matches(rule: DenyRule, folded: readonly string[]): boolean {
  const lastStart = rule.anchored ? 0 : folded.length - rule.names.length;
  for (let start = 0; start <= lastStart; start += 1) {
    if (rule.names.length <= folded.length - start && rule.names.every((name, index) => folded[start + index] === name)) return true;
  }
  return false;
}

/**
 * Case is ignored on every platform, so that one setting protects a case-insensitive disk too. Upper case first: "ſ" and
 * the Kelvin sign are "s" and "k" to such disks.
 */
export function foldName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}

/**
 * Globs for `rg --iglob` that keep a search below `searchDir` (components below the root) out of denied places.
 * A rule whose first names are the end of `searchDir` itself is anchored there.
 */
export function excludeGlobs(rules: readonly DenyRule[], searchDir: readonly string[]): string[] {
  const folded = searchDir.map(foldName);
  return rules.flatMap((rule) => {
    const globs = rule.anchored ? [] : [`!**/${escapeGlob(rule.names)}`];
    for (let taken = rule.anchored ? folded.length : 1; taken < rule.names.length; taken += 1) {
      const inside = taken <= folded.length && rule.names.slice(0, taken).every((name, index) => folded[folded.length - taken + index] === name);
      if (inside) globs.push(`!/${escapeGlob(rule.names.slice(taken))}`);
      if (rule.anchored) break;
    }
    return globs;
  });
}

function escapeGlob(names: readonly string[]): string {
  return names.map((name) => name.replaceAll(/[\\{}!,*?[\]]/g, "\\$&")).join("/");
}
