import { providerWithoutUnusedRoles } from "./provider-without-unused-roles.mjs";

/** How the Worker is bundled, by esbuild: for what is shipped and for the tests that run it. */
export const workerBundle = {
  bundle: true,
  format: "esm",
  target: "es2024",
  minify: true,
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  logLevel: "warning",
  legalComments: "none",
  // The provider prints what strangers wrote, such as a client's address, and logs are to hold none of that.
  drop: ["console"],
  plugins: [providerWithoutUnusedRoles],
};
