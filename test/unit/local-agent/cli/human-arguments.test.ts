import { expect, test } from "vitest";
import { readCommand } from "../../../../local-agent/cli/arguments.ts";
import type { Settings } from "../../../../local-agent/daemon/settings.ts";

type Env = Readonly<Record<string, string>>;

function run(line: string, env: Env = {}) {
  const argv = line === "" ? [] : line.split(" ");
  return readCommand(argv, { cwd: "/srv/dir", home: "/home/p", env, isRelayDeployed: () => false });
}

function started(line: string, env: Env = {}): { readonly settings: Settings; readonly notices: readonly string[] } {
  const command = run(line, env);
  if (!command.ok || command.value.kind !== "run") throw new Error(`expected settings, got ${JSON.stringify(command)}`);
  return command.value;
}

function refusal(line: string, env: Env = {}): string {
  const command = run(line, env);
  if (command.ok) throw new Error(`expected a refusal, got ${JSON.stringify(command.value)}`);
  return command.error;
}

const TOKEN = "0123456789abcdef";

test.for<[string, Env]>([
  ["--human", {}],
  ["", { PI_AS_MCP_HUMAN: "1" }],
  ["--human --stdio", {}],
  ["--human --http", {}],
  ["--human --no-oauth", {}],
  ["--human --relay https://r.example", {}],
])("[ST80] '%s' with %o lets clients talk with the person, and nothing needs approval yet", ([line, env]) => {
  const { settings, notices } = started(line, env);
  expect(settings).toMatchObject({ human: true, approve: [], blockMs: null, auditFull: false, uiToken: null });
  expect(notices).toEqual([]);
});

test.for<[string, Env, readonly string[]]>([
  ["--human --approve bash", {}, ["bash"]],
  ["--human --approve bash,write,bash", {}, ["bash", "write"]],
  ["--human", { PI_AS_MCP_APPROVE: "bash, powershell" }, ["bash", "powershell"]],
  ["--human --tools read,bash --approve bash", {}, ["bash"]],
  ["--stdio --human --approve bash", {}, ["bash"]],
  ["--human --tools read --approve mcp,mcpScript", {}, ["mcp", "mcpScript"]],
  ["--approve read", { PI_AS_MCP_HUMAN: "yes", PI_AS_MCP_APPROVE: "bash" }, ["read"]],
])("[ST81] '%s' with %o names what waits for a click", ([line, env, approve]) => {
  expect(started(line, env).settings.approve).toEqual(approve);
});

test.for<[string, Env, string]>([
  ["--approve bash", {}, "--approve"],
  ["--stdio --approve bash", {}, "--approve"],
  ["--http --approve bash", {}, "--approve"],
  ["", { PI_AS_MCP_APPROVE: "bash" }, "PI_AS_MCP_APPROVE"],
  ["--stdio", { PI_AS_MCP_APPROVE: "bash" }, "PI_AS_MCP_APPROVE"],
  ["--approve bash", { PI_AS_MCP_HUMAN: "0" }, "--approve"],
])("[ST81] approval without the person refuses the start: '%s' with %o", ([line, env, as]) => {
  expect(refusal(line, env)).toBe(`${as} needs --human: calls wait for your click on the page, and without it there is nobody to ask.`);
});

test.for<[string, RegExp]>([
  [
    "--approve bsh",
    /^Unknown tool "bsh" in --approve\. Did you mean bash\? Calls that can wait for your click are those of: read, write, .*powershell, mcp, mcpScript\.$/,
  ],
  ["--approve human_ask", /^Unknown tool "human_ask" in --approve\./],
  ["--tools read,ls --approve bash", /^bash in --approve is not offered by --tools\. .*: read, ls, mcp, mcpScript\.$/],
  ["--approve ,", /^--approve must name at least one tool of: read, /],
])("[ST81] '--human %s' refuses the start and lists what there is", ([line, sentence]) => {
  expect(refusal(`--human ${line}`)).toMatch(sentence);
});

test.for<[string, number]>([
  ["1000", 1000],
  ["45000", 45_000],
  ["90000", 90_000],
])("[ST82] --block-ms %s is taken without a word", ([text, ms]) => {
  expect(started(`--human --block-ms ${text}`)).toMatchObject({ settings: { blockMs: ms }, notices: [] });
});

test("[ST82] a wait that proxies cut is taken and remarked on", () => {
  const { settings, notices } = started("--human", { PI_AS_MCP_BLOCK_MS: "600000" });
  expect(settings.blockMs).toBe(600_000);
  expect(notices).toEqual([expect.stringMatching(/^PI_AS_MCP_BLOCK_MS 600000 is longer than many proxies and clients wait: .* about 100 s /)]);
});

test.for(["999", "600001", "0", "-1", "1e4", "45s", "45000.5"])("[ST82] --block-ms %s refuses the start", (text) => {
  expect(refusal(`--human --block-ms=${text}`)).toBe(
    `--block-ms must be a whole number of milliseconds from 1000 to 600000 (ten minutes), got ${JSON.stringify(text)}: 45000 is 45 seconds.`,
  );
});

test.for<[string, Env, Partial<Settings>]>([
  ["--ui-host localhost", {}, { ui: { host: "127.0.0.1", port: 8790 }, uiToken: null }],
  ["--ui-host [::1]", {}, { ui: { host: "::1", port: 8790 }, uiToken: null }],
  ["--ui-host 127.0.0.2", {}, { ui: { host: "127.0.0.2", port: 8790 }, uiToken: null }],
  [`--ui-host 0.0.0.0 --ui-token ${TOKEN}`, {}, { ui: { host: "0.0.0.0", port: 8790 }, uiToken: TOKEN }],
  ["--human --stdio --ui-host 192.168.1.4", { PI_AS_MCP_UI_TOKEN: TOKEN }, { ui: { host: "192.168.1.4", port: 8790 }, uiToken: TOKEN }],
  [`--ui-token ${TOKEN}#%&'\\`, {}, { uiToken: `${TOKEN}#%&'\\` }],
])("[ST83] '%s' with %o says where the page is and what its secret is", ([line, env, part]) => {
  expect(started(line, env).settings).toMatchObject(part);
});

test.for<[string, Env]>([
  ["--ui-host 0.0.0.0", {}],
  ["--ui-host ::", {}],
  ["--ui-host 192.168.1.4", {}],
  ["", { PI_AS_MCP_UI_HOST: "0.0.0.0" }],
  ["--human --http --ui-host 0.0.0.0", { PI_AS_MCP_UI_TOKEN: "" }],
])("[ST83] a page that others can reach needs a secret of the person's: '%s' with %o", ([line, env]) => {
  expect(refusal(line, env)).toMatch(
    /^(--ui-host|PI_AS_MCP_UI_HOST) \S+ can be reached from other machines, and whoever opens the page can hand out this workstation: set PI_AS_MCP_UI_TOKEN to a secret \(openssl rand -hex 16 makes one\), or use --ui-host 127\.0\.0\.1\.$/,
  );
});

test.for(["workstation.lan", "evil.example", "127.0.0.1:80", "fe80::1%eth0", "*"])("[ST83] the page is not served under the name %s", (host) => {
  expect(refusal(`--ui-host ${host} --ui-token ${TOKEN}`)).toMatch(
    /^--ui-host must be an IP address of this machine, such as 127\.0\.0\.1 or 0\.0\.0\.0 for all, got /,
  );
});

test.for(["fifteen-letters", `${TOKEN} x`, `${TOKEN}é`, `${TOKEN}<`, "x".repeat(513)])(
  "[ST83] the secret %s is refused without being shown",
  (token) => {
    const said = refusal("", { PI_AS_MCP_UI_TOKEN: token });
    expect(said).toMatch(/^PI_AS_MCP_UI_TOKEN must be 16 to 512 visible ASCII characters .*: openssl rand -hex 16 makes a good one\.$/);
    expect(said).not.toContain(token);
  },
);

test.for<[string, string]>([
  ["--human --http --port 8790", "--port and --ui-port are both 8790: /mcp and page need a port each."],
  [`--human --no-oauth --ui-host 0.0.0.0 --ui-token ${TOKEN} --ui-port 8777`, "--port and --ui-port are both 8777: relay and page need a port each."],
])("[ST84] with the person there is a page, which needs a port of its own: '%s'", ([line, sentence]) => {
  expect(refusal(line)).toBe(sentence);
});

test.for(["--http --port 8790", "--human --stdio --ui-port 8777", "--human --relay https://r.example --ui-port 8777"])(
  "[ST84] '%s' has no such clash",
  (line) => {
    expect(run(line).ok).toBe(true);
  },
);
