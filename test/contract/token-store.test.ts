import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { keyringTokens } from "../../local-agent/node/keyring-tokens.ts";
import { memoryKeyring } from "../support/memory-keyring.ts";
import { describeTokenStore } from "./token-store.contract.ts";

const server = (): string => `test-${randomUUID()}`;

describe("over a store in memory", () => {
  describeTokenStore(() => keyringTokens(memoryKeyring().open), server);
});

// Asking the real store may open a dialog on somebody's screen, so it is asked for.
describe.skipIf(process.env["TEST_SYSTEM_KEYRING"] !== "1")("over the operating system's store", () => {
  describeTokenStore(() => keyringTokens(), server);
});

describe.skipIf(process.platform !== "linux")("without a store of the operating system", () => {
  test("[UT62] every access fails with a sentence that says what to do", async () => {
    const module = JSON.stringify(join(import.meta.dirname, "../../local-agent/node/keyring-tokens.ts"));
    const script = `const store = (await import(${module})).keyringTokens(); const url = "https://a.example/";
      const asked = [() => store.read("s", url), () => store.status("s"), () => store.write("s", url, "secret"), () => store.remove("s")];
      const answers = []; for (const ask of asked) answers.push(await ask().then(() => "worked", (error) => error.message));
      process.stdout.write(JSON.stringify(answers));`;
    const env = { ...process.env, DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent", XDG_RUNTIME_DIR: "/nonexistent" };
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { env });
    const answers = JSON.parse(stdout) as string[];
    const sentence = (what: string) =>
      expect.stringMatching(
        `^The operating system's credential store could not ${what}: .+\\. A Secret Service .* must run and be unlocked; or use`,
      ) as string;
    expect(answers).toEqual([sentence("be read"), sentence("be read"), sentence("keep the token"), sentence("remove the token")]);
    expect(stdout).not.toContain('secret"');
  });
});

describe("what is kept", () => {
  test("[UT61] has the names and the form that other programs with these tokens use", async () => {
    const keyring = memoryKeyring();
    await keyringTokens(keyring.open).write("my server", "https://a.example/mcp", "t");
    const account = `sha256-${createHash("sha256").update("my server").digest("hex")}`;
    expect([...keyring.entries]).toEqual([[`pi-mcp-adapter.bearer ${account}`, '{"token":"t","serverUrl":"https://a.example/mcp"}']]);
  });

  test("[UT61] is none when it has another form", async () => {
    const keyring = memoryKeyring();
    const store = keyringTokens(keyring.open);
    await store.write("s", "https://a.example/mcp", "t");
    const [name = ""] = keyring.entries.keys();
    for (const value of [
      "",
      "t",
      "[]",
      '{"token":"t"}',
      '{"token":7,"serverUrl":"https://a.example/mcp"}',
      '{"token":"","serverUrl":"https://a.example/mcp"}',
    ]) {
      keyring.entries.set(name, value);
      expect(await store.read("s", "https://a.example/mcp")).toBeNull();
    }
    expect(await store.remove("s")).toBe(true);
  });

  test("[UT62] a store that fails, or forgets what it is given, is reported without the token", async () => {
    const keyring = memoryKeyring();
    const store = keyringTokens(keyring.open);
    keyring.forgets = true;
    const forgotten = await store.write("s", "https://a.example/", "secret").catch((error: Error) => error.message);
    expect(forgotten).toMatch(/did not keep the token/);
    keyring.fault = "it is locked";
    const locked = await store.write("s", "https://a.example/", "secret").catch((error: Error) => error.message);
    expect(locked).toMatch(/could not keep the token: it is locked\. /);
    expect([forgotten, locked].join(" ")).not.toContain("secret");
  });

  test.each(["opened", "read", "written", "removed"])("[UT62] a store that never answers when it is %s is given up", async (step) => {
    const never = new Promise<never>(() => {});
    const answer = <T>(at: string, value: T): Promise<T> => (at === step ? never : Promise.resolve(value));
    const entry = {
      getPassword: () => answer("read", null),
      setPassword: () => answer("written", undefined),
      deletePassword: () => answer("removed", true),
    };
    const store = keyringTokens(() => answer("opened", entry), 20);
    const asked = {
      opened: () => store.status("s"),
      read: () => store.read("s", "u"),
      written: () => store.write("s", "u", "t"),
      removed: () => store.remove("s"),
    };
    await expect(asked[step as keyof typeof asked]()).rejects.toThrow(/: no answer within 0\.02 seconds\. /);
  });
});
