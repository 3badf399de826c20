/**
 * Tokens that the person made for clients that only send a header: `tokens.json` in the workspace's settings, by their SHA-256. A token
 * itself is shown once and kept nowhere.
 */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import * as v from "valibot";
import { parseJson } from "../../shared/json.ts";
import { OWN_TOKEN_NAME } from "../../shared/principal.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { mintSecret, preparePrivateDirectory, readPrivateFile, writePrivateFile } from "./config-dir.ts";
import { underGuard } from "./guard.ts";
import { StartFailure } from "./start-failure.ts";

const CreatedToken = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{8}$/)),
  name: v.pipe(v.string(), v.maxLength(200)),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  scope: v.array(v.string()),
  /** Milliseconds since the epoch, as `expiresAt`. */
  createdAt: v.number(),
  /** Null: never. */
  expiresAt: v.nullable(v.number()),
});
export type CreatedToken = v.InferOutput<typeof CreatedToken>;
const TokenFile = v.object({ tokens: v.array(CreatedToken) });

type StaticTokens = Deposits["staticTokens"];

/** With the run's own token they are the 256 that a relay takes. */
const MAX_TOKENS = 255;
/** 255 of them with the longest names. */
const MAX_FILE_BYTES = 256 * 1024;
/** So long an expired one is listed as such. */
const EXPIRED_KEPT_MS = 30 * 24 * 60 * 60_000;
/** Recognised by people, and by scanners for secrets that leaked. */
const TOKEN_PREFIX = "pimcp_";

export function createdTokensPath(configDir: string): string {
  return join(configDir, "tokens.json");
}

/** Oldest first. Throws `StartFailure` for a file that others could have read (ST12) or that makes no sense. */
export function readCreatedTokens(configDir: string): readonly CreatedToken[] {
  const path = createdTokensPath(configDir);
  const text = readPrivateFile(path, MAX_FILE_BYTES);
  if (text === undefined) return [];
  const file = v.safeParse(TokenFile, parseJson(text));
  if (file.success) return file.output.tokens;
  throw new StartFailure(`${path} is damaged: remove it, which ends the tokens in it, and create them anew with pimcp token create.`);
}

export interface TokenWish {
  /** Visible, 1 to 60 characters. */
  readonly name: string;
  readonly expiresAt: number | null;
  readonly scope: readonly string[];
}

/** Throws `StartFailure` when the name is taken or there are too many. */
export async function createToken(
  configDir: string,
  wish: TokenWish,
  now: number,
): Promise<{ readonly token: string; readonly created: CreatedToken }> {
  const token = `${TOKEN_PREFIX}${mintSecret()}`;
  const sha256 = createHash("sha256").update(token).digest("hex");
  const created = await underGuard(preparePrivateDirectory(configDir), () => {
    const known = readCreatedTokens(configDir).filter(({ expiresAt }) => expiresAt === null || now - expiresAt < EXPIRED_KEPT_MS);
    if (comparable(wish.name) === OWN_TOKEN_NAME || known.some((each) => means(each, wish.name)))
      throw new StartFailure(`There is a token ${JSON.stringify(wish.name)} already: choose another name, or end that one with pimcp token revoke.`);
    if (known.length >= MAX_TOKENS) throw new StartFailure(`There are ${MAX_TOKENS} tokens, which is the most: end some with pimcp token revoke.`);
    const made: CreatedToken = { id: freeId(known), ...wish, scope: [...wish.scope], sha256, createdAt: now };
    write(configDir, [...known, made]);
    return made;
  });
  return { token, created };
}

/** Returns those that ended. Throws `StartFailure` when one is not known: then none has ended. */
export function revokeTokens(configDir: string, which: readonly string[] | "all"): Promise<readonly CreatedToken[]> {
  return underGuard(preparePrivateDirectory(configDir), () => {
    const known = readCreatedTokens(configDir);
    const unknown = which === "all" ? undefined : which.find((word) => !known.some((each) => means(each, word)));
    if (unknown !== undefined)
      throw new StartFailure(`There is no token ${JSON.stringify(unknown)}, and nothing was taken back: pimcp token list shows them.`);
    const ended = known.filter((each) => which === "all" || which.some((word) => means(each, word)));
    if (ended.length > 0)
      write(
        configDir,
        known.filter((each) => !ended.includes(each)),
      );
    return ended;
  });
}

/** As a relay is told of them, without those that have expired. */
export function staticTokensOf(tokens: readonly CreatedToken[], now: number): StaticTokens {
  return tokens
    .filter(({ expiresAt }) => expiresAt === null || now < expiresAt)
    .slice(0, MAX_TOKENS)
    .map(({ id, name, sha256, scope, expiresAt }) => ({ id, name, sha256, scope, ...(expiresAt === null ? {} : { expiresAt }) }));
}

/** Names that a person takes for one are one. */
function means({ id, name }: CreatedToken, word: string): boolean {
  return id === word || comparable(name) === comparable(word);
}

function comparable(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

/** Never what a word for another one would mean too. */
function freeId(known: readonly CreatedToken[]): string {
  for (;;) {
    const id = randomBytes(4).toString("hex");
    if (!known.some((each) => means(each, id))) return id;
  }
}

function write(configDir: string, tokens: readonly CreatedToken[]): void {
  writePrivateFile(createdTokensPath(configDir), JSON.stringify({ tokens }, null, 2));
}
