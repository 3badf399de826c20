/** Every way a client may be known, against everything that may happen to its sign-in. What has no meaning is named below, with its reason. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { errorOf, ORIGIN, REDIRECT, STATIC_TOKEN, withIssuer, type Bench, type Opened, type Tokens } from "./bench.workerd.ts";

const DOCUMENT = "https://client.example/oauth/client.json";
const PAIR = { id: "pimcp-by-hand", secret: "by-hand-secret-0123456789" };
/** SHA-256 of the secret. */
const PAIR_SHA256 = "8dd6e6c2b0c2dd01aaa7b9bd0db3adc962ba331aa084d5ec11f6961ee6bb9d7d";
const NO_PKCE = { code_challenge: undefined, code_challenge_method: undefined };
const WRONG_VERIFIER = "verifier-of-another-flow-verifier-of-another-flow";

/** How a client came to be known, and how it proves at `/token` who it is. */
interface Client {
  readonly id: string;
  readonly secret: string | null;
  readonly pkce: boolean;
}

/** Addresses of the client configured by hand; null: nobody named any, so the first one that comes is allowed by the click alone. */
type Redirects = readonly string[] | null;

const KINDS: readonly (readonly [string, (bench: Bench) => Promise<Client>, Redirects])[] = [
  ["self-registered, public", async (bench) => ({ id: await bench.register(), secret: null, pkce: true }), [REDIRECT]],
  ["self-registered, with a secret", registerWithSecret, [REDIRECT]],
  ["named by a document", async () => ({ id: DOCUMENT, secret: null, pkce: true }), [REDIRECT]],
  ["configured by hand, with PKCE", async () => ({ ...PAIR, pkce: true }), [REDIRECT]],
  ["configured by hand, without PKCE", async () => ({ ...PAIR, pkce: false }), [REDIRECT]],
  ["configured by hand, its address unknown", async () => ({ ...PAIR, pkce: false }), null],
];

async function registerWithSecret(bench: Bench): Promise<Client> {
  const json = { client_name: "Copilot Studio", redirect_uris: [REDIRECT], token_endpoint_auth_method: "client_secret_post" };
  const registered = (await (await bench.send("/register", { json })).json()) as { client_id: string; client_secret: string };
  return { id: registered.client_id, secret: registered.client_secret, pkce: true };
}

let original: typeof globalThis.fetch;
beforeEach(() => {
  original = globalThis.fetch;
  const document = { client_id: DOCUMENT, client_name: "By document", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
  globalThis.fetch = async (input: RequestInfo | URL) =>
    new URL(input instanceof Request ? input.url : input).href === DOCUMENT ? Response.json(document) : new Response("none", { status: 404 });
});
afterEach(() => {
  globalThis.fetch = original;
});

const withEverything = (run: (bench: Bench) => Promise<void>, redirects: Redirects = [REDIRECT]) =>
  withIssuer(run, { client: { id: PAIR.id, sha256: PAIR_SHA256, redirects: redirects === null ? null : [...redirects] } });

const open = (bench: Bench, client: Client, changes: Record<string, string | undefined> = {}) =>
  bench.open(client.id, { ...(client.pkce ? {} : NO_PKCE), ...changes });

const proof = ({ secret }: Client): Record<string, string> => (secret === null ? {} : { client_secret: secret });

function exchange(bench: Bench, client: Client, code: string, changes: Record<string, string> = {}): Promise<Response> {
  return bench.exchange(client.id, code, { ...proof(client), ...(client.pkce ? {} : { code_verifier: "" }), ...changes });
}

async function codeOf(bench: Bench, opened: Opened): Promise<string> {
  return (await bench.decide(opened)).searchParams.get("code") ?? "";
}

async function connect(bench: Bench, client: Client): Promise<Tokens> {
  const answer = await exchange(bench, client, await codeOf(bench, await open(bench, client)));
  expect(answer.status).toBe(200);
  return (await answer.json()) as Tokens;
}

const isUnknownAddress = (bench: Bench): boolean => bench.deposits?.client?.redirects === null;

/** How a sign-in that was not allowed ends. */
async function expectEnd(bench: Bench, opened: Opened): Promise<void> {
  const answer = await bench.poll(opened);
  const { redirect } = (await answer.json()) as { redirect?: string };
  if (isUnknownAddress(bench)) expect([answer.status, redirect]).toEqual([403, undefined]);
  else {
    const { searchParams } = new URL(redirect ?? "");
    expect([searchParams.get("error"), searchParams.get("code"), searchParams.get("iss")]).toEqual(["access_denied", null, ORIGIN]);
  }
  expect(bench.issuer.grants()).toEqual([]);
}

const calls = async (bench: Bench, { access_token }: Tokens) => (await bench.mcp(`Bearer ${access_token}`)).status;
const answered = async (response: Response) => [response.status, response.status === 200 ? "" : await errorOf(response)];

const EVENTS: readonly (readonly [string, (bench: Bench, client: Client) => Promise<void>])[] = [
  [
    "[OA11] [OA25] [OA41] [OA58] happy: signs in, calls, refreshes, calls",
    async (bench, client) => {
      const opened = await open(bench, client, { scope: "openid mcp email" });
      const target = await bench.decide(opened);
      expect([target.origin, target.searchParams.get("iss"), target.searchParams.get("state")]).toEqual([
        new URL(REDIRECT).origin,
        ORIGIN,
        "s t&a=te",
      ]);
      const tokens = (await (await exchange(bench, client, target.searchParams.get("code") ?? "")).json()) as Tokens;
      expect([tokens.scope, tokens.expires_in, await calls(bench, tokens)]).toEqual(["mcp", 43_200, 200]);
      const next = (await (await bench.refresh(client.id, tokens.refresh_token, proof(client))).json()) as Tokens;
      expect([next.scope, await calls(bench, next)]).toEqual(["mcp", 200]);
    },
  ],
  [
    "[OA38] [OA105] deny: an error with state and iss to an address that is known, a page else, and nothing granted",
    async (bench, client) => {
      const opened = await open(bench, client);
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: false });
      await expectEnd(bench, opened);
    },
  ],
  [
    "[OA40] expire: after ten minutes no decision counts",
    async (bench, client) => {
      const opened = await open(bench, client);
      await bench.look(opened);
      bench.pass(10 * 60_000);
      expect(await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code })).toEqual({ outcome: "gone" });
      await expectEnd(bench, opened);
    },
  ],
  [
    "[OA50] wrong verifier: refused, and the code still works with the right one",
    async (bench, client) => {
      const code = await codeOf(bench, await open(bench, client));
      // Without a challenge a verifier has no business there (RFC 9700 §2.1.1: a downgrade would look like this).
      expect(await answered(await exchange(bench, client, code, { code_verifier: WRONG_VERIFIER }))).toEqual([
        400,
        client.pkce ? "invalid_grant" : "invalid_request",
      ]);
      expect((await exchange(bench, client, code)).status).toBe(200);
    },
  ],
  [
    "[OA101] wrong secret: refused, at /token twice and at /revoke, and nothing is used up",
    async (bench, client) => {
      const code = await codeOf(bench, await open(bench, client));
      const wrong = { client_secret: "wrong" };
      expect(await answered(await exchange(bench, client, code, wrong))).toEqual([401, "invalid_client"]);
      const tokens = (await (await exchange(bench, client, code)).json()) as Tokens;
      expect(await answered(await bench.refresh(client.id, tokens.refresh_token, wrong))).toEqual([401, "invalid_client"]);
      await bench.send("/revoke", { form: { client_id: client.id, token: tokens.refresh_token, ...wrong } });
      expect([await calls(bench, tokens), (await bench.refresh(client.id, tokens.refresh_token, proof(client))).status]).toEqual([200, 200]);
    },
  ],
  [
    "[OA51] [OA56] replay: a code twice ends the grant, a refresh token too late as well",
    async (bench, client) => {
      const code = await codeOf(bench, await open(bench, client));
      const tokens = (await (await exchange(bench, client, code)).json()) as Tokens;
      expect(await answered(await exchange(bench, client, code))).toEqual([400, "invalid_grant"]);
      expect(await calls(bench, tokens)).toBe(401);
      const again = await connect(bench, client);
      const next = (await (await bench.refresh(client.id, again.refresh_token, proof(client))).json()) as Tokens;
      const last = (await (await bench.refresh(client.id, next.refresh_token, proof(client))).json()) as Tokens;
      bench.pass(2 * 60_000);
      expect(await answered(await bench.refresh(client.id, again.refresh_token, proof(client)))).toEqual([400, "invalid_grant"]);
      expect([await calls(bench, last), (await bench.refresh(client.id, last.refresh_token, proof(client))).status]).toEqual([401, 400]);
    },
  ],
  [
    "[OA36] other browser: collects nothing, and the right one still does",
    async (bench, client) => {
      const opened = await open(bench, client);
      const other = await open(bench, client);
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      for (const cookie of ["", other.cookie, `${opened.cookie}x`]) {
        const answer = await bench.poll(opened, cookie);
        expect([answer.status, (await answer.text()).includes("code=")]).toEqual([403, false]);
      }
      expect((await bench.collect(opened)).searchParams.get("code")).not.toBeNull();
    },
  ],
  [
    "[OA50] [OA57] [OA61] other client: cannot use the code, refresh or revoke",
    async (bench, client) => {
      const other = await registerWithSecret(bench);
      const code = await codeOf(bench, await open(bench, client));
      const asOther = { client_id: other.id, client_secret: other.secret ?? "" };
      expect((await exchange(bench, client, code, asOther)).status).toBe(400);
      const tokens = (await (await exchange(bench, client, code)).json()) as Tokens;
      expect((await bench.refresh(client.id, tokens.refresh_token, asOther)).status).toBe(400);
      await bench.send("/revoke", { form: { token: tokens.refresh_token, ...asOther } });
      expect([await calls(bench, tokens), (await bench.refresh(client.id, tokens.refresh_token, proof(client))).status]).toEqual([200, 200]);
    },
  ],
  [
    "[OA9] [OA24] [OA58] other resource: refused at every step, and nothing is used up",
    async (bench, client) => {
      const resource = "https://other.example/mcp";
      const refused = (await open(bench, client, { resource })).response;
      if (isUnknownAddress(bench)) expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
      else expect(new URL(refused.headers.get("location") ?? "").searchParams.get("error")).toBe("invalid_target");
      const code = await codeOf(bench, await open(bench, client));
      expect(await answered(await exchange(bench, client, code, { resource }))).toEqual([400, "invalid_target"]);
      const tokens = (await (await exchange(bench, client, code, { resource: `${ORIGIN}/` })).json()) as Tokens;
      expect(await answered(await bench.refresh(client.id, tokens.refresh_token, { ...proof(client), resource }))).toEqual([400, "invalid_target"]);
      expect((await bench.mcp(`Bearer ${tokens.access_token}`, "https://relay.other.example")).status).toBe(401);
      expect((await bench.refresh(client.id, tokens.refresh_token, proof(client))).status).toBe(200);
    },
  ],
  [
    "[OA42] [OA54] restart in the middle: between any two steps nothing is lost",
    async (bench, client) => {
      const opened = await open(bench, client);
      bench.restart();
      await bench.look(opened);
      bench.restart();
      expect(await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code })).toEqual({ outcome: "allowed" });
      bench.restart();
      const code = (await bench.collect(opened)).searchParams.get("code") ?? "";
      bench.restart();
      const tokens = (await (await exchange(bench, client, code)).json()) as Tokens;
      bench.restart();
      const next = await (await bench.refresh(client.id, tokens.refresh_token, proof(client))).text();
      bench.restart();
      expect(await (await bench.refresh(client.id, tokens.refresh_token, proof(client))).text()).toBe(next);
      expect(await calls(bench, JSON.parse(next) as Tokens)).toBe(200);
    },
  ],
];

describe.each(KINDS)("a client that is %s", (_name, make, redirects) => {
  test.each(EVENTS)("%s", async (_event, run) => {
    expect.hasAssertions();
    await withEverything(async (bench) => run(bench, await make(bench)), redirects);
  });
});

/** A static token is made at the workstation: nobody asks for it, so there is nothing to deny, no code, no verifier, no browser and no client. */
describe("a static token", () => {
  test("[OA10] happy, and again after a restart", () =>
    withEverything(async (bench) => {
      expect(await bench.mcp(`Bearer ${STATIC_TOKEN}`)).toMatchObject({ status: 200, principal: { kind: "token", scope: ["mcp"] } });
      bench.restart();
      expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).status).toBe(200);
    }));

  test("[OA10] wrong secret: refused, also with the id or the hash of a right one", () =>
    withEverything(async (bench) => {
      const { id = "", sha256 = "" } = bench.deposits?.staticTokens[0] ?? {};
      for (const token of [`${STATIC_TOKEN}x`, STATIC_TOKEN.slice(1), id, sha256]) expect((await bench.mcp(`Bearer ${token}`)).status).toBe(401);
    }));

  test("[OA9] [OA10] it is good at every address of its own workspace, and no grant comes of it", () =>
    withEverything(async (bench) => {
      expect(
        (
          await bench.send("/token", {
            form: { grant_type: "refresh_token", refresh_token: STATIC_TOKEN, client_id: PAIR.id, client_secret: PAIR.secret },
          })
        ).status,
      ).toBe(400);
      expect((await bench.send("/revoke", { form: { token: STATIC_TOKEN, client_id: PAIR.id, client_secret: PAIR.secret } })).status).toBe(200);
      expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).status).toBe(200);
      expect(bench.issuer.grants()).toEqual([]);
    }));

  test("[OA10] one that is taken from the deposits is refused at once", () =>
    withEverything(async (bench) => {
      if (bench.deposits !== undefined) bench.deposits = { ...bench.deposits, staticTokens: [] };
      expect((await bench.mcp(`Bearer ${STATIC_TOKEN}`)).status).toBe(401);
    }));
});
