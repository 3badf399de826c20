/** A client that itself runs on Cloudflare's platform, with the SDK its makers offer. */
import { expect, test } from "vitest";
import { startAgentsSdkClient } from "../support/agents-sdk-client.ts";
import { HOUR_MS } from "../support/moved-clock.ts";
import { startPlayedWorld } from "../support/played-world.ts";

test("[EE26] a client built on Cloudflare's agents SDK signs in, calls, and renews its access by itself, also after it slept", async () => {
  await using world = await startPlayedWorld({ address: "loopback", profiles: [] });
  await using client = await startAgentsSdkClient();
  const works = async (): Promise<void> => {
    const { tools, result } = await client.call();
    expect(tools).toContain("bash");
    expect(result).toMatchObject({ content: [{ type: "text", text: "from the workstation\n" }] });
  };
  const authorizeUrl = await client.connect(world.url);
  expect(authorizeUrl?.origin).toBe(world.origin);
  const { callback } = await world.open(authorizeUrl ?? new URL("about:blank"));
  await client.callback(callback);
  await works();
  await world.pass(13 * HOUR_MS);
  await works();
  await client.evict();
  await works();
  await world.pass(13 * HOUR_MS);
  await client.evict();
  await works();
  expect(world.asked()).toBe(1);
});
