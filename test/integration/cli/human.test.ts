import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readPageAddress } from "../../../local-agent/daemon/page-file.ts";
import { newHome, QUIET, startProgram, type Program } from "../../support/agent-program.ts";
import { pageClient } from "../../support/page-client.ts";
import { SDK_CLIENTS } from "../../support/sdk-clients.ts";
import { waitUntil } from "../../support/wait-until.ts";

const WAYS = [
  ["the embedded relay", QUIET],
  ["the embedded relay without OAuth", [...QUIET, "--no-oauth"]],
  ["--http", ["--http", ...QUIET]],
] as const;

test.for(WAYS)(
  "[ST80] [ST84] behind %s a client asks, the person answers on the page, and the words are still there after a restart",
  async ([, flags]) => {
    const home = newHome();
    const start = [...flags, "--human", "--approve", "bash"];
    const program = startProgram(home, start);
    const said = await program.ready();
    expect(said).toMatchObject({ human: true, approve: ["bash"], waitMs: 45_000 });
    const page = pageClient(said.pageFile);
    const client = await SDK_CLIENTS["SDK v2, modern"]({ url: said.mcpUrl, token: home.token() });
    expect(await client.listTools()).toEqual(expect.arrayContaining(["human_say", "human_ask", "human_wait", "bash"]));

    const asked = client.call("human_ask", { text: "Which colour?", options: ["red", "blue"] });
    expect(await page.answer("Which colour?", "blue")).toEqual({ outcome: "kept" });
    expect(await asked).toMatchObject({ content: [{ type: "text", text: "blue" }], structuredContent: { status: "messages", count: 1, left: 0 } });

    const ran = client.call("bash", { command: "echo from the shell" });
    const { approvals, info } = await page.snapshotWhen("the card is shown", (state) => state.approvals.length === 1);
    expect(approvals[0]).toMatchObject({ tool: "bash", text: "echo from the shell" });
    expect(info).toMatchObject({ human: true, approve: ["bash"], uiToken: false });
    expect(await page.post("/api/approve", { id: approvals[0]?.id, decision: "once" })).toEqual({ outcome: "allowed" });
    expect(JSON.stringify(await ran)).toContain("from the shell");

    expect(await page.post("/api/say", { id: randomUUID(), text: "for later", images: [], to: null })).toEqual({ outcome: "kept" });
    await client.close();
    program.process.kill("SIGTERM");
    expect(await program.exit).toBe(0);

    const again = startProgram(home, start);
    const { mcpUrl, pageFile } = await again.ready();
    const { conversation } = await pageClient(pageFile).snapshotWhen("it is loaded", (state) => state.conversation?.isLoaded === true);
    const words = (conversation?.entries ?? []).map((entry) => [entry.kind, entry.text, "state" in entry ? entry.state : null]);
    expect(words).toEqual([
      ["asked", "Which colour?", "answered"],
      ["typed", "blue", "read"],
      ["typed", "for later", "queued"],
    ]);
    const later = await SDK_CLIENTS["SDK v1"]({ url: mcpUrl, token: home.token() });
    expect(await later.call("human_wait", {})).toMatchObject({ content: [{ type: "text", text: "for later" }] });
    await later.close();
  },
);

/** A client that started the agent, and speaks with it in lines. */
function lines({ process: child, stdout }: Program) {
  const answers = (): { readonly id?: number; readonly result?: unknown }[] =>
    stdout()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { readonly id?: number });
  const send = (message: object): void => void child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    notify: (method: string) => send({ method }),
    async ask(id: number, method: string, params: object): Promise<unknown> {
      send({ id, method, params });
      await waitUntil(`${method} is answered`, () => answers().some((answer) => answer.id === id), 20_000);
      return answers().find((answer) => answer.id === id)?.result;
    },
  };
}

test("[ST85] --stdio --human says on stderr where the page is, and carries the answer from there to the client", async () => {
  const home = newHome();
  const program = startProgram(home, ["--stdio", "--human", "--ui-port", "0"]);
  await waitUntil("the page is there", () => program.stderr().includes("run pimcp open."), 20_000);
  const file = /^You talk with the client on the page: open (\S+) in a browser, or run pimcp open\.\n$/.exec(program.stderr())?.[1];
  const client = lines(program);
  await client.ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } });
  client.notify("notifications/initialized");
  const asked = client.ask(2, "tools/call", { name: "human_ask", arguments: { text: "Go on?" } });
  await pageClient(file ?? null).answer("Go on?", "yes, go on");
  expect(await asked).toMatchObject({ content: [{ type: "text", text: "yes, go on" }] });
  program.process.stdin?.end();
  expect(await program.exit).toBe(0);
  expect(program.stdout()).not.toContain("You talk with");
});

test("[PG106] a page that others can reach is a warning, and its secret is the person's", async () => {
  const home = newHome();
  const secret = "a-secret-of-the-person";
  const flags = [...QUIET, "--no-oauth", "--human", "--ui-host", "0.0.0.0"];
  const program = startProgram(home, flags, { PI_AS_MCP_UI_TOKEN: secret });
  const said = await program.ready();
  expect(said.warnings.join()).toMatch(
    /Other machines can reach the page \(every address of this machine, port 0\): whoever has its token can hand out this workstation/,
  );
  expect(program.stdout()).not.toContain(secret);
  const { info } = await pageClient(said.pageFile).snapshotWhen("the page opens", () => true);
  expect(info).toMatchObject({ uiToken: true, warnings: said.warnings });
  expect(JSON.stringify(info)).not.toContain(secret);
});

test("[ST84] [ER7] the agent whose page has the port is named, also where it has no relay", async () => {
  const home = newHome();
  const { pageFile, pid } = await startProgram(home, ["--http", ...QUIET, "--human"]).ready();
  const { port } = new URL(readPageAddress(pageFile ?? "") ?? "");
  const second = startProgram(home, ["--stdio", "--human", "--ui-port", port]);
  expect(await second.exit).toBe(2);
  expect(second.stderr()).toBe(
    `Port ${port} is used by the agent that runs already (process ${pid}, root ${home.root}): choose another with --ui-port, or end that one with kill ${pid}.\n`,
  );
});

test("[HU42] the times that a client is told are those of the workstation's zone", async () => {
  const home = newHome();
  const program = startProgram(home, ["--http", ...QUIET, "--human"], { TZ: "Pacific/Chatham" });
  const { mcpUrl, pageFile } = await program.ready();
  const page = pageClient(pageFile);
  for (const text of ["one", "two"]) await page.post("/api/say", { id: randomUUID(), text, images: [], to: null });
  const { conversation } = await page.snapshotWhen("both are kept", (state) => state.conversation?.entries.length === 2);
  const client = await SDK_CLIENTS["SDK v2, modern"]({ url: mcpUrl, token: home.token() });
  // 12:45 or 13:45 ahead of UTC: no machine of ours is there.
  const zone = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "Pacific/Chatham" });
  const lines = conversation?.entries.map(({ at, text }, index) => `[${index + 1}/2 · ${zone.format(at)}] ${text}`).join("\n");
  expect(await client.call("human_wait", {})).toMatchObject({ content: [{ type: "text", text: lines }] });
  await client.close();
});
