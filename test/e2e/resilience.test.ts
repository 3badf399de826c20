/** What dies, freezes or loses its network, and what the client and the next start then find. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ask, bash, callTool, said, send } from "../support/agent-requests.ts";
import { freePort } from "../support/free-port.ts";
import { commandLine, newHome, startPimcp, type Home } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { refresh, signIn } from "../support/sign-in.ts";
import { reply, toolCall } from "../support/surface-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

/** Runs long, leaves a child that left its session, and says when both are there. */
const LINGERING = "setsid sleep 301 & echo began >> ran; sleep 302";

async function begun(home: Home, file = "ran"): Promise<void> {
  await waitUntil("the command runs", () => existsSync(join(home.root, file)), 15_000);
}

/** What `LINGERING` left. */
const sleepers = (home: Home): number[] => home.processes().filter((pid) => commandLine(pid).startsWith("sleep 30"));

const lines = (home: Home, file = "ran"): string[] => readFileSync(join(home.root, file), "utf8").trim().split("\n");

describe("the agent", () => {
  test("[EE2] [ST15] [TL14] killed in the middle of a command: nothing is left, and a new start has the same URL, token and grants", async () => {
    await using home = newHome();
    const args = ["--port", String(await freePort()), "--ui-port", String(await freePort())];
    const first = await startPimcp({ home, args });
    const grant = await signIn(first.origin, first.pageUrl());
    void bash(first, LINGERING).catch(() => undefined);
    await begun(home);
    await first.kill9();
    await home.expectNothingLeft(5000);
    await using second = await startPimcp({ home, args });
    expect([second.url, second.token]).toEqual([first.url, first.token]);
    expect(said(await bash({ url: second.url, token: grant.accessToken }, "echo granted"))).toBe("granted\n");
    const renewed = await refresh(second.origin, grant);
    expect(said(await bash({ url: second.url, token: renewed.accessToken }, "echo renewed"))).toBe("renewed\n");
  });

  test("[EE2] [TL14] killed together with its tool host: the next start ends what a command left", async () => {
    await using home = newHome();
    const first = await startPimcp({ home });
    void bash(first, LINGERING).catch(() => undefined);
    await begun(home);
    const host = first.child("tool-host-child");
    process.kill(first.pid, "SIGSTOP");
    process.kill(host, "SIGKILL");
    await first.kill9();
    await using second = await startPimcp({ home });
    expect(sleepers(home)).toEqual([]);
    expect(said(await bash(second, "echo again"))).toBe("again\n");
  });

  test("[EE3] [ST22] Ctrl-C in the middle of a command ends everything", async () => {
    await using home = newHome();
    const agent = await startPimcp({ home });
    const answer = bash(agent, LINGERING).then(said, (error: unknown) => String(error));
    await begun(home);
    expect(await agent.stop()).toBe(0);
    expect(agent.run.stderr()).toBe("");
    expect(await answer).toContain("may have run");
  });

  test("[EE4] frozen for a while and thawed: link, page and the running call go on", async () => {
    await using home = newHome();
    await using agent = await startPimcp({ home });
    const answer = bash(agent, "echo began >> ran; sleep 2; echo finished");
    await begun(home);
    process.kill(agent.pid, "SIGSTOP");
    await sleep(4000);
    process.kill(agent.pid, "SIGCONT");
    expect(said(await answer)).toBe("finished\n");
    expect(said(await bash(agent, "echo next"))).toBe("next\n");
    expect((await fetch(agent.pageUrl())).status).toBe(200);
    expect(lines(home)).toEqual(["began"]);
  });

  test("[EE5] [MC2] a client of before the restart, old session id included, is served by the new start", async () => {
    await using home = newHome();
    const args = ["--port", String(await freePort())];
    const first = await startPimcp({ home, args });
    await using client = await SDK_CLIENTS["SDK v2, legacy"](first);
    expect((await client.call("bash", { command: "echo one" })).content).toEqual([{ type: "text", text: "one\n" }]);
    await first.stop();
    await using second = await startPimcp({ home, args });
    expect((await client.call("bash", { command: "echo two" })).content).toEqual([{ type: "text", text: "two\n" }]);
    expect(said(await bash(second, "echo three", { headers: { "mcp-session-id": "of-an-earlier-life" } }))).toBe("three\n");
  });
});

describe("the tool host", () => {
  test("[TL16] killed in the middle of a call: its caller is told at once, the next call works", async () => {
    await using home = newHome();
    await using agent = await startPimcp({ home });
    const answer = bash(agent, LINGERING);
    await begun(home);
    process.kill(agent.child("tool-host-child"), "SIGKILL");
    const result = await answer;
    expect(result.isError).toBe(true);
    expect(said(result)).toMatch(/bash.*may have/is);
    expect(said(await bash(agent, "echo next"))).toBe("next\n");
    expect(sleepers(home)).toEqual([]);
  });
});

describe("the embedded relay", () => {
  test.for(["embedded-relay-child", "workerd"])(
    "[EE6] [ER6] its %s killed: same URL, token and grants, without a restart of the agent",
    async (part) => {
      await using agent = await startPimcp();
      const grant = await signIn(agent.origin, agent.pageUrl());
      const [child, workerd] = [agent.child("embedded-relay-child"), agent.child("bin/workerd")];
      process.kill(part === "workerd" ? workerd : child, "SIGKILL");
      await waitUntil("both are gone", () => commandLine(child) === "" && commandLine(workerd) === "");
      let answer = "";
      await waitUntil("the relay is back", async () => (answer = await bash(agent, "echo back").then(said, () => "")) === "back\n", 20_000);
      expect(answer).toBe("back\n");
      const renewed = await refresh(agent.origin, grant);
      expect(said(await bash({ url: agent.url, token: renewed.accessToken }, "echo granted"))).toBe("granted\n");
    },
  );
});

describe("the network between agent and relay", () => {
  test("[EE7] [WP10] [WP13] cut in the middle of a command: the result arrives on the same HTTP answer, and the command ran once", async () => {
    await using relay = await startRelayApart();
    await using home = newHome();
    await using agent = await relay.dial(home);
    const response = await send(agent, toolCall(1, "bash", { command: "echo began >> ran; sleep 2; echo finished" }));
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    await begun(home);
    relay.proxy.cut();
    expect((await reply(response)).result).toMatchObject({ content: [{ text: "finished\n" }] });
    expect(lines(home)).toEqual(["began"]);
  });

  test("[EE7] gone for a while: the agent comes back by itself, at the same URL", async () => {
    await using relay = await startRelayApart();
    await using agent = await relay.dial(newHome());
    relay.proxy.refuse(true);
    relay.proxy.cut();
    await sleep(3000);
    relay.proxy.refuse(false);
    expect(said(await bash(agent, "echo back"))).toBe("back\n");
    await agent.stop();
    await agent.home.remove();
  });

  test("[EE7] [WP12] the relay restarted in the middle of a command: the command ends with its connection, the next call works", async () => {
    await using relay = await startRelayApart();
    await using home = newHome();
    await using agent = await relay.dial(home);
    const answer = bash(agent, LINGERING).then(said, (error: unknown) => String(error));
    await begun(home);
    await relay.worker.redeploy();
    expect(await answer).toContain("terminated");
    let back = "";
    await waitUntil("the agent is back", async () => (back = await bash(agent, "echo back").then(said, () => "")) === "back\n", 20_000);
    expect(back).toBe("back\n");
    await waitUntil("the command has ended", () => sleepers(home).length === 0);
    expect(lines(home)).toEqual(["began"]);
  });

  test("[EE8] [WP11] an agent killed before it could say that it began: its client is told, and the next start does not run the command", async () => {
    await using relay = await startRelayApart();
    await using home = newHome();
    const first = await relay.dial(home);
    process.kill(first.pid, "SIGSTOP");
    const answer = bash(first, "echo began >> ran").then(said, (error: unknown) => String(error));
    await sleep(500);
    await first.kill9();
    await using second = await relay.dial(home);
    expect(await answer).toContain("may have run");
    expect(said(await bash(second, "echo alive"))).toBe("alive\n");
    expect(existsSync(join(home.root, "ran"))).toBe(false);
  });
});

describe("the workstation away", () => {
  test("[EE9] [OF1] [OF2] [OF3] clients of every version still connect and list the tools, and a call says so at once", async () => {
    await using relay = await startRelayApart();
    await using home = newHome();
    const agent = await relay.dial(home);
    const online = await ask(agent, { id: 1, method: "tools/list" });
    await agent.stop();
    for (const protocolVersion of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } };
      expect((await ask(agent, { id: 1, method: "initialize", params })).result).toMatchObject({ protocolVersion });
    }
    expect((await ask(agent, { id: 1, method: "tools/list" })).result).toEqual(online.result);
    for (const connect of Object.values(SDK_CLIENTS)) {
      await using client = await connect(agent);
      expect(await client.listTools()).toContain("bash");
      const askedAt = performance.now();
      const result = await client.call("bash", { command: "echo began >> ran" });
      expect(performance.now() - askedAt).toBeLessThan(1000);
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("away since") }] });
    }
    await using back = await relay.dial(home);
    expect(said(await callTool(back, "bash", { command: "echo back" }))).toBe("back\n");
    expect(existsSync(join(home.root, "ran"))).toBe(false);
  });
});
