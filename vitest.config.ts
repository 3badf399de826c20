import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { testedProviderWithoutUnusedRoles } from "./scripts/provider-without-unused-roles.mjs";

/** For the projects that run the program as it is shipped. */
const globalSetup = "./test/support/built-program.setup.ts";

/** A test runs where its code runs: `*.workerd.test.ts` inside workerd, everything else in Node. */
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          testedProviderWithoutUnusedRoles,
          cloudflareTest({
            main: "./worker/index.ts",
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: { bindings: { AGENT_KEY: "test-agent-key-0123456789abcdef0123456789" } },
          }),
        ],
        test: { name: "workerd", include: ["test/{unit,integration}/**/*.workerd.test.ts"], testTimeout: 20_000 },
      },
      {
        test: {
          name: "node",
          include: ["test/{unit,contract,integration}/**/*.test.ts", "test/*.test.ts"],
          exclude: ["**/*.workerd.test.ts"],
          testTimeout: 20_000,
        },
      },
      { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], globalSetup, testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false } },
      {
        test: {
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          globalSetup,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
