import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readClientPair } from "../../../../local-agent/daemon/client-pair.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const MINTED = { credentials: null, redirects: null };

test("[ST19] the pair is minted once, kept in one private file, and the same at every start", () => {
  const dir = tempDir();
  const first = readClientPair(dir, MINTED);
  expect(first).toMatchObject({ file: join(dir, "oauth-client.json"), redirects: null });
  expect(first.id).toMatch(/^pimcp-[\w-]{12}$/);
  expect(first.secret).toMatch(/^[\w-]{43}$/);
  expect(first.sha256).toBe(createHash("sha256").update(first.secret).digest("hex"));
  expect(readClientPair(dir, MINTED)).toEqual(first);
  expect(readdirSync(dir)).toEqual(["oauth-client.json"]);
  expect(statSync(join(dir, "oauth-client.json")).mode & 0o777).toBe(0o600);
});

test("[ST19] a pair that was given is used for this run and leaves the kept one alone", () => {
  const dir = tempDir();
  const kept = readClientPair(dir, MINTED);
  const credentials = { id: "pimcp-gemini", secret: "a secret of somebody's" };
  expect(readClientPair(dir, { credentials, redirects: ["https://a.example/cb"] })).toEqual({
    ...credentials,
    sha256: createHash("sha256").update(credentials.secret).digest("hex"),
    file: null,
    redirects: ["https://a.example/cb"],
  });
  expect(readClientPair(dir, MINTED)).toEqual(kept);
});

test.for([
  "{",
  "[]",
  '{"id":"pimcp-a"}',
  '{"id":"https://a.example","secret":"s"}',
  '{"id":"pimcp-a","secret":""}',
  '{"id":"pimcp-a","secret":"with a space"}',
  '{"id":1,"secret":"s"}',
])("[ST19] the damaged file %s is a sentence, is not replaced, and is not shown", (text) => {
  const dir = tempDir();
  const file = join(dir, "oauth-client.json");
  writeFileSync(file, text, { mode: 0o600 });
  expect(() => readClientPair(dir, MINTED)).toThrow(
    `${file} is damaged: restore it, or remove it to have a new id and secret made (paste those into the client that has the old ones).`,
  );
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("[ST12] a pair that other accounts can read is refused", () => {
  const dir = tempDir();
  writeFileSync(join(dir, "oauth-client.json"), '{"id":"pimcp-a","secret":"s"}', { mode: 0o644 });
  expect(() => readClientPair(dir, MINTED)).toThrow("can be read by other accounts: run chmod 600");
});
