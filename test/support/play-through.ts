/** One client's whole story in a world of its own: sign-in, calls, and the end of its access, twice. For tests: it holds what it sees against what is due. */
import { expect } from "vitest";
import type { ClientProfile, Way } from "../fixtures/clients/profile.ts";
import { send } from "./agent-requests.ts";
import { HOUR_MS } from "./moved-clock.ts";
import { PlayedClient, type World } from "./played-client.ts";
import type { PlayedWorld } from "./played-world.ts";

const ACCESS_MS = 12 * HOUR_MS;
const MINUTE_MS = 60_000;

interface Case {
  readonly title: string;
  readonly profile: ClientProfile;
  readonly way: Way;
}

/** One for each way of each profile that is of this kind. */
export function casesOf(profiles: readonly ClientProfile[], by: readonly Way["by"][]): Case[] {
  return profiles.flatMap((profile) =>
    profile.ways
      .filter((way) => by.includes(way.by))
      .map((way) => ({ title: `${profile.name}, ${way.by}${way.by === "header" ? "" : `, back to ${way.redirect}`}`, profile, way })),
  );
}

/** Whether `/mcp` takes this access token. */
async function isAlive(world: World, token: string): Promise<boolean> {
  const answer = await send({ url: world.url, token }, { id: 1, method: "tools/list" }, { via: world.fetch });
  await answer.text();
  expect([200, 401]).toContain(answer.status);
  return answer.status === 200;
}

/** Lists the tools and reads a file, from wherever the client calls. */
export async function works(client: PlayedClient): Promise<void> {
  const all = await client.use("read", { path: "notes.txt" });
  expect(all.length).toBeGreaterThan(0);
  for (const { tools, result } of all) {
    expect(tools).toContain("read");
    expect(result).toMatchObject({ content: [{ type: "text", text: "from the workstation\n" }] });
  }
}

/** The access token, already of this age, ends, and the client finds out in its own way. Returns the age of the next one. */
async function outlive(client: PlayedClient, world: PlayedWorld, ageMs = 0): Promise<number> {
  const before = client.tokens;
  const isEarly = client.profile.token.refreshes === "early";
  if (isEarly) {
    await world.pass(ACCESS_MS - ageMs - 4 * MINUTE_MS);
    await works(client);
    // Not its end: what is still under way with the old token is served.
    for (const { access_token } of before) expect(await isAlive(world, access_token)).toBe(true);
    await world.pass(5 * MINUTE_MS);
  } else {
    await world.pass(ACCESS_MS + MINUTE_MS);
    for (const { access_token } of before) expect(await isAlive(world, access_token)).toBe(false);
    await works(client);
  }
  for (const { access_token } of before) expect(await isAlive(world, access_token)).toBe(false);
  for (const [at, { access_token, refresh_token, scope }] of client.tokens.entries()) {
    expect(await isAlive(world, access_token)).toBe(true);
    expect(access_token).not.toBe(before[at]?.access_token);
    expect(refresh_token).not.toBe(before[at]?.refresh_token);
    expect(scope).toBe("mcp");
  }
  return isEarly ? 5 * MINUTE_MS : 0;
}

/** From the URL to the second call after its access has ended. Returns how often the person was asked. */
export async function play({ profile, way }: Case, world: PlayedWorld): Promise<number> {
  const client = new PlayedClient(profile, way, world);
  const asked = world.asked();
  const { callback, credentials, found, page, tokens } = await client.signIn();
  expect(callback.href.split("?")[0]).toBe(credentials.redirect);
  expect(callback.searchParams.get("iss")).toBe(world.origin);
  expect(found.resource.resource).toBe(world.url);
  expect(page).toContain(new URL(credentials.redirect).host);
  expect(tokens).toMatchObject({ scope: "mcp", expires_in: ACCESS_MS / 1000 });
  await works(client);
  await outlive(client, world, await outlive(client, world));
  return world.asked() - asked;
}
