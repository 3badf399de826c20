/** Every path tool, through the real child process, against every way out of the root that is known. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  existsSync,
  readdirSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../shared/json.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { textOf, toolHostUnderTest, writeTree, type ToolHostUnderTest } from "../../support/tool-host-under-test.ts";

const SECRET = "the-outside-secret";

/** The same path given to every tool that takes one. */
const TOOLS: Readonly<Record<string, (path: string) => JsonObject>> = {
  read: (path) => ({ path }),
  write: (path) => ({ path, content: "overwritten" }),
  edit: (path) => ({ path, edits: [{ oldText: SECRET, newText: "overwritten" }] }),
  ls: (path) => ({ path }),
  grep: (path) => ({ path, pattern: "secret" }),
  find: (path) => ({ path, pattern: "*" }),
};

async function insideAndOutside(deny: readonly string[] = []): Promise<ToolHostUnderTest & { outside: string }> {
  const outside = tempDir("outside");
  writeTree(outside, { "secret.txt": SECRET, "dir/deep.txt": SECRET });
  const under = await toolHostUnderTest({ "ok.txt": "fine", "sub/inner.txt": "fine too" }, { deny });
  writeTree(`${under.root}-evil`, { "x.txt": SECRET });
  symlinkSync(join(outside, "secret.txt"), join(under.root, "link.txt"));
  symlinkSync(join(outside, "dir"), join(under.root, "linkdir"));
  symlinkSync(join(outside, "new.txt"), join(under.root, "dangling.txt"));
  symlinkSync("loop", join(under.root, "loop"));
  return { ...under, outside };
}

/** Each is refused by each tool, and nothing outside is told or changed. */
async function expectRefusedByAll(under: ToolHostUnderTest, path: string, told: RegExp): Promise<void> {
  for (const [name, args] of Object.entries(TOOLS)) {
    const outcome = await under.call(name, args(path));
    const text = textOf(outcome);
    expect({ name, path, text, isError: outcome.isError }).toEqual({ name, path, text: expect.stringMatching(told) as string, isError: true });
    expect(`${name} ${path}: ${JSON.stringify(outcome)}`).not.toContain(SECRET);
  }
}

describe("out of the root", () => {
  test("[CF1] every tool refuses every spelling of a path outside", async () => {
    const under = await insideAndOutside();
    const { outside, root } = under;
    const up = "../".repeat(20);
    const spellings = [
      outside,
      join(outside, "secret.txt"),
      `@${join(outside, "secret.txt")}`,
      `file://${join(outside, "secret.txt")}`,
      `${up}${outside.slice(1)}/secret.txt`,
      `sub/../../${root.split("/").at(-1) ?? ""}-evil/x.txt`,
      `${root}-evil/x.txt`,
      "..",
      "~",
      "~/.bashrc",
      "@~/.bashrc",
      "@../x",
      `/proc/self/root${outside}/secret.txt`,
      "/proc/self/cwd/..",
      "/dev/fd/0",
      "/dev/null",
      "/etc/passwd",
    ];
    for (const path of spellings) await expectRefusedByAll(under, path, /outside the root|is refused|symbolic link/);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe(SECRET);
    expect(readFileSync(`${root}-evil/x.txt`, "utf8")).toBe(SECRET);
    expect(existsSync(join(homedir(), ".bashrc")) ? readFileSync(join(homedir(), ".bashrc"), "utf8") : "").not.toContain("overwritten");
  });

  test("[CF2] every tool refuses a linked file and a linked directory that lead out", async () => {
    const under = await insideAndOutside();
    for (const path of ["link.txt", "linkdir", "linkdir/deep.txt", "linkdir/new.txt", "sub/../link.txt"]) {
      await expectRefusedByAll(under, path, /outside the root/);
    }
    expect(readFileSync(join(under.outside, "secret.txt"), "utf8")).toBe(SECRET);
    expect(readdirSync(join(under.outside, "dir"))).toEqual(["deep.txt"]);
  });

  test("[CF2] links that stay inside are followed by every tool", async () => {
    const under = await insideAndOutside();
    symlinkSync("ok.txt", join(under.root, "alias.txt"));
    symlinkSync("sub", join(under.root, "aliasdir"));
    expect(textOf(await under.call("read", { path: "alias.txt" }))).toBe("fine");
    expect(textOf(await under.call("ls", { path: "aliasdir" }))).toBe("inner.txt");
    expect(textOf(await under.call("grep", { path: "aliasdir", pattern: "fine" }))).toBe("inner.txt:1: fine too");
    expect(textOf(await under.call("grep", { path: "alias.txt", pattern: "fine" }))).toBe("alias.txt:1: fine");
    expect(textOf(await under.call("find", { path: "aliasdir", pattern: "*" }))).toBe("inner.txt");
    expect((await under.call("write", { path: "aliasdir/new.txt", content: "n" })).isError).toBe(false);
    expect(readFileSync(join(under.root, "sub/new.txt"), "utf8")).toBe("n");
  });

  test("[CF3] a dangling and a looping link are refused by every tool, and nothing appears behind them", async () => {
    const under = await insideAndOutside();
    symlinkSync("nowhere", join(under.root, "dangling-inside.txt"));
    await expectRefusedByAll(under, "dangling-inside.txt", /symbolic link whose target does not exist/);
    await expectRefusedByAll(under, "dangling.txt", /outside the root/);
    await expectRefusedByAll(under, "loop", /cannot be determined/);
    await expectRefusedByAll(under, "loop/x", /cannot be determined/);
    expect(existsSync(join(under.outside, "new.txt"))).toBe(false);
    expect(existsSync(join(under.root, "nowhere"))).toBe(false);
  });

  test("[CF3] a new file is judged by its deepest existing ancestor", async () => {
    const under = await insideAndOutside();
    expect((await under.call("write", { path: "a/b/c.txt", content: "made" })).isError).toBe(false);
    expect(readFileSync(join(under.root, "a/b/c.txt"), "utf8")).toBe("made");
    const refused = await under.call("write", { path: "linkdir/a/b.txt", content: "x" });
    expect(textOf(refused)).toContain("outside the root");
    expect(existsSync(join(under.outside, "dir/a"))).toBe(false);
  });

  test("[CF4] every tool refuses a NUL character", async () => {
    const under = await insideAndOutside();
    await expectRefusedByAll(under, "ok.txt\0.png", /NUL character/);
    await expectRefusedByAll(under, "file:///etc/passwd%00.txt", /NUL character/);
    expect(readFileSync(join(under.root, "ok.txt"), "utf8")).toBe("fine");
  });

  test("[CF5] a root that is a link works in both spellings", async () => {
    const base = tempDir("linked-root");
    writeTree(base, { "real/a.txt": "here" });
    symlinkSync(join(base, "real"), join(base, "alias"));
    const under = await toolHostUnderTest({}, { root: join(base, "alias"), deny: [".ssh"] });
    for (const path of ["a.txt", join(base, "alias/a.txt"), join(base, "real/a.txt")]) {
      expect([path, textOf(await under.call("read", { path }))]).toEqual([path, "here"]);
      expect([path, textOf(await under.call("grep", { path, pattern: "here" }))]).toEqual([path, "a.txt:1: here"]);
    }
    expect(textOf(await under.call("ls", { path: join(base, "alias") }))).toBe("a.txt");
    expect(textOf(await under.call("find", { path: join(base, "alias"), pattern: "*" }))).toBe("a.txt");
    expect((await under.call("write", { path: join(base, "alias/n.txt"), content: "n" })).isError).toBe(false);
    expect(readFileSync(join(base, "real/n.txt"), "utf8")).toBe("n");
    expect(textOf(await under.call("read", { path: join(base, "alias/.SSH/id") }))).toContain("deny list");
    expect(under.host.root).toBe(join(base, "real"));
  });

  test("[CF15] whether something exists outside is not told", async () => {
    const under = await insideAndOutside();
    symlinkSync("no-such-target", join(under.outside, "dangling"));
    symlinkSync("loop", join(under.outside, "loop"));
    symlinkSync("no-such-target", join(under.outside, "dir/dangling"));
    symlinkSync("dangling.txt", join(under.root, "dangling2.txt"));
    const wording = async (name: string, path: string) => textOf(await under.call(name, TOOLS[name]!(path))).replaceAll(path, "PATH");
    for (const name of Object.keys(TOOLS)) {
      const absent = await wording(name, join(under.outside, "no-such.txt"));
      expect(absent).toContain("PATH is outside the root");
      const outside = ["secret.txt", "dir", "dangling", "loop", "loop/x"].map((path) => join(under.outside, path));
      const throughLinks = ["linkdir", "linkdir/deep.txt", "linkdir/dangling", "linkdir/absent", "link.txt", "dangling.txt", "dangling2.txt"];
      for (const path of [...outside, ...throughLinks.map((path) => join(under.root, path))]) {
        expect([path, await wording(name, path)]).toEqual([path, absent]);
      }
    }
  });

  test("[CF13] ls lists dangling links and links that leave the root as plain names", async () => {
    const under = await insideAndOutside();
    expect(textOf(await under.call("ls", {})).split("\n")).toEqual(["dangling.txt", "link.txt", "linkdir", "loop", "ok.txt", "sub/"]);
  });

  test("[CF11] grep and find follow no link on their way, and no pattern leads out", async () => {
    const under = await insideAndOutside();
    expect(textOf(await under.call("grep", { pattern: "secret" }))).toBe("No matches found");
    expect(textOf(await under.call("grep", { pattern: "secret", glob: "../**" }))).toBe("No matches found");
    for (const pattern of ["../*", "linkdir/*", "**/deep.txt", `${under.outside}/*`, "**/*"]) {
      expect(`${pattern}: ${textOf(await under.call("find", { pattern }))}`.replace("**/deep.txt", "")).not.toContain("deep");
    }
  });
});

describe("ignore files", () => {
  test("[CF21] a linked ignore file whose lines are no patterns is not quoted when a search fails", async () => {
    const under = await insideAndOutside();
    writeFileSync(join(under.outside, "broken"), `[${SECRET}\n{a,${SECRET}\n`);
    mkdirSync(join(under.root, "d/x"), { recursive: true });
    symlinkSync(join(under.outside, "broken"), join(under.root, "d/.ignore"));
    // Deeper than a path can be long: ripgrep fails on it, for an administrator too, and so shows what it has to say.
    const half = Array.from({ length: 12 }, () => "n".repeat(200)).join("/");
    for (const place of ["d/x", "y"]) mkdirSync(join(under.root, place, half), { recursive: true });
    renameSync(join(under.root, "y"), join(under.root, "d/x", half, "y"));
    try {
      for (const [name, args] of [
        ["grep", { pattern: "nowhere", path: "d" }],
        ["find", { pattern: "nowhere", path: "d" }],
      ] as const) {
        const text = textOf(await under.call(name, args));
        expect([name, text]).toEqual([name, expect.not.stringContaining(SECRET)]);
        expect(text).toMatch(name === "grep" ? /os error 36/ : /^ripgrep ended with code 2$/);
      }
    } finally {
      execFileSync("rm", ["-rf", join(under.root, "d")]);
    }
  });
});

describe("special files", () => {
  test("[CF6] every tool refuses a pipe and a socket at once, and a search passes them by", async () => {
    const under = await insideAndOutside();
    execFileSync("mkfifo", [join(under.root, "pipe")]);
    const server = createServer().listen(join(under.root, "sock"));
    onTestFinished(() => void server.close());
    for (const path of ["pipe", "sock"]) {
      for (const name of ["read", "write", "edit", "grep"]) {
        const outcome = await under.call(name, TOOLS[name]!(path));
        expect(`${name} ${path}: ${textOf(outcome)}`).toContain("not a regular file");
        expect(outcome.isError).toBe(true);
      }
      expect((await under.call("ls", { path })).isError).toBe(true);
      expect((await under.call("find", { path, pattern: "*" })).isError).toBe(true);
    }
    expect(textOf(await under.call("grep", { pattern: "fine" }))).toContain("ok.txt:1: fine");
    expect(textOf(await under.call("ls", {}))).toContain("pipe");
  });

  test("[CF6] a directory is not taken for a file", async () => {
    const under = await insideAndOutside();
    for (const name of ["read", "write", "edit"]) expect([name, (await under.call(name, TOOLS[name]!("sub"))).isError]).toEqual([name, true]);
    expect(readdirSync(under.root).filter((entry) => entry.startsWith("sub"))).toEqual(["sub"]);
  });
});

describe("writing", () => {
  test("[CF7] a hard-linked file outside keeps its content, and the mode is kept", async () => {
    const under = await insideAndOutside();
    writeFileSync(join(under.outside, "shared.txt"), "original");
    chmodSync(join(under.outside, "shared.txt"), 0o750);
    linkSync(join(under.outside, "shared.txt"), join(under.root, "hard.txt"));
    linkSync(join(under.outside, "shared.txt"), join(under.root, "hard2.txt"));
    expect((await under.call("write", { path: "hard.txt", content: "changed" })).isError).toBe(false);
    expect((await under.call("edit", { path: "hard2.txt", edits: [{ oldText: "original", newText: "edited" }] })).isError).toBe(false);
    expect(readFileSync(join(under.outside, "shared.txt"), "utf8")).toBe("original");
    expect(readFileSync(join(under.root, "hard.txt"), "utf8")).toBe("changed");
    expect(readFileSync(join(under.root, "hard2.txt"), "utf8")).toBe("edited");
    expect(statSync(join(under.root, "hard.txt")).mode & 0o777).toBe(0o750);
  });

  test("[CF7] writing through a link inside the root leaves the link a link, and no temporary file stays", async () => {
    const under = await insideAndOutside();
    symlinkSync("sub/inner.txt", join(under.root, "alias.txt"));
    await under.call("write", { path: "alias.txt", content: "through" });
    expect(readlinkSync(join(under.root, "alias.txt"))).toBe("sub/inner.txt");
    expect(readFileSync(join(under.root, "sub/inner.txt"), "utf8")).toBe("through");
    expect(readdirSync(join(under.root, "sub"))).toEqual(["inner.txt"]);
  });

  test("[CF8] a read-only file is not replaced, by an administrator neither", async () => {
    const under = await insideAndOutside();
    chmodSync(join(under.root, "ok.txt"), 0o444);
    for (const name of ["write", "edit"]) expect([name, (await under.call(name, TOOLS[name]!("ok.txt"))).isError]).toEqual([name, true]);
    expect(readFileSync(join(under.root, "ok.txt"), "utf8")).toBe("fine");
  });

  test("[CF14] edit refuses what is not UTF-8 and leaves every byte", async () => {
    const latin1 = Buffer.from("caf\xe9 one\n", "latin1");
    const shiftJis = Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67, 0x0a]);
    const binary = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe, 0x00, 0x6f, 0x6e, 0x65]);
    const under = await toolHostUnderTest({ "latin1.txt": latin1, "sjis.txt": shiftJis, "a.bin": binary });
    for (const [path, bytes] of [
      ["latin1.txt", latin1],
      ["sjis.txt", shiftJis],
      ["a.bin", binary],
    ] as const) {
      const outcome = await under.call("edit", { path, edits: [{ oldText: "one", newText: "two" }] });
      expect(`${path}: ${textOf(outcome)}`).toContain("not valid UTF-8");
      expect([path, readFileSync(join(under.root, path))]).toEqual([path, bytes]);
    }
  });

  test("[CF14] edit keeps the byte order mark, CRLF and lone CR", async () => {
    const under = await toolHostUnderTest({ "a.txt": "\ufeffone\r\ntwo\rthree\nfour\r\n" });
    expect((await under.call("edit", { path: "a.txt", edits: [{ oldText: "three", newText: "3" }] })).isError).toBe(false);
    expect(readFileSync(join(under.root, "a.txt"), "utf8")).toBe("\ufeffone\r\ntwo\r3\nfour\r\n");
  });

  test("[CF17] a file above 64 MiB is not loaded whole, and its text can be read by ranges", async () => {
    const under = await toolHostUnderTest();
    execFileSync("sh", ["-c", "yes abcdefghijklmnopqrstuvwxyz | head -c 67200000 > big.txt"], { cwd: under.root });
    const refused = await under.call("read", { path: "big.txt", limit: -1 });
    expect(textOf(refused)).toContain("at most 67108864");
    expect(textOf(await under.call("read", { path: "big.txt", offset: 2_000_000, limit: 1 }))).toContain("abcdefghijklmnopqrstuvwxyz");
  });
});

describe("the deny list", () => {
  const deny = [".ssh", ".config/gcloud", ".netrc"];
  const files = {
    ".ssh/id": SECRET,
    "deep/a/.SSH/key": SECRET,
    "deep/.config/gcloud/token": SECRET,
    "deep/.config/ok.txt": "fine",
    ".netrc": SECRET,
    "x.txt": "plain secret",
  };

  test("[CF9] every tool refuses what is below a denied name, at any depth and in any case", async () => {
    const under = await toolHostUnderTest(files, { deny });
    const denied = [
      ".ssh",
      ".ssh/id",
      ".ssh/new",
      "deep/a/.SSH/key",
      ".Ssh/x",
      "deep/.config/gcloud",
      "deep/.config/GCLOUD/token",
      ".netrc",
      "sub/.netrc",
    ];
    for (const path of denied) await expectRefusedByAll(under, path, /deny list/);
    expect(readFileSync(join(under.root, ".ssh/id"), "utf8")).toBe(SECRET);
    expect(existsSync(join(under.root, "sub"))).toBe(false);
    expect(textOf(await under.call("ls", {}))).toContain(".ssh/");
    expect(textOf(await under.call("read", { path: "deep/.config/ok.txt" }))).toBe("fine");
  });

  test("[CF10] a link with a denied name, and a link below one, are both refused", async () => {
    const under = await toolHostUnderTest({ ...files, "open/id": "harmless" }, { deny });
    mkdirSync(join(under.root, "links"));
    symlinkSync("../open", join(under.root, "links/.ssh"));
    symlinkSync("../.ssh", join(under.root, "links/innocent"));
    symlinkSync("../.ssh/id", join(under.root, "links/file"));
    for (const path of ["links/.ssh/id", "links/innocent", "links/innocent/id", "links/file"]) await expectRefusedByAll(under, path, /deny list/);
    expect(readFileSync(join(under.root, "open/id"), "utf8")).toBe("harmless");
  });

  test("[CF11] grep and find enter no denied place, whatever the glob and wherever they start", async () => {
    const under = await toolHostUnderTest(files, { deny });
    for (const args of [
      {},
      { glob: ".ssh/**" },
      { glob: "**/id" },
      { glob: "!nothing" },
      { glob: ".netrc" },
      { path: "deep" },
      { path: "deep/.config" },
      { path: "deep/a", glob: "**" },
    ]) {
      const text = textOf(await under.call("grep", { pattern: "secret", ...args }));
      expect([args, text.includes(SECRET)]).toEqual([args, false]);
    }
    expect(textOf(await under.call("grep", { pattern: "secret" }))).toBe("x.txt:1: plain secret");
    for (const args of [
      { pattern: "*" },
      { pattern: "**/*" },
      { pattern: ".ssh/*" },
      { pattern: "*", path: "deep/.config" },
      { pattern: "**", path: "deep/a" },
    ]) {
      const text = textOf(await under.call("find", args));
      expect([args, /\/id|key|token|netrc/.exec(text)]).toEqual([args, null]);
    }
    expect(textOf(await under.call("find", { pattern: "*", path: "deep/.config" }))).toBe("ok.txt");
  });

  test("[CF12] absolute and home entries close one place", async () => {
    const base = tempDir("deny");
    writeTree(base, { "root/keys/a": SECRET, "root/sub/keys/a": "open", "root/home/x": SECRET });
    symlinkSync(join(base, "root"), join(base, "alias"));
    const under = await toolHostUnderTest({}, { root: join(base, "root"), deny: [join(base, "alias/keys"), "/etc", "~/no-such-place"] });
    await expectRefusedByAll(under, "keys/a", /deny list/);
    expect(textOf(await under.call("read", { path: "sub/keys/a" }))).toBe("open");
    expect(textOf(await under.call("grep", { pattern: "." }))).not.toContain(`keys/a:1: ${SECRET}`);
  });

  test.each(["..", "../x", "*.pem", ""])("[CF12] [TL21] the entry %j is refused at the start with a sentence", async (entry) => {
    await expect(toolHostUnderTest({}, { deny: [entry] })).rejects.toThrow(/^deny entry/);
  });
});

describe("what is always closed", () => {
  test("[CF18] every tool refuses a closed place, by its name and by its real place, without a deny list", async () => {
    const base = tempDir("closed");
    const root = join(base, "home");
    writeTree(root, { ".config/pimcp/agent-key": SECRET, "kept/secret": SECRET, "a.txt": "plain secret", "sub/.config/pimcp/x": "not this one" });
    symlinkSync("kept", join(root, ".state"));
    symlinkSync("../.config/pimcp", join(root, "sub/way-round"));
    const closed = [join(root, ".config/pimcp"), join(root, ".state"), join(root, ".wrangler"), join(base, "elsewhere")];
    const under = await toolHostUnderTest({}, { root, deny: [], closed });
    const paths = [".config/pimcp", ".config/pimcp/agent-key", ".CONFIG/PIMCP/new", ".state", ".state/secret", "kept/secret", "kept"];
    for (const path of [...paths, "sub/way-round/agent-key", ".wrangler/config/default.toml"]) {
      await expectRefusedByAll(under, path, /always closed to tools/);
    }
    expect(readFileSync(join(root, ".config/pimcp/agent-key"), "utf8")).toBe(SECRET);
    expect(existsSync(join(root, ".wrangler"))).toBe(false);
    expect(textOf(await under.call("grep", { pattern: "secret", glob: "**/*" }))).toBe("a.txt:1: plain secret");
    expect(textOf(await under.call("grep", { pattern: "secret", path: ".config", glob: "pimcp/**" }))).toBe("No matches found");
    expect(textOf(await under.call("find", { pattern: "*", path: ".config" }))).toBe("No files found matching pattern");
    expect(textOf(await under.call("find", { pattern: "**/{agent-key,secret}" }))).toBe("No files found matching pattern");
    expect(textOf(await under.call("read", { path: "sub/.config/pimcp/x" }))).toBe("not this one");
  });

  test("[CF18] [TL7] the private directory and the state are closed when they are below the root, but for long output", async () => {
    const base = tempDir("closed");
    const stateDir = join(base, "state [of] {it}");
    const under = await toolHostUnderTest({}, { root: tmpdir(), stateDir });
    for (const path of [join(stateDir, "marks/x.json"), join(under.privateDir, "agent/bin/rg"), join(under.privateDir, "agent/settings.json")]) {
      // Ripgrep's name there is a link to where it is installed, which may or may not be below this root.
      await expectRefusedByAll(under, path, path.endsWith("/rg") ? /outside the root|always closed to tools/ : /always closed to tools/);
    }
    expect(textOf(await under.call("find", { pattern: "**", path: base }))).toBe("No files found matching pattern");
    const long = join(under.privateDir, "output/long.log");
    writeFileSync(long, "whole output");
    expect(textOf(await under.call("read", { path: long }))).toBe("whole output");
    expect(textOf(await under.call("write", { path: long, content: "x" }))).toContain("always closed to tools");
  });

  test("[CF18] [TL21] a root inside a closed place is one sentence at the start", async () => {
    const base = tempDir("closed");
    writeTree(base, { "pimcp/relays/": "" });
    await expect(toolHostUnderTest({}, { root: join(base, "pimcp/relays"), closed: [join(base, "pimcp")] })).rejects.toThrow(
      /^the root .*relays is in .*pimcp, which is always closed to tools: give another directory with --root$/,
    );
  });

  test("[CF19] /proc and /sys are closed with the root /", async () => {
    const under = await toolHostUnderTest({}, { root: "/" });
    for (const path of ["/proc/self/environ", "/proc/self/root/etc/hostname", "/proc", "/sys/kernel", "../sys"]) {
      await expectRefusedByAll(under, path, /always closed to tools|is refused/);
    }
    expect(textOf(await under.call("read", { path: "/etc/hostname" }))).not.toContain("refused");
    await expect(toolHostUnderTest({}, { root: "/proc/self/task" })).rejects.toThrow("always closed to tools");
  });
});

describe("the program itself", () => {
  const files = { "app/dist/child.mjs": "run me", "app/package.json": "{}", "other/app.txt": "mine", "deps/x/index.js": "dependency" };

  async function aroundProgram(root: string): Promise<ToolHostUnderTest & { base: string }> {
    const base = tempDir("program");
    writeTree(base, files);
    symlinkSync("../deps", join(base, "app/node_modules"));
    symlinkSync("../app", join(base, "other/innocent"));
    const writeClosed = [join(base, "app"), join(base, "app/node_modules"), join(base, "node_modules")];
    return { ...(await toolHostUnderTest({}, { root: join(base, root), writeClosed })), base };
  }

  test("[CF20] is read but not written, by whatever name", async () => {
    const under = await aroundProgram(".");
    const paths = ["app/dist/child.mjs", "app/new.js", "APP/dist/new/deep.js", "other/innocent/package.json", "deps/x/index.js"];
    for (const path of [...paths, "app/node_modules/x/index.js", "node_modules/optional/index.js", join(under.base, "app/package.json")]) {
      for (const name of ["write", "edit"]) {
        expect([name, path, textOf(await under.call(name, TOOLS[name]!(path)))]).toEqual([
          name,
          path,
          `${resolve(under.base, path)} belongs to pi-relay itself and is closed to writing: start it with --root DIRECTORY to work elsewhere`,
        ]);
      }
    }
    for (const [path, content] of Object.entries(files)) expect(readFileSync(join(under.base, path), "utf8")).toBe(content);
    expect(existsSync(join(under.base, "node_modules"))).toBe(false);
    expect(textOf(await under.call("read", { path: "app/dist/child.mjs" }))).toBe("run me");
    expect(textOf(await under.call("grep", { pattern: "run", path: "app" }))).toBe("dist/child.mjs:1: run me");
    expect((await under.call("write", { path: "other/app.txt", content: "changed" })).isError).toBe(false);
    expect((await under.call("write", { path: "application/x", content: "new" })).isError).toBe(false);
    expect(under.host.confinement().join("\n")).toContain(
      `write and edit refuse ${join(under.base, "app")} and ${join(under.base, "deps")}, which belong to pi-relay itself: start it with --root`,
    );
  });

  test("[CF20] with a root inside it nothing is written, and a root beside it is told nothing", async () => {
    const inside = await aroundProgram("app/dist");
    expect(textOf(await inside.call("write", { path: "new.mjs", content: "x" }))).toContain("belongs to pi-relay itself");
    expect(textOf(await inside.call("read", { path: "child.mjs" }))).toBe("run me");
    expect(inside.host.confinement().join("\n")).toContain("belongs to pi-relay itself");
    const beside = await aroundProgram("other");
    expect((await beside.call("write", { path: "n.txt", content: "x" })).isError).toBe(false);
    expect(beside.host.confinement().join("\n")).not.toContain("pi-relay itself");
  });
});
