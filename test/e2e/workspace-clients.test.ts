/** Clients written with the SDKs find everything from the URL of a workspace alone, as they do from that of the default one. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { OAuthClient } from "../support/oauth-client.ts";
import { newHome, type Home, type Pimcp } from "../support/pimcp.ts";
import { startRelayApart, type RelayApart } from "../support/relay-apart.ts";
import { decideOnPage, openAndAllow } from "../support/sign-in.ts";

let relay: RelayApart;
let homes: readonly Home[];
let agents: { readonly site: Pimcp; readonly plain: Pimcp };
beforeAll(async () => {
  relay = await startRelayApart();
  homes = [newHome({ "which.txt": "the site's\n" }), newHome({ "which.txt": "the default's\n" })];
  const [site, plain] = homes;
  if (site === undefined || plain === undefined) throw new Error("there are two");
  agents = { site: await relay.dial(site, { args: ["--workspace", "site"] }), plain: await relay.dial(plain) };
});
afterAll(async () => {
  await agents.site.stop();
  await agents.plain.stop();
  for (const home of homes) await home.remove();
  await relay[Symbol.asyncDispose]();
});

async function signedIn(agent: Pimcp, sdk: "v1" | "v2"): Promise<{ readonly client: OAuthClient; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const listening: typeof fetch = (input, init) => {
    asked.push(new URL(input instanceof Request ? input.url : input).pathname);
    return fetch(input, init);
  };
  // v1 takes no fetch of ours; it is held by what it reaches.
  const client = await OAuthClient.start({ url: agent.url, sdk, fetch: listening });
  onTestFinished(() => client[Symbol.asyncDispose]());
  expect(await client.connect()).toBeUndefined();
  const opened = client.opened.at(-1);
  if (opened === undefined) throw new Error("the client opened nothing");
  const { callback } = await openAndAllow(opened, decideOnPage(agent.pageUrl()));
  const called = client.callback();
  await fetch(callback);
  await client.finish(await called);
  return { client, asked };
}

async function read(client: OAuthClient): Promise<unknown> {
  const connected = await client.connect();
  const result = await connected?.callTool({ name: "read", arguments: { path: "which.txt" } });
  await connected?.close();
  return result?.content;
}

describe.each(["v2", "v1"] as const)("SDK %s", (sdk) => {
  test("[OA90] [EE1] discovers, registers, signs in, calls and refreshes below the workspace's own prefix", async () => {
    expect(new URL(agents.site.url).pathname).toBe("/w/site/mcp");
    const { client, asked } = await signedIn(agents.site, sdk);
    expect(new URL(client.opened[0] ?? "").pathname).toBe("/w/site/authorize");
    expect(new URL(client.opened[0] ?? "").searchParams.get("resource")).toBe(agents.site.url);
    expect(asked.length > 0).toBe(sdk === "v2");
    for (const path of asked) expect(path).toMatch(/^(\/w\/site\/|\/\.well-known\/[a-z-]+\/w\/site(\/mcp)?$)/);
    expect(await read(client)).toEqual([{ type: "text", text: "the site's\n" }]);
    if (client.kept !== undefined) client.kept = { ...client.kept, access_token: "expired" };
    expect(await read(client)).toEqual([{ type: "text", text: "the site's\n" }]);
    expect(client.opened).toHaveLength(1);
  });

  test("[OA90] [EE1] the default workspace is found from its own URL as before, beside it", async () => {
    const { client, asked } = await signedIn(agents.plain, sdk);
    expect(asked.filter((path) => path.includes("/w/"))).toEqual([]);
    expect(await read(client)).toEqual([{ type: "text", text: "the default's\n" }]);
  });
});
