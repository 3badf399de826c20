/** Configuration files as values: JSON with comments, or TOML. Bounded, and only from regular files. */
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { parse as parseJsonc, printParseErrorCode, type ParseError } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import type { JsonValue } from "../../shared/json.ts";
import { readAtMost } from "./read-at-most.ts";

export type ParsedFile =
  | { readonly state: "absent" }
  /** `undefined`: empty, or comments only. */
  | { readonly state: "read"; readonly content: JsonValue | undefined }
  /** `problem` quotes nothing of the content: it may hold secrets. */
  | { readonly state: "unusable"; readonly problem: string };

/** Other programs keep more than servers in their files, Claude Code its history. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Deeper than anybody writes; what walks the values may recurse. */
const MAX_DEPTH = 64;

/** Follows links: people keep their settings elsewhere. Never rejects. */
export async function readParsedFile(path: string, format: "jsonc" | "toml"): Promise<ParsedFile> {
  const text = await readBoundedText(path);
  if (text.state !== "read") return text;
  try {
    const content = format === "toml" ? tomlValue(text.content) : jsoncValue(text.content);
    if (isTooDeep(content)) return { state: "unusable", problem: `it is nested deeper than ${MAX_DEPTH} levels` };
    return { state: "read", content };
  } catch (error) {
    return { state: "unusable", problem: error instanceof NotParsed ? error.message : `it is not valid ${format === "toml" ? "TOML" : "JSON"}` };
  }
}

type TextFile = Exclude<ParsedFile, { state: "read" }> | { readonly state: "read"; readonly content: string };

/** Never rejects. */
export async function readBoundedText(path: string): Promise<TextFile> {
  let file: FileHandle | undefined;
  try {
    // Without waiting: a pipe in the place of the file would hold up the start.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = await file.stat();
    if (!found.isFile()) return { state: "unusable", problem: "it is not a regular file" };
    if (found.size > MAX_BYTES) return { state: "unusable", problem: `it has ${found.size} bytes, ${MAX_BYTES} at most are read` };
    const bytes = await readAtMost(file, MAX_BYTES);
    if (bytes === null) return { state: "unusable", problem: `it has more than the ${MAX_BYTES} bytes that are read` };
    const text = bytes.toString("utf8");
    return { state: "read", content: text.startsWith("\uFEFF") ? text.slice(1) : text };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (code === "ENOENT" || code === "ENOTDIR") return { state: "absent" };
    return { state: "unusable", problem: `it cannot be read (${code})` };
  } finally {
    await file?.close().catch(() => undefined); // Read already: nothing is lost.
  }
}

class NotParsed extends Error {}

/** Throws when it is not JSON, with comments. `undefined`: nothing is there. */
export function jsoncValue(text: string): JsonValue | undefined {
  const errors: ParseError[] = [];
  const content = parseJsonc(text, errors, { allowTrailingComma: true, allowEmptyContent: true }) as JsonValue | undefined;
  const [first] = errors;
  if (first === undefined) return content === undefined ? undefined : ownMembers(content);
  const before = text.slice(0, first.offset).split("\n");
  throw new NotParsed(
    `it is not valid JSON (${printParseErrorCode(first.error)}, line ${before.length}, column ${(before.at(-1) ?? "").length + 1})`,
  );
}

/** As JSON: a date becomes its text. */
function tomlValue(text: string): JsonValue {
  return ownMembers(parseToml(text));
}

/**
 * The parser assigns members, so that one called `__proto__` becomes the object's prototype: read by name, and shown to nobody. What is
 * left after this is what is shown.
 */
function ownMembers(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function isTooDeep(value: JsonValue | undefined): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    level = level.flatMap((inner) => (typeof inner === "object" && inner !== null ? Object.values(inner) : []));
    if (level.length === 0) return false;
  }
  return true;
}
