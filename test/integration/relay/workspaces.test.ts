import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { depositsFor, TOKEN } from "../../support/deposits.ts";
import { staticToken } from "../../support/static-token.ts";
import { call, post } from "../../support/mcp-post.ts";
import { RawAgent } from "../../support/raw-agent.ts";
import { rawRequest } from "../../support/raw-http.ts";
import { startWorker, type WorkerRuntime } from "../../support/worker-runtime.ts";

let worker: WorkerRuntime;
let stateDir: string;
beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "pi-relay-state-"));
  worker = await startWorker({ stateDir });
});
afterAll(async () => {
  await worker.close();
  await rm(stateDir, { recursive: true, force: true });
});

/** Databases of workspaces, by the size of what was ever written; an empty one is only a file's head. */
function stored(dir: string): Record<string, number> {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".sqlite-wal") && !name.includes("metadata"));
  return Object.fromEntries(names.map((name) => [name, statSync(join(dir, name)).size]));
}

/** An agent that has said hello in a workspace and answers every request with its name. */
async function agentOf(workspace: string | null, token: string): Promise<RawAgent> {
  const agent = await RawAgent.dial(`${worker.origin}${workspace === null ? "" : `/w/${workspace}`}`);
  onTestFinished(async () => {
    agent.send({ t: "bye", why: "leaving", message: "", comeBack: false });
    await agent.closed();
  });
  agent.hello({ deposits: depositsFor([worker.origin], { staticTokens: [staticToken(workspace ?? "default", token)] }) });
  await agent.next("welcome");
  return agent;
}

test("[ED21] strangers are told the same in every workspace that no agent came to, and store nothing", async () => {
  const paths = ["/mcp", "/register", "/token", "/authorize"];
  const answerOf = async (path: string) => {
    const answer = await fetch(worker.origin + path, { method: "POST" });
    return { status: answer.status, retry: answer.headers.get("retry-after"), body: await answer.text() };
  };
  for (const path of paths) {
    const expected = await answerOf(path);
    expect(expected).toMatchObject({ status: 503, retry: "30" });
    for (const name of ["a", "somebody-s", "x".repeat(32)]) expect(await answerOf(`/w/${name}${path}`)).toEqual(expected);
  }
  for (let n = 0; n < 50; n++) expect((await answerOf(`/w/guess-${n}/mcp`)).status).toBe(503);
  expect((await answerOf("/.well-known/oauth-protected-resource/w/a/mcp")).status).toBe(503);
  expect(Object.values(stored(stateDir)).filter((size) => size > 0)).toEqual([]);
});

test("[ED21] a relay with one workspace makes not even a file for another", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pi-relay-state-"));
  const embedded = await startWorker({ stateDir: dir, bindings: { ONLY_WORKSPACE: "mine" } });
  onTestFinished(async () => {
    await embedded.close();
    await rm(dir, { recursive: true, force: true });
  });
  const agent = await RawAgent.dial(`${embedded.origin}/w/mine`);
  agent.hello({ deposits: depositsFor([embedded.origin]) });
  await agent.next("welcome");
  const before = Object.keys(stored(dir)).length;
  for (const path of ["/mcp", "/w/other/mcp", "/w/other/authorize", "/.well-known/oauth-protected-resource/w/other/mcp"]) {
    expect((await fetch(embedded.origin + path, { method: "POST" })).status).toBe(503);
  }
  await expect(RawAgent.dial(embedded.origin)).rejects.toThrow("503");
  expect((await post(`${embedded.origin}/w/mine/mcp`, call(1), { token: null })).status).toBe(401);
  expect(await (await fetch(embedded.origin)).text()).toContain("The workstation is connected.");
  expect(Object.keys(stored(dir))).toHaveLength(before);
  agent.vanish();
});

test("[WP23] [ED22] the agent key opens every workspace, and nothing else does", async () => {
  await expect(RawAgent.dial(`${worker.origin}/w/a`, "wrong-key")).rejects.toThrow("401");
  await expect(RawAgent.dial(`${worker.origin}/w/A`)).rejects.toThrow("404");
  await expect(RawAgent.dial(`${worker.origin}/w/default`)).rejects.toThrow("404");
  const [one, other] = [await agentOf("a", TOKEN), await agentOf("b", TOKEN)];
  expect([one.closeCode, other.closeCode]).toEqual([undefined, undefined]);
});

test("[ED22] a workspace's requests come to its agent, under the path every agent knows; the others' answer for themselves", async () => {
  const agent = await agentOf("c", "token-of-c-0123456789abcdef");
  await agentOf("d", "token-of-d-0123456789abcdef");
  const asked = new AbortController();
  onTestFinished(() => asked.abort());
  void post(`${worker.origin}/w/c/mcp?x=1`, call(7), {
    token: "token-of-c-0123456789abcdef",
    signal: asked.signal,
    headers: { "x-workspace": "d", "x-original-url": "/w/d/mcp", "x-forwarded-prefix": "/w/d" },
  }).catch(() => undefined);
  expect(await agent.next("request")).toMatchObject({ path: "/mcp?x=1", principal: { name: "c token" } });
  for (const [workspace, token] of [
    ["/w/d", "token-of-c-0123456789abcdef"],
    ["/w/c", "token-of-d-0123456789abcdef"],
    ["/w/c", TOKEN],
  ] as const) {
    const answer = await post(`${worker.origin}${workspace}/mcp`, call(1), { token });
    expect(answer.status).toBe(401);
    const metadata = `resource_metadata="${worker.origin}/.well-known/oauth-protected-resource${workspace}/mcp"`;
    expect(answer.headers.get("www-authenticate")).toContain(metadata);
  }
});

test("[ED2] [ED5] [ED22] address and origin are checked as in the default workspace", async () => {
  await agentOf("e", TOKEN);
  const answer = await rawRequest({ port: worker.port, method: "POST", path: "/w/e/mcp", headers: { host: "evil.example" }, body: "{}" });
  expect([answer.status, (JSON.parse(answer.body) as { message: string }).message]).toEqual([
    421,
    `This relay is reached at ${worker.origin}/w/e/mcp, not at evil.example.`,
  ]);
  expect((await post(`${worker.origin}/w/e/mcp`, call(1), { headers: { origin: "https://evil.example" } })).status).toBe(403);
  expect((await post(`${worker.origin}/w/e/mcp`, call(1), { headers: { origin: worker.origin }, token: null })).status).toBe(401);
});

test("[ED22] [OF1] a workspace whose agent left answers for it, and the public page speaks of the default one alone", async () => {
  const agent = await agentOf("f", TOKEN);
  expect(await (await fetch(worker.origin)).text()).toContain("The workstation is not connected right now.");
  agent.send({ t: "bye", why: "leaving", message: "", comeBack: false });
  await agent.closed();
  const answer = await post(`${worker.origin}/w/f/mcp`, call(3));
  expect(await answer.json()).toMatchObject({ id: 3, result: { isError: true } });
  expect((await post(`${worker.origin}/mcp`, call(3))).status).toBe(503);
  const other = await agentOf(null, TOKEN);
  expect(await (await fetch(worker.origin)).text()).toContain("The workstation is connected.");
  expect(other.closeCode).toBeUndefined();
});
