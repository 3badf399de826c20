import { expect, test } from "vitest";
import { backoffMs } from "../../../../local-agent/tools/host-supervisor.ts";
import { shellEnvironment, hostEnvironment } from "../../../../local-agent/tools/child-environment.ts";
import { describeConfinement } from "../../../../local-agent/tools/confinement-notes.ts";
import { chooseTools, defaultTools, TOOL_NAMES } from "../../../../local-agent/tools/tool-traits.ts";

test("[TL2] the default is every tool of the platform, and a choice overrides it both ways", () => {
  expect(defaultTools("linux")).toEqual(["read", "write", "edit", "ls", "grep", "find", "bash"]);
  expect(defaultTools("win32")).toEqual([...TOOL_NAMES]);
  expect(chooseTools(["powershell", "read"], "linux")).toEqual(["read", "powershell"]);
  expect(chooseTools(["bash"], "win32")).toEqual(["bash"]);
});

test("[TL2] an unknown name, or none, is an error that lists the names", () => {
  expect(() => chooseTools(["read", "cat", "sed"], "linux")).toThrow(
    "unknown tools cat, sed: choose from read, write, edit, ls, grep, find, bash, powershell",
  );
  expect(() => chooseTools([], "linux")).toThrow("choose at least one".replace("choose", "give"));
});

test("[TL8] the shell's environment is the agent's without its secrets, whatever their case", () => {
  const env = { HOME: "/h", PI_AS_MCP_TOKEN: "t", pi_as_mcp_x: "y", Api_Key: "k", NODE_CHANNEL_FD: "3", TMPDIR: "/t", PI_CODING_AGENT_DIR: "/p" };
  const shell = shellEnvironment(env, ["API_KEY"]);
  expect(shell).toEqual({ HOME: "/h", TMPDIR: "/t", PI_CODING_AGENT_DIR: "/p" });
  const host = hostEnvironment({ ...shell, NODE_OPTIONS: "--inspect" }, { agentDir: "/a", spillDir: "/s", compileCache: "/c", mark: "f0" });
  expect(host).toMatchObject({ HOME: "/h", TMPDIR: "/s", PI_CODING_AGENT_DIR: "/a", PI_OFFLINE: "1", PIMCP_MARK_f0: "host" });
  expect(host).not.toHaveProperty("NODE_OPTIONS");
});

test("[TL16] the host is started again at once, then less and less often", () => {
  expect([1, 2, 3, 7, 8, 50].map(backoffMs)).toEqual([100, 200, 400, 6_400, 10_000, 10_000]);
});

const tool = (name: string) => ({
  name,
  title: "",
  description: "",
  inputSchema: {},
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
});

const confinement = { root: "/w", deny: [], writeClosed: [] };

test("[TL22] says first that a shell is not confined", () => {
  const notes = describeConfinement({ ...confinement, deny: [".ssh"], tools: [tool("read"), tool("bash")] });
  expect(notes[0]).toBe(
    "bash can read, change and send anything this account can: commands are not confined to /w, and the deny list does not apply to them.",
  );
  expect(describeConfinement({ ...confinement, tools: [tool("read"), tool("ls")] })).toEqual([
    "read and ls are confined to /w: links and paths that lead out of it are refused.",
  ]);
});

test("[CF20] [TL22] says that the program itself is closed to writing when the root overlaps it and something writes", () => {
  const closed = { ...confinement, writeClosed: ["/w/relay"] };
  const sentence = "write and edit refuse /w/relay, which belongs to pi-relay itself: start it with --root DIRECTORY to work elsewhere.";
  expect(describeConfinement({ ...closed, tools: [tool("write"), tool("edit")] })).toContain(sentence);
  expect(describeConfinement({ ...closed, tools: [tool("read")] }).join()).not.toContain("pi-relay itself");
  expect(describeConfinement({ ...confinement, tools: [tool("write"), tool("edit")] }).join()).not.toContain("pi-relay itself");
});

test("[TL22] says what becomes of processes that a command leaves, which Windows lets live on", () => {
  const lastOn = (platform: NodeJS.Platform) => describeConfinement({ ...confinement, tools: [tool("bash")] }, platform).at(-1);
  expect(lastOn("linux")).toBe("What a command leaves running ends when pimcp ends, unless it cleared its environment.");
  expect(lastOn("darwin")).toBe(lastOn("linux"));
  expect(lastOn("win32")).toBe("A command that is stopped ends with the processes below it; what a finished command leaves running goes on.");
});
