/** Every known client, played with its own habits, from the bare URL to a call after its access has ended, twice. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatGpt } from "../fixtures/clients/chatgpt.ts";
import { claudeAi } from "../fixtures/clients/claude-ai.ts";
import { claudeCode } from "../fixtures/clients/claude-code.ts";
import { codex } from "../fixtures/clients/codex.ts";
import { copilotCli } from "../fixtures/clients/copilot-cli.ts";
import { copilotStudio } from "../fixtures/clients/copilot-studio.ts";
import { cursor } from "../fixtures/clients/cursor.ts";
import { gemini } from "../fixtures/clients/gemini.ts";
import { geminiCli } from "../fixtures/clients/gemini-cli.ts";
import { geminiEnterprise } from "../fixtures/clients/gemini-enterprise.ts";
import { lmStudio } from "../fixtures/clients/lm-studio.ts";
import { mcpRemote } from "../fixtures/clients/mcp-remote.ts";
import { opencode } from "../fixtures/clients/opencode.ts";
import { vsCode } from "../fixtures/clients/vs-code.ts";
import { zed } from "../fixtures/clients/zed.ts";
import { automaticWay } from "../support/client-credentials.ts";
import { discover } from "../support/client-discovery.ts";
import { HOUR_MS } from "../support/moved-clock.ts";
import { PlayedClient } from "../support/played-client.ts";
import { casesOf, play, works } from "../support/play-through.ts";
import { startPlayedWorld, type PlayedWorld } from "../support/played-world.ts";

const PROFILES = [
  claudeAi,
  claudeCode,
  chatGpt,
  codex,
  gemini,
  geminiEnterprise,
  geminiCli,
  cursor,
  vsCode,
  copilotStudio,
  copilotCli,
  lmStudio,
  mcpRemote,
  opencode,
  zed,
];

describe("with an address that all can reach", () => {
  let world: PlayedWorld;
  beforeAll(async () => {
    world = await startPlayedWorld({ address: "public", profiles: PROFILES });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(casesOf(PROFILES, ["document", "registration", "pair"]))("[EE25] $title", async (one) => {
    expect(await play(one, world)).toBe(1);
  });

  test.each(casesOf(PROFILES, ["header"]))("[EE25] $title", async ({ profile, way }) => {
    const client = new PlayedClient(profile, way, world);
    const asked = world.asked();
    await works(client);
    await world.pass(40 * 24 * HOUR_MS);
    await works(client);
    expect(world.asked()).toBe(asked);
  });

  test.each(PROFILES.filter((profile) => profile !== geminiEnterprise))("[EE25] $name goes the way it prefers", async (profile) => {
    const { server } = await discover(profile.discovery, world.url, world.fetch);
    expect(automaticWay(profile.ways, server)).toBe(profile.ways[0]);
  });
});

describe("with an address on loopback", () => {
  const programs = PROFILES.filter(({ runs }) => runs === "machine").map((profile) => ({ ...profile, ways: [profile.ways[0]] as const }));
  let world: PlayedWorld;
  beforeAll(async () => {
    world = await startPlayedWorld({ address: "loopback", profiles: programs });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(casesOf(programs, ["document", "registration"]))("[EE25] $title", async (one) => {
    expect(await play(one, world)).toBe(1);
  });
});

describe("while the vendors' own servers refuse the relay", () => {
  const known = [claudeAi, claudeCode, chatGpt, vsCode].map((profile) => ({ ...profile, ways: [profile.ways[0]] as const }));
  let world: PlayedWorld;
  beforeAll(async () => {
    world = await startPlayedWorld({ address: "public", profiles: [] });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(casesOf(known, ["document"]))("[EE25] [OA130] $title", async (one) => {
    expect(await play(one, world)).toBe(1);
  });
});
