import { afterAll, beforeAll, expect, test } from "vitest";
import { startRelayed, type RelayedTarget } from "../../support/relayed-target.ts";
import { sseHandler } from "../../support/sse-handler.ts";

let target: RelayedTarget;
beforeAll(async () => {
  target = await startRelayed(sseHandler((driven) => driven.end()));
});
afterAll(() => target.close());

async function register(): Promise<string> {
  const response = await fetch(`${target.worker.origin}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none" }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { client_id: string }).client_id;
}

// The bundle leaves out what answers them in the provider: they have to be refused before that is reached.
test.for([
  [
    "urn:ietf:params:oauth:grant-type:token-exchange",
    { subject_token: "owner:a:b", subject_token_type: "urn:ietf:params:oauth:token-type:access_token" },
  ],
  ["urn:ietf:params:oauth:grant-type:jwt-bearer", { assertion: "e30.e30.e30" }],
  ["client_credentials", {}],
] as const)("[OA60] the shipped bundle refuses the grant type %s, and does not break", async ([grantType, more]) => {
  const body = new URLSearchParams({ grant_type: grantType, client_id: await register(), ...more });
  const response = await fetch(`${target.worker.origin}/token`, { method: "POST", body });
  expect({ status: response.status, ...((await response.json()) as object) }).toMatchObject({ status: 400, error: "unsupported_grant_type" });
});
