/** `npm run accept` as a process: what it prints, and that its end is the end of everything it started. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandLine, newHome, type Home } from "../support/pimcp.ts";
import { pageShows } from "../support/page-shows.ts";
import { waitUntil } from "../support/wait-until.ts";

const RUN = join(import.meta.dirname, "../accept/run.ts");

interface Started {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  readonly printed: () => string;
}

async function started(home: Home): Promise<Started> {
  const child = spawn(process.execPath, [RUN], { env: { ...home.env, TMPDIR: home.dir }, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (printed += piece.toString()));
  const exit = once(child, "exit").then(([code]) => code as number | null);
  await waitUntil("the first step runs", () => printed.includes("1/8") || child.exitCode !== null, 30_000);
  return { child, exit, printed: () => printed };
}

test("[EE36] it names the page and the step, and Ctrl-C ends it with all it started", async () => {
  await using home = newHome();
  const run = await started(home);
  const address = /http:\S+/.exec(run.printed())?.[0] ?? "";
  expect((await pageShows(address)).info).toMatchObject({ human: true, approve: ["bash"] });
  run.child.kill("SIGINT");
  expect(await run.exit).toBe(130);
  expect(run.printed()).toContain("Stopped. Nothing is left running.");
  await home.expectNothingLeft();
});

test("[EE36] an agent that ends meanwhile is a failure", async () => {
  await using home = newHome();
  const run = await started(home);
  const [agent] = home.processes().filter((pid) => /pimcp\.mjs --human/.test(commandLine(pid)));
  process.kill(agent ?? Number.NaN, "SIGKILL");
  expect(await run.exit).toBe(1);
  expect(run.printed()).toContain("The agent ended before the acceptance was over");
});
