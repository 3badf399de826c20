/** What a strict client refuses to go on with: the same relay, with one word of its documents changed on the way. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatGpt } from "../fixtures/clients/chatgpt.ts";
import { claudeAi } from "../fixtures/clients/claude-ai.ts";
import { claudeCode } from "../fixtures/clients/claude-code.ts";
import { codex } from "../fixtures/clients/codex.ts";
import { cursor } from "../fixtures/clients/cursor.ts";
import { geminiCli } from "../fixtures/clients/gemini-cli.ts";
import type { ClientProfile } from "../fixtures/clients/profile.ts";
import { vsCode } from "../fixtures/clients/vs-code.ts";
import { automaticWay } from "../support/client-credentials.ts";
import { discover } from "../support/client-discovery.ts";
import { PlayedClient, type World } from "../support/played-client.ts";
import { startPlayedWorld, type PlayedWorld } from "../support/played-world.ts";

const PROFILES = [chatGpt, claudeAi, claudeCode, codex, cursor, geminiCli, vsCode];
type Document = Record<string, unknown>;
type Change = (document: Document) => Document;

let world: PlayedWorld;
beforeAll(async () => {
  world = await startPlayedWorld({ address: "loopback", profiles: PROFILES });
});
afterAll(() => world[Symbol.asyncDispose]());

/** A relay that says something else in the document of this name. */
function saying(name: "oauth-protected-resource" | "oauth-authorization-server", change: Change): World {
  const changed: typeof fetch = async (input, init) => {
    const answer = await world.fetch(input, init);
    const { url } = new Request(input, init);
    return url.includes(`/.well-known/${name}`) ? Response.json(change((await answer.json()) as Document)) : answer;
  };
  return { ...world, fetch: changed };
}

const without =
  (member: string): Change =>
  ({ [member]: _left, ...rest }) =>
    rest;
const slashed: Change = (document) => ({ ...document, resource: `${String(document["resource"])}/` });

function signIn(profile: ClientProfile, at: World): Promise<unknown> {
  return new PlayedClient(profile, profile.ways[0], at).signIn();
}

describe("[EE25] a client", () => {
  test.each([vsCode, claudeCode, claudeAi])("$name stops at a resource with one slash more", async (profile) => {
    await expect(signIn(profile, saying("oauth-protected-resource", slashed))).rejects.toThrow(`${world.url}/`);
  });

  test("Gemini CLI does not mind the slash, and minds another resource", async () => {
    await signIn(geminiCli, saying("oauth-protected-resource", slashed));
    const other: Change = (document) => ({ ...document, resource: `${world.origin}/other` });
    await expect(signIn(geminiCli, saying("oauth-protected-resource", other))).rejects.toThrow("/other");
  });

  test.each([codex, claudeCode, cursor])("$name stops at an issuer that calls itself otherwise", async (profile) => {
    const other: Change = (document) => ({ ...document, issuer: `${world.origin}/` });
    await expect(signIn(profile, saying("oauth-authorization-server", other))).rejects.toThrow("the issuer calls itself");
  });

  test.each(PROFILES)("$name stops at an issuer without S256", async (profile) => {
    await expect(signIn(profile, saying("oauth-authorization-server", without("code_challenge_methods_supported")))).rejects.toThrow("S256");
  });

  test.each([codex, chatGpt, geminiCli])("$name stops at a callback from another issuer", async (profile) => {
    const elsewhere: World = {
      ...world,
      open: async (authorizeUrl) => {
        const allowed = await world.open(authorizeUrl);
        allowed.callback.searchParams.set("iss", "https://issuer.example");
        return allowed;
      },
    };
    await expect(signIn(profile, elsewhere)).rejects.toThrow("https://issuer.example");
  });

  test.each([
    { profile: claudeAi, member: "client_id_metadata_document_supported" },
    { profile: claudeAi, member: "token_endpoint_auth_methods_supported" },
    { profile: codex, member: "token_endpoint_auth_methods_supported" },
    { profile: vsCode, member: "client_id_metadata_document_supported" },
    { profile: chatGpt, member: "client_id_metadata_document_supported" },
  ])("$profile.name registers where $member is not offered", async ({ profile, member }) => {
    const { server } = await discover(profile.discovery, world.url, saying("oauth-authorization-server", without(member)).fetch);
    expect(automaticWay(profile.ways, server)?.by).toBe("registration");
  });

  test("ChatGPT is named by a document of the one connector where no iss is promised", async () => {
    const at = saying("oauth-authorization-server", without("authorization_response_iss_parameter_supported"));
    const { server } = await discover(chatGpt.discovery, world.url, at.fetch);
    expect(automaticWay(chatGpt.ways, server)).toBe(chatGpt.ways[1]);
  });
});
