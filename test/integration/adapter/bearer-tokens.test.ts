/** When a token is made anew. Commands are real, time is not. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bearerSource } from "../../../local-agent/node/bearer-tokens.ts";
import { createProcessGroups } from "../../../local-agent/node/process-groups.ts";
import { systemTimers } from "../../../local-agent/node/system-time.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { httpServer } from "../../support/server-transports.ts";
import { tempDir } from "../../support/temp-dir.ts";

function source(env: Readonly<Record<string, string>> = {}) {
  const dir = tempDir();
  const runs = join(dir, "runs");
  const broken = join(dir, "broken");
  writeFileSync(runs, "");
  const clock = new ManualClock();
  const bearerToken = `!test -e ${broken} && exit 1; printf x >> ${runs}; printf token-; wc -c < ${runs} | tr -d ' '`;
  const groups = createProcessGroups(systemTimers);
  const stored = () => Promise.reject(new Error("nobody asks it"));
  const host = {
    env: { PATH: process.env["PATH"], ...env },
    home: dir,
    cwd: dir,
    platform: process.platform,
    groups,
    timers: systemTimers,
    clock,
    stored,
  };
  const bearer = bearerSource("s", httpServer("http://a.example/", { bearerToken }), "http://a.example/", host);
  if (bearer === null) throw new Error("no source");
  return { bearer, clock, runs: () => readFileSync(runs, "utf8").length, breakIt: () => writeFileSync(broken, "") };
}

test("[UT24] a command's token is kept for five minutes, and asked for once by all who wait", async () => {
  const { bearer, clock, runs } = source();
  expect(await Promise.all([bearer.token(), bearer.token(), bearer.token()])).toEqual(["token-1", "token-1", "token-1"]);
  clock.advance(299_000);
  expect(await bearer.token()).toBe("token-1");
  clock.advance(1000);
  expect(await bearer.token()).toBe("token-2");
  expect(runs()).toBe(2);
});

test("[UT24] a variable says how long", async () => {
  const { bearer, clock } = source({ PI_MCP_ADAPTER_BEARER_COMMAND_TTL_MS: "1000" });
  expect(await bearer.token()).toBe("token-1");
  clock.advance(1000);
  expect(await bearer.token()).toBe("token-2");
});

test("[UT24] the last good one stays in use when no newer one can be made, unless it was refused", async () => {
  const { bearer, clock, breakIt } = source();
  expect(await bearer.token()).toBe("token-1");
  breakIt();
  clock.advance(300_000);
  expect(await bearer.token()).toBe("token-1");
  expect(bearer.renew("token-1")).toBe(true);
  await expect(bearer.token()).rejects.toThrow('The command for "bearerToken" ended with exit code 1.');
});

test("[UT24] a refusal has it made anew once; one of a token that was replaced already only sends the newer one", async () => {
  const { bearer, clock, runs } = source();
  await bearer.token();
  expect(bearer.renew("token-1")).toBe(true);
  expect(bearer.renew("token-1")).toBe(true);
  expect(await bearer.token()).toBe("token-2");
  expect(bearer.renew("token-1")).toBe(true);
  expect(await bearer.token()).toBe("token-2");
  expect(bearer.renew("token-2")).toBe(false);
  clock.advance(31_000);
  expect(bearer.renew("token-2")).toBe(true);
  expect(await bearer.token()).toBe("token-3");
  expect(runs()).toBe(3);
});
