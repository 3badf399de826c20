import { createHash } from "node:crypto";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToken, readCreatedTokens, revokeTokens, staticTokensOf } from "../../../../local-agent/daemon/created-tokens.ts";
import { createTokenDeposits, followCreatedTokens } from "../../../../local-agent/daemon/token-deposits.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { waitUntil } from "../../../support/wait-until.ts";

const NO_LOG = { event() {} };
const wish = (name: string, expiresAt: number | null = null) => ({ name, expiresAt, scope: ["mcp"] });
const namesIn = (dir: string) => readCreatedTokens(dir).map(({ name }) => name);

test("[ST71] a token is 256 random bits with a prefix, and only its hash is kept, 0600", async () => {
  const dir = join(tempDir(), "pimcp");
  const { token, created } = await createToken(dir, wish("LM Studio", 5000), 1000);
  expect(token).toMatch(/^pimcp_[\w-]{43}$/);
  expect((await createToken(dir, wish("other"), 1000)).token).not.toBe(token);
  const sha256 = createHash("sha256").update(token).digest("hex");
  expect(created).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
    name: "LM Studio",
    scope: ["mcp"],
    sha256,
    createdAt: 1000,
    expiresAt: 5000,
  });
  const path = join(dir, "tokens.json");
  expect([statSync(path).mode & 0o777, statSync(dir).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readFileSync(path, "utf8")).not.toContain(token.slice(6));
});

test("[ST72] a name is there once, however it is written, and never passes for an ID", async () => {
  const dir = tempDir();
  const { created } = await createToken(dir, wish("LM Studio"), 0);
  for (const name of ["LM Studio", "lm studio", "ＬＭ Studio", "Static token", created.id])
    await expect(createToken(dir, wish(name), 0)).rejects.toThrow(`There is a token ${JSON.stringify(name)} already`);
  expect(namesIn(dir)).toEqual(["LM Studio"]);
});

test("[ST72] there are at most 255, and those long expired make room", async () => {
  const dir = tempDir();
  const { created } = await createToken(dir, wish("t", 1000), 0);
  const tokens = Array.from({ length: 255 }, (_, n) => ({ ...created, id: n.toString(16).padStart(8, "0"), name: "😀".repeat(57) + n }));
  writeFileSync(join(dir, "tokens.json"), JSON.stringify({ tokens }, null, 2), { mode: 0o600 });
  await expect(createToken(dir, wish("one more"), 2000)).rejects.toThrow(
    "There are 255 tokens, which is the most: end some with pimcp token revoke.",
  );
  expect(readCreatedTokens(dir)).toHaveLength(255);
  await createToken(dir, wish("one more"), 1000 + 30 * 24 * 60 * 60_000);
  expect(namesIn(dir)).toEqual(["one more"]);
});

test("[ST73] revoking takes IDs and names, or all; an unknown one takes nothing back", async () => {
  const dir = tempDir();
  const ids: string[] = [];
  for (const name of ["a", "b", "c", "d"]) ids.push((await createToken(dir, wish(name), 0)).created.id);
  await expect(revokeTokens(dir, ["a", "x"])).rejects.toThrow('There is no token "x", and nothing was taken back: pimcp token list shows them.');
  expect(namesIn(dir)).toEqual(["a", "b", "c", "d"]);
  expect((await revokeTokens(dir, ["A", ids[2] ?? ""])).map(({ name }) => name)).toEqual(["a", "c"]);
  expect((await revokeTokens(dir, "all")).map(({ name }) => name)).toEqual(["b", "d"]);
  expect([await revokeTokens(dir, "all"), namesIn(dir)]).toEqual([[], []]);
});

test("[ST71] commands at the same moment lose nothing", async () => {
  const dir = tempDir();
  const names = Array.from({ length: 12 }, (_, n) => `t${n}`);
  await Promise.all(names.map((name) => createToken(dir, wish(name), 0)));
  expect(namesIn(dir).toSorted()).toEqual(names.toSorted());
  const outcomes = await Promise.allSettled([createToken(dir, wish("same"), 0), createToken(dir, wish("same"), 0)]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("[ST12] [ST71] a file that others can read, or that makes no sense, is not used", async () => {
  const dir = tempDir();
  await createToken(dir, wish("a"), 0);
  const path = join(dir, "tokens.json");
  chmodSync(path, 0o644);
  expect(() => readCreatedTokens(dir)).toThrow(`run chmod 600 ${path}`);
  await expect(createToken(dir, wish("b"), 0)).rejects.toThrow("chmod 600");
  chmodSync(path, 0o600);
  writeFileSync(path, '{"tokens":[{"id":"x"}]}');
  expect(() => readCreatedTokens(dir)).toThrow(`${path} is damaged`);
  const own = { token: "t", file: null, sha256: "0".repeat(64) };
  const clock = new ManualClock();
  expect(() => createTokenDeposits({ configDir: dir, own, clock, log: NO_LOG, send: () => Promise.resolve(), onEnded: () => {} })).toThrow(
    "is damaged",
  );
  expect(() => followCreatedTokens(dir, clock, NO_LOG)).toThrow("is damaged");
});

test("[ST71] what has expired is deposited nowhere, and whoever follows the file sees each change of it", async () => {
  const dir = tempDir();
  const clock = new ManualClock(1000);
  const follow = followCreatedTokens(dir, clock, NO_LOG);
  expect(follow()).toEqual([]);
  const { created } = await createToken(dir, wish("a", 3000), 1000);
  const { id, name, sha256, scope } = created;
  expect(follow()).toEqual([{ id, name, sha256, scope, expiresAt: 3000 }]);
  clock.advance(2000);
  expect(follow()).toEqual([]);
  await createToken(dir, wish("b"), 3000);
  expect(follow().map((token) => token.name)).toEqual(["b"]);
  expect(staticTokensOf(readCreatedTokens(dir), 2999)).toHaveLength(2);
  chmodSync(join(dir, "tokens.json"), 0o644);
  expect(follow()).toEqual([]);
  chmodSync(join(dir, "tokens.json"), 0o600);
  await revokeTokens(dir, ["b"]);
  expect(follow()).toEqual([]);
});

test("[ST74] what changes while the relay cannot be told is told after its next welcome, and not twice", async () => {
  const dir = tempDir();
  const sent: string[][] = [];
  let isAway = false;
  const own = { token: "t", file: null, sha256: "0".repeat(64) };
  const deposits = createTokenDeposits({
    configDir: dir,
    own,
    clock: new ManualClock(),
    log: NO_LOG,
    send: (tokens) => {
      if (isAway) return Promise.reject(new Error("the relay is not connected right now"));
      sent.push(tokens.map(({ name }) => name));
      return Promise.resolve();
    },
    onEnded: () => {},
  });
  expect(deposits.forHello()).toEqual([{ id: "0".repeat(16), name: "static token", sha256: own.sha256, scope: ["mcp"] }]);
  deposits.welcomed();
  expect(sent).toEqual([]);
  await createToken(dir, wish("a"), 0);
  await deposits.reload();
  deposits.welcomed();
  expect(sent).toEqual([["static token", "a"]]);
  isAway = true;
  await createToken(dir, wish("b"), 0);
  await expect(deposits.reload()).rejects.toThrow("The relay could not be told: the relay is not connected right now.");
  isAway = false;
  deposits.welcomed();
  await waitUntil("it is told", () => sent.length === 2);
  expect(sent[1]).toEqual(["static token", "a", "b"]);
  deposits.welcomed();
  expect(sent).toHaveLength(2);
  chmodSync(join(dir, "tokens.json"), 0o644);
  expect(deposits.forHello().map(({ name }) => name)).toEqual(["static token"]);
});

test("[PT83] which tokens ended is said once the relay knows it, whether it was told at once or by a later hello", async () => {
  const dir = tempDir();
  const ended: (readonly string[])[] = [];
  const clock = new ManualClock(0);
  const own = { token: "t", file: null, sha256: "0".repeat(64) };
  let isAway = false;
  const send = () => (isAway ? Promise.reject(new Error("away")) : Promise.resolve());
  const deposits = createTokenDeposits({ configDir: dir, own, clock, log: NO_LOG, send, onEnded: (ids) => void ended.push(ids) });
  const [a, b, c] = [await createToken(dir, wish("a"), 0), await createToken(dir, wish("b"), 0), await createToken(dir, wish("c", 1000), 0)];
  deposits.forHello();
  deposits.welcomed();
  await revokeTokens(dir, ["a"]);
  expect(ended).toEqual([]);
  await deposits.reload();
  expect(ended).toEqual([[a.created.id]]);
  isAway = true;
  await revokeTokens(dir, ["b"]);
  await expect(deposits.reload()).rejects.toThrow("away");
  clock.advance(1000);
  deposits.forHello();
  expect(ended).toHaveLength(1);
  deposits.welcomed();
  expect(ended.slice(1)).toEqual([[b.created.id, c.created.id]]);
});
