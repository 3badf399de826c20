import { expect, test } from "vitest";
import { newHome, runPimcp } from "../support/pimcp.ts";

test("[UC70] the shipped program shows the configuration, read from JSON with comments and from TOML", async () => {
  await using home = newHome({
    ".mcp.json": `{ "imports": ["codex"], /* mine */ "mcpServers": { "x": { "command": "c", "env": { "KEY": "s3cret" } }, } }`,
    ".codex/config.toml": `[mcp_servers.toml]\ncommand = "t"\n`,
  });
  const run = runPimcp(home, ["config", "--root", home.root], { CODEX_HOME: `${home.root}/.codex` });
  expect(await run.exit()).toBe(0);
  expect(run.stdout()).toContain("env      KEY (set)");
  expect(run.stdout()).toContain("command  t");
  expect(run.stdout()).not.toContain("s3cret");
});
