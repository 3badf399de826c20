/** A workstation that sleeps for longer than any of the link's patience (A49). The tests wait side by side. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { bash, said } from "../support/agent-requests.ts";
import { newHome, startPimcp } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";

/** Longer than the relay's patience with an unanswered link (60 s). */
const ASLEEP_MS = 63_000;

describe.concurrent("asleep for more than a minute", { timeout: 150_000 }, () => {
  test("[EE4] everything at once, and awake again: URL, token and page work at the first call", async () => {
    await using home = newHome();
    await using agent = await startPimcp({ home });
    const all = home.processes();
    for (const pid of all) process.kill(pid, "SIGSTOP");
    await sleep(ASLEEP_MS);
    for (const pid of all) process.kill(pid, "SIGCONT");
    expect(said(await bash(agent, "echo awake"))).toBe("awake\n");
    expect((await fetch(agent.pageUrl())).status).toBe(200);
    // Whoever wakes first: a request that finds the link silent for a minute makes the agent dial anew, which is said once.
    expect(agent.run.stderr()).toMatch(/^(No connection to [^\n]* Trying again\.\nConnected to [^\n]* again\.\n)?$/);
  });

  test("[EE4] [EE8] [OF1] [WP14] [WP18] the workstation alone: calls are told so and not run later, an earlier one runs once", async () => {
    await using relay = await startRelayApart();
    await using home = newHome();
    await using agent = await relay.dial(home);
    process.kill(agent.pid, "SIGSTOP");
    const early = bash(agent, "echo early >> ran; echo early").then(said);
    await sleep(ASLEEP_MS);
    const late = await bash(agent, "echo late >> ran");
    expect(late.isError).toBe(true);
    expect(said(late)).toMatch(/has been away since .* Nothing was run\./);
    process.kill(agent.pid, "SIGCONT");
    expect(await early).toBe("early\n");
    expect(said(await bash(agent, "echo awake"))).toBe("awake\n");
    expect(readFileSync(join(home.root, "ran"), "utf8")).toBe("early\n");
  });
});
