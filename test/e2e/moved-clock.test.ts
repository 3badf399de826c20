/** What a grant lives through when hours and weeks really pass at the relay. */
import { expect, test } from "vitest";
import { HOUR_MS, MOVED_CLOCK_ENTRY, pass } from "../support/moved-clock.ts";
import { newHome } from "../support/pimcp.ts";
import { startRelayApart } from "../support/relay-apart.ts";
import { refresh, signIn } from "../support/sign-in.ts";

const DAY_MS = 24 * HOUR_MS;
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

test("[OA58] an access token ends after 12 hours, a refresh renews 30 days, and the workstation stays reachable", async () => {
  await using relay = await startRelayApart({ entry: MOVED_CLOCK_ENTRY });
  await using home = newHome();
  await using agent = await relay.dial(home);
  const { origin } = relay.worker;
  const ask = async (token: string): Promise<number> => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", authorization: `Bearer ${token}` };
    const answer = await fetch(relay.url, { method: "POST", headers, body: JSON.stringify(LIST) });
    await answer.text();
    return answer.status;
  };
  const first = await signIn(origin, agent.pageUrl());
  await pass(origin, 12 * HOUR_MS - 60_000);
  expect(await ask(first.accessToken)).toBe(200);
  await pass(origin, 120_000);
  expect(await ask(first.accessToken)).toBe(401);
  await pass(origin, 29 * DAY_MS);
  const second = { ...first, ...(await refresh(origin, first)) };
  expect(await ask(second.accessToken)).toBe(200);
  await pass(origin, 29 * DAY_MS);
  const third = { ...first, ...(await refresh(origin, second)) };
  expect(await ask(third.accessToken)).toBe(200);
  await pass(origin, 31 * DAY_MS);
  expect(await ask(third.accessToken)).toBe(401);
  await expect(refresh(origin, third)).rejects.toThrow("invalid_grant");
});
