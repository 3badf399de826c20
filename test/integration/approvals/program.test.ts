/** The whole program: a client calls through the embedded relay, the person's page decides, and the audit log has it. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ApprovalCard } from "../../../shared/approval.ts";
import { newHome, QUIET, startProgram, type Announcement, type Home, type Program } from "../../support/agent-program.ts";
import { legacyRequest, modernRequest, reply, toolCall, type RpcAnswer } from "../../support/surface-under-test.ts";
import { waitUntil } from "../../support/wait-until.ts";

interface Guarded {
  readonly home: Home;
  readonly program: Program;
  readonly call: (command: string, how?: { readonly era?: "legacy" | "modern"; readonly signal?: AbortSignal }) => Promise<RpcAnswer>;
  readonly cards: () => readonly ApprovalCard[];
  /** Waits for the card of this command. */
  readonly card: (command: string) => Promise<string>;
  readonly decide: (id: string, decision: string, reason?: string) => Promise<{ readonly status: number; readonly body: Record<string, string> }>;
  readonly whole: (id: string) => Promise<Response>;
}

const ARGS = [...QUIET, "--human", "--approve", "bash"];

async function start(home = newHome(), more: readonly string[] = []): Promise<Guarded> {
  const program = startProgram(home, [...ARGS, ...more]);
  const said = await program.ready();
  const page = new URL(/href="([^"]+)"/.exec(readFileSync(said.pageFile ?? "", "utf8"))?.[1] ?? "");
  const headers = { authorization: `Bearer ${page.hash.slice(1)}` };
  const cards = await watchCards(`${page.origin}/api/events`, headers);
  return {
    home,
    program,
    cards,
    call: (command, how = {}) => call(home, said, command, how),
    async card(command) {
      await waitUntil(`there is a card for ${command}`, () => cards().some(({ text }) => text === command));
      return cards().find(({ text }) => text === command)?.id ?? "";
    },
    async decide(id, decision, reason) {
      const response = await fetch(`${page.origin}/api/approve`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ id, decision, reason }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    },
    whole: (id) => fetch(`${page.origin}/api/approvals/${id}`, { headers }),
  };
}

/** What an open page shows. */
async function watchCards(url: string, headers: Record<string, string>): Promise<() => readonly ApprovalCard[]> {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const stream = await fetch(url, { headers, signal: ended.signal });
  let cards: readonly ApprovalCard[] = [];
  let rest = "";
  void (async () => {
    for await (const piece of stream.body ?? []) {
      const lines = (rest + new TextDecoder().decode(piece)).split("\n");
      rest = lines.pop() ?? "";
      for (const event of lines.filter((line) => line !== "").map((line) => JSON.parse(line))) {
        if (event.t === "snapshot") cards = event.snapshot.approvals;
        if (event.t === "approvals") cards = event.approvals;
      }
    }
  })().catch(() => undefined);
  return () => cards;
}

let ids = 0;

async function call(
  home: Home,
  said: Announcement,
  command: string,
  { era = "legacy", signal }: { readonly era?: "legacy" | "modern"; readonly signal?: AbortSignal },
): Promise<RpcAnswer> {
  ids += 1;
  const request = (era === "legacy" ? legacyRequest : modernRequest)(toolCall(ids, "bash", { command }));
  const headers = { ...Object.fromEntries(request.headers), authorization: `Bearer ${home.token()}` };
  return reply(await fetch(said.mcpUrl, { method: "POST", headers, body: await request.text(), ...(signal !== undefined && { signal }) }));
}

const auditOf = (home: Home): string => readFileSync(join(home.dir, "state/pimcp/audit.jsonl"), "utf8");

test("[HU80] [HU83] [HU84] [HU91] [HU94] a command runs when the page allows it and not when it denies it, and the log has both (C09, C14)", async () => {
  const agent = await start();
  const allowed = agent.call("echo secret-word > ran.txt");
  const denied = agent.call("echo other-word > denied.txt");
  const id = await agent.card("echo secret-word > ran.txt");
  expect(await (await agent.whole(id)).json()).toEqual({ text: "echo secret-word > ran.txt", beside: "" });
  expect(await agent.decide(await agent.card("echo other-word > denied.txt"), "deny", "not now")).toEqual({
    status: 200,
    body: { outcome: "denied" },
  });
  expect((await agent.decide(id, "perhaps")).status).toBe(400);
  const clicks = await Promise.all([agent.decide(id, "once"), agent.decide(id, "once")]);
  expect(clicks.map(({ body }) => body["outcome"] ?? "").toSorted()).toEqual(["allowed", "gone"]);
  expect((await allowed).result).toMatchObject({ isError: false });
  expect((await denied).result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("not now") }] });
  expect([existsSync(join(agent.home.root, "ran.txt")), existsSync(join(agent.home.root, "denied.txt"))]).toEqual([true, false]);
  expect((await agent.whole(id)).status).toBe(404);

  agent.program.process.kill("SIGTERM");
  expect(await agent.program.exit).toBe(0);
  expect(statSync(join(agent.home.dir, "state/pimcp/audit.jsonl")).mode & 0o777).toBe(0o600);
  expect(auditOf(agent.home)).not.toMatch(/secret-word|other-word|not now/);
  const shown = startProgram(agent.home, ["audit", "--json"]);
  expect(await shown.exit).toBe(0);
  const { entries } = JSON.parse(shown.stdout()) as { readonly entries: readonly { readonly event: string; readonly guarded?: readonly string[] }[] };
  const events = entries.map(({ event }) => event);
  expect(entries[0]).toMatchObject({ event: "agent.started", guarded: ["bash"] });
  expect(events.toSorted()).toEqual(
    ["agent.started", "agent.stopped", "approval.allowed_once", "approval.asked", "approval.asked", "approval.denied"].toSorted(),
  );
  expect(events.at(-1)).toBe("agent.stopped");
}, 60_000);

test("[HU85] a client that is gone, in either era, takes its card with it: a later click runs nothing (C10)", async () => {
  const agent = await start();
  for (const era of ["legacy", "modern"] as const) {
    const leave = new AbortController();
    const lost = agent.call(`touch ${era}.txt`, { era, signal: leave.signal }).catch(() => "left");
    await agent.card(`touch ${era}.txt`);
    leave.abort();
    expect(await lost).toBe("left");
  }
  const before = agent.cards().map(({ id }) => id);
  await waitUntil("both cards are gone", () => agent.cards().length === 0, 40_000);
  for (const id of before) expect((await agent.decide(id, "once")).body).toEqual({ outcome: "gone" });
  expect([existsSync(join(agent.home.root, "legacy.txt")), existsSync(join(agent.home.root, "modern.txt"))]).toEqual([false, false]);
}, 90_000);

test("[HU88] a decision that cannot be written down runs nothing, and the page says why", async () => {
  const agent = await start();
  const asked = agent.call("touch ran.txt");
  const id = await agent.card("touch ran.txt");
  const log = join(agent.home.dir, "state/pimcp/audit.jsonl");
  await waitUntil("the log has what was asked", () => auditOf(agent.home).includes("approval.asked"));
  rmSync(log);
  mkdirSync(log);
  const { status, body } = await agent.decide(id, "once");
  expect(status).toBe(503);
  expect(body["error"]).toContain("could not be recorded");
  expect((await asked).result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("Nothing was run") }] });
  expect(existsSync(join(agent.home.root, "ran.txt"))).toBe(false);
}, 60_000);

test("[HU85] what waits when the agent is killed is not run by its successor, which shows no card of it (C12)", async () => {
  const agent = await start();
  const asked = agent.call("touch ran.txt").catch((error: unknown) => ({ error }));
  const id = await agent.card("touch ran.txt");
  agent.program.process.kill("SIGKILL");
  await agent.program.exit;
  expect(await asked).toHaveProperty("error");
  const next = await start(agent.home);
  expect(next.cards()).toEqual([]);
  expect((await next.decide(id, "once")).body).toEqual({ outcome: "gone" });
  expect(existsSync(join(agent.home.root, "ran.txt"))).toBe(false);
}, 60_000);

test("[HU80] the gate is the same without a relay", async () => {
  const agent = await start(newHome(), ["--http"]);
  const allowed = agent.call("touch ran.txt");
  const denied = agent.call("touch denied.txt");
  expect((await agent.decide(await agent.card("touch denied.txt"), "deny")).body).toEqual({ outcome: "denied" });
  expect((await agent.decide(await agent.card("touch ran.txt"), "once")).body).toEqual({ outcome: "allowed" });
  expect((await allowed).result).toMatchObject({ isError: false });
  expect((await denied).result).toMatchObject({ isError: true });
  expect([existsSync(join(agent.home.root, "ran.txt")), existsSync(join(agent.home.root, "denied.txt"))]).toEqual([true, false]);
}, 60_000);
