import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPendingArguments, type PendingCommand } from "../../../local-agent/cli/pending-arguments.ts";
import { runPendingCommand } from "../../../local-agent/cli/pending-command.ts";
import { StartFailure } from "../../../local-agent/daemon/start-failure.ts";
import { newHome, QUIET, startProgram, type Home } from "../../support/agent-program.ts";
import { openWaitingWindow } from "../../support/browser-window.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { AGENT_KEY, startWorker } from "../../support/worker-runtime.ts";

interface Listed {
  readonly pending: readonly {
    readonly id: string;
    readonly shortId: string;
    readonly clientName: string;
    readonly allow: string;
    readonly deny: string;
  }[];
}

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
  readonly stdout: string;
}

async function run(home: Home, args: readonly string[]): Promise<Ended> {
  const program = startProgram(home, args);
  return { code: await program.exit, stderr: program.stderr(), stdout: program.stdout() };
}

/** The command in this process, over the agent's real socket: starting the program each time would be most of the test. */
async function ask(home: Home, [command = "", ...argv]: readonly string[]): Promise<Ended> {
  let stdout = "";
  const order = readPendingArguments(command as PendingCommand, argv);
  if (!order.ok) return { code: 2, stdout, stderr: `${order.error}\n` };
  const show = (text: string): void => void (stdout += text);
  try {
    const around = { stateDir: join(home.dir, "state/pimcp"), show, program: "pimcp", isToolShell: false };
    return { code: await runPendingCommand(order.value, around), stderr: "", stdout };
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return { code: error.exitCode, stdout, stderr: `${error.message}\n` };
  }
}

async function listed(home: Home): Promise<Listed["pending"]> {
  return (JSON.parse((await ask(home, ["pending", "--json"])).stdout) as Listed).pending;
}

/** A relay apart with a public name, as a deployed one has it: its waiting pages show codes. And an agent that dials it. */
async function behindPublicName() {
  const home = newHome();
  const relay = await startWorker({ bindings: { EMBEDDED: "public" } });
  onTestFinished(() => relay.close());
  const keyFile = join(home.dir, "key");
  writeFileSync(keyFile, AGENT_KEY, { mode: 0o600 });
  const args = ["--relay", relay.origin, "--issuer", "https://relay.example", "--key-file", keyFile, "--ui-port", "0", "--no-open"];
  const open = (name: string) => openWaitingWindow(relay.port, "relay.example", name);
  return { home, args, open };
}

const nothingWaits = "Nothing waits: start the connection in the app again.";

/** As another person would read it off another page: never this one. */
const another = (code: string | undefined) => (code === "000 000" ? "000001" : "000000");

test("[ST28] [ST64] [ST65] [ST66] with a code: listed with all facts, allowed by the code alone, or with the ID where several wait; a wrong code ends it", async () => {
  const { home, args, open } = await behindPublicName();
  const { warnings } = await startProgram(home, [...args, "--json"]).ready();
  expect(warnings).toEqual([
    expect.stringContaining("Clients are told https://relay.example, and the relay that is dialled is http://127.0.0.1:") as string,
  ]);
  const nothing = "No app asks for access. When one does it waits for 10 minutes, with its page open.\n";
  expect(await ask(home, ["pending"])).toEqual({ code: 0, stderr: "", stdout: nothing });

  const first = await open("Claude <b>");
  expect(first.code).toMatch(/^\d{3} \d{3}$/);
  expect(await ask(home, ["pending"])).toMatchObject({ stdout: nothing });
  expect(await first.reload()).toBeUndefined();
  const text = (await ask(home, ["pending"])).stdout;
  for (const part of ["client.example", "calls itself “Claude <b>”", "https://client.example/callback", "never allowed before", `in ${home.root}`])
    expect(text).toContain(part);
  expect(text).not.toContain(first.code);
  const [card] = await listed(home);
  expect(card).toMatchObject({
    id: first.id,
    clientName: "Claude <b>",
    allow: `pimcp allow CODE ${card?.shortId}`,
    deny: `pimcp deny ${card?.shortId}`,
  });
  expect(text).toContain(`${card?.allow}   (CODE: the six digits on its waiting page)`);
  expect(text).toContain(`${card?.deny}\n`);

  const code = first.code ?? "";
  const allowed = await run(home, ["allow", ...code.split(" ")]);
  expect(allowed).toMatchObject({ code: 0, stderr: "" });
  expect(allowed.stdout).toBe("Allowed: “Claude <b>” at client.example gets access now. pimcp grants lists it, pimcp revoke ID takes it back.\n");
  expect((await first.reload())?.searchParams.get("code")).toMatch(/./);
  expect(await ask(home, ["allow", code, "--json"])).toEqual({
    code: 1,
    stderr: "",
    stdout: `{"outcome":"gone","id":null,"message":"${nothingWaits}"}\n`,
  });

  const [one, other] = [await open("one"), await open("other")];
  for (const window of [one, other]) await window.reload();
  const elsewhere = await ask(home, ["allow", one.code ?? "", "--workspace", "default"]);
  expect(elsewhere.stderr).toMatch(/pimcp allow CODE ID --workspace default\. .*: pimcp pending --workspace default shows them\.\n$/);
  const unclear = await ask(home, ["allow", one.code ?? ""]);
  expect(unclear).toMatchObject({ code: 2, stdout: "" });
  expect(unclear.stderr).toMatch(
    /^2 apps wait, and which one is meant must be said: pimcp allow CODE ID\. There are \S+, \S+: pimcp pending shows them\.\n$/,
  );
  expect(await one.reload()).toBeUndefined();
  expect(await ask(home, ["allow", one.code ?? "", one.id.replace(/^-+/, ""), "--json"])).toEqual({
    code: 0,
    stderr: "",
    stdout: `{"outcome":"allowed","id":"${one.id}"}\n`,
  });
  const wrong = await ask(home, ["allow", another(other.code)]);
  expect(wrong).toMatchObject({ code: 1, stderr: "" });
  expect(wrong.stdout).toContain("The code did not match, so “other” at client.example gets nothing and its request has ended.");
  expect((await other.reload())?.searchParams.get("error")).toBe("access_denied");
  expect(await ask(home, ["allow", other.code ?? ""])).toMatchObject({ code: 1 });
}, 40_000);

test("[ST65] [ST66] without a code: a loopback issuer's request by its ID, and deny", async () => {
  const home = newHome();
  const said = await startProgram(home, QUIET).ready();
  const { host, port } = new URL(said.mcpUrl);
  const [one, other] = [await openWaitingWindow(Number(port), host, "one"), await openWaitingWindow(Number(port), host, "other")];
  for (const window of [one, other]) await window.reload();
  const cards = await listed(home);
  const shortIdOf = (id: string) => cards.find((card) => card.id === id)?.shortId ?? "";
  expect(cards.find((card) => card.id === one.id)?.allow).toBe(`pimcp allow ${shortIdOf(one.id)}`);
  expect(await ask(home, ["deny", shortIdOf(other.id)])).toEqual({
    code: 0,
    stderr: "",
    stdout: "Denied: “other” at client.example gets nothing.\n",
  });
  expect((await other.reload())?.searchParams.get("error")).toBe("access_denied");
  expect(await ask(home, ["allow", "123456"])).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("has no code") as string });
  expect(await ask(home, ["allow", shortIdOf(one.id), "--json"])).toMatchObject({ code: 0, stdout: `{"outcome":"allowed","id":"${one.id}"}\n` });
  expect((await one.reload())?.searchParams.get("code")).toMatch(/./);
  // Without a dash in front, as the program itself shows it: that would be a flag's.
  expect(await ask(home, ["deny", one.id.replace(/^-+/, "")])).toEqual({ code: 1, stderr: "", stdout: `${nothingWaits}\n` });
}, 40_000);

test("[ST68] a shell that a tool started may look and deny, and not allow", async () => {
  const home = newHome();
  const said = await startProgram(home, QUIET).ready();
  const { host, port } = new URL(said.mcpUrl);
  const window = await openWaitingWindow(Number(port), host, "one");
  await window.reload();
  const program = `'${process.execPath}' '${join(import.meta.dirname, "../../../bin/pimcp.mjs")}'`;
  const bash = async (command: string): Promise<string> => {
    const answer = await fetch(said.mcpUrl, {
      method: "POST",
      headers: { authorization: `Bearer ${home.token()}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "bash", arguments: { command } } }),
    });
    return answer.text();
  };
  const refused = "pimcp allow is the person's alone, and this shell was started by a tool of an agent: run it in a terminal of your own.";
  expect(await bash(`${program} allow ${window.id}; echo "code $?"`)).toMatch(new RegExp(`${refused}.*code 2`));
  const forget = process.platform === "linux" ? 'for name in $(compgen -e | grep ^PIMCP_); do unset "$name"; done;' : "";
  expect(await bash(`${forget} ${program} allow ${window.id}`)).toContain(refused);
  expect(await window.reload()).toBeUndefined();
  expect(await bash(`${program} pending; ${program} deny ${window.id}`)).toMatch(/client\.example.*Denied: “one”/);
  expect((await window.reload())?.searchParams.get("error")).toBe("access_denied");
}, 40_000);

test("[ST66] without OAuth, without an agent and while the relay is away there is one sentence", async () => {
  const home = newHome();
  expect(await run(home, ["pending"])).toMatchObject({
    code: 2,
    stderr: "No agent with a relay is running on this machine: start one with pimcp.\n",
  });
  await startProgram(home, ["--no-oauth", "--port", "0", "--json"]).ready();
  const sentence = "This agent was started with --no-oauth: no app can ask, and each needs a token.\n";
  expect(await ask(home, ["pending"])).toEqual({ code: 1, stdout: "", stderr: sentence });
  expect(await ask(home, ["allow", "123456", "--json"])).toEqual({ code: 1, stdout: "", stderr: sentence });
});

test.skipIf(process.platform !== "linux" || spawnSync("script", ["--version"]).error !== undefined)(
  "[ST67] on a terminal without a page the agent says when an app asks",
  async () => {
    const { home, args, open } = await behindPublicName();
    const command = [process.execPath, join(import.meta.dirname, "../../../bin/pimcp.mjs"), ...args].map((word) => `'${word}'`).join(" ");
    const terminal = spawn("script", ["-qfec", command, "/dev/null"], { cwd: home.root, env: home.env });
    onTestFinished(() => void terminal.kill("SIGKILL"));
    let said = "";
    terminal.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await waitUntil("it says that no page was opened", () => said.includes("No page was opened."), 15_000);
    const window = await open("one");
    await window.reload();
    await waitUntil("it says that an app asks", () => said.includes("An app wants access (client.example): run pimcp pending\r\n"));
    expect(said).not.toContain(window.code);
    terminal.stdin.write("\u0003");
    await waitUntil("it ended", () => terminal.exitCode !== null);
  },
);
