import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workspaceSettings } from "../../../../local-agent/daemon/config-dir.ts";
import { readHostId, readStaticToken } from "../../../../local-agent/daemon/machine.ts";
import { rememberRelay } from "../../../../local-agent/daemon/remembered-relay.ts";
import {
  canonicalOrigins,
  chooseRelay,
  flagsBeside,
  issuerWarnings,
  readRelayName,
  relayName,
  type RelayTarget,
} from "../../../../local-agent/daemon/relay-target.ts";
import type { Mode } from "../../../../local-agent/daemon/settings.ts";
import { tempDir } from "../../../support/temp-dir.ts";

type RelayMode = Mode & { readonly kind: "relay" };
const listen = { host: "127.0.0.1", port: 8777 };
const mode = (part: Partial<RelayMode>): RelayMode => ({
  kind: "relay",
  relay: null,
  workspace: null,
  keyFile: null,
  listen,
  issuer: null,
  oauth: true,
  takeOver: false,
  ...part,
});

function configured(): string {
  const dir = tempDir();
  writeFileSync(join(dir, "agent-key"), "the-key\n", { mode: 0o600 });
  rememberRelay(dir, { url: "https://r.example", keyFile: join(dir, "agent-key") });
  return dir;
}

test("[ST4] without a relay anywhere it is the embedded one", () => {
  expect(chooseRelay(mode({}), tempDir())).toEqual({ kind: "embedded", workspace: null, listen });
});

test("[ST4] the remembered relay is dialled, and named explicitly needs no key file", () => {
  const dir = configured();
  const expected = { kind: "deployed", workspace: null, url: "https://r.example", agentKey: "the-key" };
  expect(chooseRelay(mode({}), dir)).toEqual(expected);
  expect(chooseRelay(mode({ relay: "https://r.example" }), dir)).toEqual(expected);
  expect(chooseRelay(mode({ workspace: "x" }), dir)).toEqual({ ...expected, workspace: "x" });
  expect(chooseRelay(mode({ relay: "local" }), dir)).toEqual({ kind: "embedded", workspace: null, listen });
});

test("[ST16] a key is never sent to a relay it was not made for", () => {
  expect(() => chooseRelay(mode({ relay: "https://other.example" }), configured())).toThrow(
    /^Which key https:\/\/other\.example was given is not known here: name its file with --key-file/,
  );
});

test("[ST16] a missing or malformed key, or a damaged memory, is a sentence", () => {
  const dir = tempDir();
  writeFileSync(join(dir, "words"), "two words\n", { mode: 0o600 });
  expect(() => chooseRelay(mode({ relay: "https://r.example", keyFile: join(dir, "none") }), dir)).toThrow("name its file with --key-file");
  expect(() => chooseRelay(mode({ relay: "https://r.example", keyFile: join(dir, "words") }), dir)).toThrow("holds no agent key");
  expect(() => chooseRelay(mode({ keyFile: join(dir, "words") }), dir)).toThrow("--key-file goes with a deployed relay");
  writeFileSync(join(dir, "relay.json"), "{", { mode: 0o600 });
  expect(() => chooseRelay(mode({}), dir)).toThrow("is damaged: run npm run deploy again");
});

test.for<[string, string | null, string[]]>([
  ["http://127.0.0.1:8777", null, ["http://127.0.0.1:8777", "http://localhost:8777"]],
  ["http://localhost:8777", null, ["http://127.0.0.1:8777", "http://localhost:8777"]],
  ["https://localhost:8443", null, ["https://127.0.0.1:8443", "https://localhost:8443"]],
  ["http://[::1]:8777", null, ["http://[::1]:8777", "http://localhost:8777"]],
  ["http://127.0.0.1:8777", "https://m.example", ["https://m.example"]],
  ["http://127.0.0.1:8777", "http://localhost:9999", ["http://localhost:9999", "http://127.0.0.1:8777", "http://localhost:8777"]],
  ["https://r.example", null, ["https://r.example"]],
  ["https://r.example", "https://m.example", ["https://m.example", "https://r.example"]],
])("[ST17] canonical origins of %s with issuer %s", ([url, issuer, origins]) => {
  expect(canonicalOrigins(url, issuer)).toEqual(origins);
});

const NOTHING = /^$/;
const LISTENS = "http://127.0.0.1:8777";
test.for<["embedded" | "deployed", string, string | null, RegExp]>([
  [
    "deployed",
    "https://r.example",
    "http://localhost:9",
    /^Clients are told http:\/\/localhost:9, which no other machine can reach, .*r\.example: leave/,
  ],
  ["deployed", "https://r.example", "https://127.0.0.1:8443", /which no other machine can reach/],
  [
    "embedded",
    LISTENS,
    "http://127.0.0.1:9999",
    /^Clients are told http:\/\/127\.0\.0\.1:9999, and the relay listens at http:\/\/127\.0\.0\.1:8777: /,
  ],
  ["embedded", LISTENS, "http://[::1]:8777", /the relay listens at/],
  ["embedded", LISTENS, "https://localhost:8777", /the relay listens at/],
  ["deployed", LISTENS, "http://localhost:1", /the relay listens at/],
  [
    "deployed",
    "https://r.example",
    "https://m.example",
    /m\.example, and the relay that is dialled is https:\/\/r\.example: both have to lead to the same/,
  ],
  ["deployed", "https://127.0.0.1:8443", "https://m.example", /is dialled is https:\/\/127\.0\.0\.1:8443: both/],
  ["embedded", LISTENS, null, NOTHING],
  ["embedded", LISTENS, "http://localhost:8777", NOTHING],
  ["embedded", LISTENS, "http://127.0.0.1:8777", NOTHING],
  ["embedded", "http://[::1]:8777", "http://localhost:8777", NOTHING],
  ["embedded", LISTENS, "https://m.example", NOTHING],
  ["embedded", "http://0.0.0.0:8777", "https://m.example", NOTHING],
  ["deployed", "https://r.example", null, NOTHING],
  ["deployed", "https://r.example", "https://r.example", NOTHING],
  ["deployed", LISTENS, "http://localhost:8777", NOTHING],
])("[ST28] %s relay at %s with issuer %s", ([kind, url, issuer, sentence]) => {
  expect(issuerWarnings(kind, url, issuer).join("\n")).toMatch(sentence);
});

test.for<[RelayTarget, string, { relay: string; workspace: string | null }]>([
  [{ kind: "embedded", workspace: null, listen: { host: "::1", port: 1 } }, "http://[::1]:1", { relay: "http://[::1]:1", workspace: null }],
  [{ kind: "embedded", workspace: "x", listen, place: 2 }, "http://127.0.0.1:8777/w/x#2", { relay: "http://127.0.0.1:8777", workspace: "x" }],
  [{ kind: "embedded", workspace: null, listen, place: 2 }, "http://127.0.0.1:8777#2", { relay: "http://127.0.0.1:8777", workspace: null }],
  [
    { kind: "deployed", workspace: null, url: "https://r.example", agentKey: "k" },
    "https://r.example",
    { relay: "https://r.example", workspace: null },
  ],
  [
    { kind: "deployed", workspace: "a-1", url: "https://r.example", agentKey: "k" },
    "https://r.example/w/a-1",
    { relay: "https://r.example", workspace: "a-1" },
  ],
])("[ST14] a relay is told apart by its origin, the embedded one by where it listens, and both by the workspace: %o", ([target, name, parts]) => {
  expect(relayName(target)).toBe(name);
  expect(readRelayName(name)).toEqual(parts);
});

test("[ST14] the way out is the flag that such an agent takes", () => {
  const deployed = { kind: "deployed", workspace: "x", url: "https://r.example", agentKey: "k" } as const;
  expect(flagsBeside(deployed, true)).toBe("--workspace NAME and another --ui-port");
  expect(flagsBeside(deployed, false)).toBe("--workspace NAME");
  expect(flagsBeside({ kind: "embedded", workspace: "x", listen }, true)).toBe("another --port and another --ui-port");
});

test("[ST27] each workspace has a static token of its own, kept", () => {
  const dir = tempDir();
  const tokens = [null, "a", "b", "con"].map((workspace) => readStaticToken(workspaceSettings(dir, workspace), null).token);
  expect(new Set(tokens).size).toBe(4);
  expect([null, "a", "b", "con"].map((workspace) => readStaticToken(workspaceSettings(dir, workspace), null).token)).toEqual(tokens);
  expect(readFileSync(join(dir, "token"), "utf8").trim()).toBe(tokens[0]);
});

test("[ST13] the host id and the static token stay the same", () => {
  const dir = tempDir();
  expect(readHostId(dir)).toBe(readHostId(dir));
  expect(readHostId(dir)).toMatch(/^[0-9a-f]{32}$/);
  expect(readStaticToken(dir, null)).toEqual(readStaticToken(dir, null));
  expect(readFileSync(join(dir, "token"), "utf8").trim()).toBe(readStaticToken(dir, null).token);
});

test("[ST18] --token replaces the kept token for this run only", () => {
  const dir = tempDir();
  const kept = readStaticToken(dir, null);
  expect(readStaticToken(dir, "given")).toMatchObject({ token: "given", file: null });
  expect(readStaticToken(dir, null)).toEqual(kept);
});

test("[ER1] the embedded relay runs with the compatibility date and flags of the deployment", () => {
  const source = readFileSync(join(import.meta.dirname, "../../../../local-agent/daemon/embedded-relay-child.ts"), "utf8");
  const deployed = readFileSync(join(import.meta.dirname, "../../../../wrangler.toml"), "utf8");
  const date = /compatibility_date = "(.+)"/.exec(deployed)?.[1];
  const flags = /compatibility_flags = (\[.+\])/.exec(deployed)?.[1];
  expect(source).toContain(`compatibilityDate: "${date}"`);
  expect(source).toContain(`compatibilityFlags: ${flags}`);
});
