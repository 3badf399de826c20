/** Search by a regular expression of a stranger: matched in linear time (RE2), so no pattern can hold the process up. */
import { RE2JS } from "re2js";
import { err, ok, type Result } from "../../../shared/result.ts";
import { pageOf, type Page, type PageRequest } from "./search-page.ts";
import type { CatalogEntry } from "./upstream-catalog.ts";

const MAX_PATTERN_LENGTH = 256;

export interface RegexRequest extends PageRequest {
  readonly pattern: string;
  readonly server?: string | undefined;
}

export interface RegexProblem {
  readonly code: "invalid_pattern" | "query_too_long";
  /** For the model: what was expected, what came, what to do. */
  readonly message: string;
}

/** Tools whose shown name or description the pattern matches somewhere, in any case, in the order of their names. */
export function regexSearch(entries: readonly CatalogEntry[], request: RegexRequest): Result<Page<CatalogEntry>, RegexProblem> {
  const { pattern, server } = request;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    const message = `The pattern must have at most ${MAX_PATTERN_LENGTH} characters, this one has ${pattern.length}. Search with words instead, or with a shorter pattern.`;
    return err({ code: "query_too_long", message });
  }
  const compiled = compile(pattern);
  if (!compiled.ok) return compiled;
  const found = entries.filter(
    (entry) => (server === undefined || entry.server === server) && (compiled.value.test(entry.displayed) || compiled.value.test(entry.description)),
  );
  return ok(
    pageOf(
      found.toSorted((a, b) => (a.displayed < b.displayed ? -1 : 1)),
      request,
    ),
  );
}

function compile(pattern: string): Result<RE2JS, RegexProblem> {
  try {
    return ok(RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE));
  } catch (error) {
    // The engine's own way to ignore case is none of whoever wrote the pattern.
    const reason = (error instanceof Error ? error.message : String(error)).replace("(?i)", "");
    const message = `The pattern is not a regular expression RE2 can match (${reason}). Look-around and back-references are not supported; search with words instead, or correct the pattern.`;
    return err({ code: "invalid_pattern", message });
  }
}
