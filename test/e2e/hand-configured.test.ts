/** A client that takes an id and a secret by hand, at a workstation that names both and the address in advance. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { copilotStudio } from "../fixtures/clients/copilot-studio.ts";
import { gemini } from "../fixtures/clients/gemini.ts";
import type { ClientProfile, Way } from "../fixtures/clients/profile.ts";
import { play } from "../support/play-through.ts";
import { PlayedClient, type World } from "../support/played-client.ts";
import { startPlayedWorld, type PlayedWorld } from "../support/played-world.ts";

const PAIR = { id: "pimcp-gemini", secret: "a-secret-typed-by-hand-0123456789" };

function byPair(profile: ClientProfile): Extract<Way, { by: "pair" }> {
  const way = profile.ways.find((each) => each.by === "pair");
  if (way === undefined) throw new Error(`${profile.name} takes no pair`);
  return way;
}

let world: PlayedWorld;
beforeAll(async () => {
  world = await startPlayedWorld({ address: "public", profiles: [], pair: PAIR, redirects: [byPair(gemini).redirect] });
});
afterAll(() => world[Symbol.asyncDispose]());

test("[EE27] with the address that was named it is asked about once, and goes on when its access ends", async () => {
  expect(await play({ title: gemini.name, profile: gemini, way: byPair(gemini) }, world)).toBe(1);
});

test("[EE27] [OA106] with another address nobody is asked", async () => {
  const client = new PlayedClient(copilotStudio, byPair(copilotStudio), world);
  await expect(client.signIn()).rejects.toThrow(/answered 400 instead of asking the person: .*This sign-in cannot go on/);
});

test("[EE27] [OA101] with another secret it gets nothing", async () => {
  const mistyped: World = { ...world, pair: { ...PAIR, secret: `${PAIR.secret}0` } };
  await expect(new PlayedClient(gemini, byPair(gemini), mistyped).signIn()).rejects.toThrow("invalid_client");
});
