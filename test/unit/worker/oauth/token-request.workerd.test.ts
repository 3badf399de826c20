/** The form of a token request is read here as the provider reads it: nothing passes that was not counted, waited for and looked up. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Deposits } from "../../../../shared/wire/frames.ts";
import { errorOf, REDIRECT, withIssuer, type Tokens } from "./bench.workerd.ts";

const ID = "pimcp-by-hand";
const SECRET = "by-hand-secret-0123456789";
const DOCUMENT = "https://client.example/oauth/client.json";
const MINUTE = 60_000;

let fetched: string[] = [];
let original: typeof globalThis.fetch;
beforeEach(() => {
  original = globalThis.fetch;
  fetched = [];
  globalThis.fetch = async (input: RequestInfo | URL) => {
    fetched.push(new URL(input instanceof Request ? input.url : input).href);
    return Response.json({ client_id: DOCUMENT, client_name: "x", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" });
  };
});
afterEach(() => {
  globalThis.fetch = original;
});

async function pairOf(secret: string): Promise<Deposits["client"]> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return { id: ID, sha256: Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join(""), redirects: [REDIRECT] };
}

const withPair = async (run: Parameters<typeof withIssuer>[0]) => withIssuer(run, { client: await pairOf(SECRET) });
const basic = (text: string, blank = " ") => ({ authorization: `Basic${blank}${btoa(text)}` });

test.each<[string, [string, string][], Record<string, string>]>([
  [
    "in the body",
    [
      ["client_id", ID],
      ["client_secret", "guess"],
    ],
    {},
  ],
  [
    "behind an empty id",
    [
      ["client_id", ""],
      ["client_id", ID],
      ["client_secret", "guess"],
    ],
    {},
  ],
  [
    "behind an empty secret",
    [
      ["client_id", ID],
      ["client_secret", ""],
      ["client_secret", "guess"],
    ],
    {},
  ],
  ["by Basic beside an empty id", [["client_id", ""]], basic(`${ID}:guess`)],
  ["by Basic beside the id", [["client_id", ID]], basic(`${ID}:guess`)],
])("[OA109] a secret guessed %s is counted", (_how, client, headers) =>
  withPair(async (bench) => {
    const guess = () => bench.send("/token", { form: [["grant_type", "refresh_token"], ["refresh_token", "x"], ...client], headers });
    for (let at = 0; at < 600; at += 1) {
      const { status } = await guess();
      if (status !== 401) throw new Error(`guess ${at} was answered ${status}`);
    }
    expect((await guess()).status).toBe(429);
    const right = { client_id: ID, client_secret: SECRET, grant_type: "refresh_token", refresh_token: "x" };
    expect(await errorOf(await bench.send("/token", { form: right }))).toBe("invalid_grant");
  }),
);

test.each(["\f", "\u00a0", " \u00a0", "\v"])("[OA60] Basic credentials behind %j are not read by anybody", (blank) =>
  withPair(async (bench) => {
    const answer = await bench.send("/token", {
      form: { grant_type: "refresh_token", refresh_token: "x" },
      headers: basic(`${ID}:${SECRET}`, blank),
    });
    expect([answer.status, await errorOf(answer)]).toEqual([401, "invalid_client"]);
  }),
);

test("[OA68] no spelling of a client id has a stranger's document fetched", () =>
  withPair(async (bench) => {
    const forms: [string, string][][] = [
      [["client_id", DOCUMENT]],
      [
        ["client_id", ""],
        ["client_id", DOCUMENT],
      ],
      [
        ["client_id", "x"],
        ["client_id", DOCUMENT],
      ],
      [
        ["client_id", DOCUMENT],
        ["client_assertion", "a.b.c"],
        ["client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
      ],
      [
        ["client_assertion", `a.${btoa(JSON.stringify({ iss: DOCUMENT }))}.c`],
        ["client_assertion_type", "x"],
      ],
    ];
    for (const client of forms) {
      for (const form of [
        [["grant_type", "refresh_token"], ["refresh_token", "owner:x:y"], ...client],
        [["token", "owner:x:y"], ...client],
      ] as [string, string][][]) {
        for (const path of ["/token", "/revoke"]) await bench.send(path, { form });
      }
    }
    for (const headers of [basic(`${DOCUMENT}:x`), basic(`${encodeURIComponent(DOCUMENT)}:x`), basic(`${DOCUMENT}:x`, "\u00a0")]) {
      await bench.send("/token", { form: { grant_type: "refresh_token", refresh_token: "owner:x:y", client_id: "" }, headers });
    }
    expect(fetched).toEqual([]);
  }));

test("[OA56] a token that is presented by a repeated parameter is refused, and stays noticed", () =>
  withPair(async (bench) => {
    const { clientId, ...first } = await bench.connect();
    const steal = (token: string) =>
      bench.send("/token", {
        form: [
          ["grant_type", "refresh_token"],
          ["client_id", clientId],
          ["client_id", ""],
          ["refresh_token", token],
        ],
      });
    // An empty id is none, so this is the very request of the client, with its memory and its end.
    const stolen = (await (await steal(first.refresh_token)).json()) as Tokens;
    expect(await (await bench.refresh(clientId, first.refresh_token)).json()).toEqual(stolen);
    const next = (await (await bench.refresh(clientId, stolen.refresh_token)).json()) as Tokens;
    bench.pass(2 * MINUTE);
    const changes = bench.grantChanges;
    expect((await steal(first.refresh_token)).status).toBe(400);
    expect([(await bench.refresh(clientId, next.refresh_token)).status, bench.issuer.grants()]).toEqual([400, []]);
    expect(bench.grantChanges).toBe(changes + 1);
    const twice = await bench.send("/token", {
      form: [
        ["grant_type", "refresh_token"],
        ["client_id", clientId],
        ["client_id", clientId],
      ],
    });
    expect([twice.status, await errorOf(twice)]).toEqual([400, "invalid_request"]);
  }));

test("[OA2] [OA60] assertions are not offered, and refused", () =>
  withPair(async (bench) => {
    const { clientId, refresh_token } = await bench.connect();
    for (const changes of [{ client_assertion: "a.b.c" }, { client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" }]) {
      const answer = await bench.refresh(clientId, refresh_token, changes);
      expect([answer.status, await errorOf(answer)]).toEqual([401, "invalid_client"]);
    }
    expect((await bench.refresh(clientId, refresh_token)).status).toBe(200);
  }));

test("[OA54] [OA100] a remembered answer is not for the secret of before", () =>
  withPair(async (bench) => {
    const opened = await bench.open(ID);
    const code = (await bench.decide(opened)).searchParams.get("code") ?? "";
    const tokens = (await (await bench.exchange(ID, code, { client_secret: SECRET })).json()) as Tokens;
    expect((await bench.refresh(ID, tokens.refresh_token, { client_secret: SECRET })).status).toBe(200);
    expect((await bench.refresh(ID, tokens.refresh_token, { client_secret: SECRET })).status).toBe(200);
    bench.deposits = { ...(bench.deposits as Deposits), client: await pairOf("another-secret-0123456789") };
    const answer = await bench.refresh(ID, tokens.refresh_token, { client_secret: SECRET });
    expect([answer.status, await errorOf(answer)]).toEqual([401, "invalid_client"]);
  }));
