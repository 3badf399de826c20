import { describe, expect, test } from "vitest";
import { errorOf, HOME, ORIGIN, REDIRECT, withIssuer, type Bench, type Opened } from "./bench.workerd.ts";
import { leavesNoTrace } from "./stored.workerd.ts";

const STRANGER = { ip: "198.51.100.66" };

/** Where no code may ever go, for a client that registered `REDIRECT`. */
const ADDRESSES = [
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "\tjavascript:alert(1)",
  "\njavascript:alert(1)",
  "java\tscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "blob:https://claude.ai/1",
  "file:///etc/passwd",
  "mailto:a@evil.example",
  `${REDIRECT}#f`,
  `${REDIRECT}#`,
  "https://claude.ai@evil.example/api/mcp/auth_callback",
  "https://good@evil.example/",
  "http://localhost:8090%25@evil.example/",
  "https://claude.ai.evil.example/api/mcp/auth_callback",
  "//evil.example/",
  "\\\\evil.example",
  "https:\\\\evil.example",
  "http://[fe80::1%25eth0]/cb",
  "https://xn--clude-9wa.ai/api/mcp/auth_callback",
  "https://cl\u0430ude.ai/api/mcp/auth_callback",
  `${REDIRECT}?next=https://evil.example/`,
  `${REDIRECT}/../../evil`,
  "https://claude.ai:8443/api/mcp/auth_callback",
  "http://claude.ai/api/mcp/auth_callback",
  "http://evil.example/api/mcp/auth_callback",
  "https://127.0.0.1/api/mcp/auth_callback",
];

describe("redirect addresses", () => {
  test.for(ADDRESSES)("[OA20] [OA21] [OA136] %j gets nothing of a client that never registered it", (redirect_uri) =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const code = (await bench.decide(await bench.open(clientId))).searchParams.get("code") ?? "";
      await leavesNoTrace(bench, async () => {
        const { response, html } = await bench.open(clientId, { redirect_uri });
        expect([response.status, response.headers.get("location"), response.headers.get("set-cookie")]).toEqual([400, null, null]);
        expect(html).not.toContain("<script>alert");
        const exchange = await bench.exchange(clientId, code, { redirect_uri });
        expect([exchange.status, await errorOf(exchange)]).toEqual([400, "invalid_grant"]);
      });
      expect((await bench.exchange(clientId, code)).status).toBe(200);
    }),
  );

  test("[OA21] another port on loopback is no attack", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register({ redirect_uris: ["http://127.0.0.1:1/cb"] });
      expect((await bench.open(clientId, { redirect_uri: "http://127.0.0.1:65000/cb" })).response.status).toBe(200);
    }));
});

describe("between the page and the decision", () => {
  test.for<[string, string]>([
    ["client_id", "other"],
    ["redirect_uri", "https://evil.example/"],
    ["scope", "admin"],
    ["resource", "https://evil.example/mcp"],
    ["state", "evil"],
    ["code_challenge", "e".repeat(43)],
  ])("[OA44] another %s changes nothing", ([name, value]) =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const opened = await bench.open(clientId);
      await bench.look(opened);
      const card = bench.issuer.pending();
      await leavesNoTrace(bench, async () => {
        const swap = new URLSearchParams({ id: opened.id, page: "1", [name]: value });
        await bench.send(`/authorize/wait?${swap.toString()}`, { headers: { cookie: opened.cookie } });
        expect(
          (await bench.send(`/authorize/wait?${swap.toString()}`, { method: "POST", form: { [name]: value }, headers: { cookie: opened.cookie } }))
            .status,
        ).toBe(405);
      });
      expect(bench.issuer.pending()).toEqual(card);
      const target = await bench.decide(opened);
      expect([target.origin + target.pathname, target.searchParams.get("state")]).toEqual([REDIRECT, "s t&a=te"]);
      expect(await (await bench.exchange(clientId, target.searchParams.get("code") ?? "")).json()).toMatchObject({ scope: "mcp" });
    }),
  );

  test("[OA36] [OA41] [OA136] an approval's id that is guessed, replayed or another tab's opens nothing", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const [one, two] = [await bench.open(clientId), await bench.open(clientId)];
      await bench.look(one);
      await bench.look(two);
      await leavesNoTrace(bench, async () => {
        for (const id of ["", "guessed", one.id.toUpperCase(), `${one.id}%00`, one.id.slice(1), "a".repeat(9_000), "' OR 1=1 --"]) {
          expect((await bench.poll({ ...one, id: encodeURIComponent(id) })).status).toBe(404);
          expect(await bench.issuer.decide({ id, allow: true, code: one.code })).toEqual({ outcome: "gone" });
        }
        expect((await bench.poll(two, one.cookie)).status).toBe(403);
      });
      // Each tab has its own code (the same one time in a million): the other's is a wrong one, and ends the request.
      const typed = one.code === two.code ? "" : one.code;
      expect(await bench.issuer.decide({ id: two.id, allow: true, code: typed })).toEqual({ outcome: "wrong_code" });
      expect((await bench.decide(one)).searchParams.has("code")).toBe(true);
      await leavesNoTrace(bench, async () => {
        expect((await bench.poll(one)).status).toBe(404);
        expect((await bench.look(one)).status).toBe(404);
        expect(await bench.issuer.decide({ id: one.id, allow: true, code: one.code })).toEqual({ outcome: "gone" });
      });
    }));

  test("[OA36] [OA136] a flood of cookies is read in no time and opens nothing", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      const name = opened.cookie.split("=")[0] ?? "";
      const flood = Array.from({ length: 2_000 }, (_, at) => `${name}${at}=${"a".repeat(32)}`).join("; ");
      await leavesNoTrace(bench, async () => {
        for (const cookie of [
          flood,
          ";".repeat(100_000),
          "=".repeat(100_000),
          `${name}=${"a".repeat(100_000)}`,
          name,
          `${name}=a; ${opened.cookie}`,
        ]) {
          expect((await bench.poll(opened, cookie)).status).toBe(403);
        }
      });
      expect((await bench.look(opened, `${flood}; ${opened.cookie}`)).status).toBe(200);
    }));
});

describe("a page that opens this one", () => {
  const inBackground: Record<string, string>[] = [
    { "sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site" },
    { "sec-fetch-dest": "frame", "sec-fetch-mode": "navigate" },
    { "sec-fetch-dest": "image", "sec-fetch-mode": "no-cors" },
    { "sec-fetch-dest": "empty", "sec-fetch-mode": "cors", origin: "https://evil.example" },
    { "sec-purpose": "prefetch" },
    { "sec-purpose": "prefetch;prerender" },
    { purpose: "prefetch" },
  ];
  test.for(inBackground)("[OA27] [OA34] [OA136] %o starts nothing", (headers) =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      await leavesNoTrace(bench, async () => {
        const { response } = await bench.open(clientId, {}, { headers });
        expect([403, 503]).toContain(response.status);
        expect(response.headers.get("set-cookie")).toBeNull();
        expect(response.headers.get("x-frame-options")).toBe("DENY");
      });
    }),
  );

  test("[OA26] [OA136] neither a posted form nor a request for the decision decides", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      await bench.look(opened);
      const { cookie } = opened;
      await leavesNoTrace(bench, async () => {
        for (const path of ["/authorize", `/authorize/wait?id=${opened.id}`]) {
          for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
            expect((await bench.send(path, { method, form: { id: opened.id, allow: "true", code: opened.code }, headers: { cookie } })).status).toBe(
              405,
            );
          }
        }
        const asked = await bench.send(`/authorize/wait?id=${opened.id}&page=1&allow=true&code=${opened.code}&decision=allow`, {
          headers: { cookie },
        });
        expect(await asked.text()).toContain("This page only waits.");
      });
      expect(bench.issuer.pending()).toHaveLength(1);
    }));

  test.for<[string, Record<string, string | undefined>]>([
    ["client_id", { client_id: '"><script>alert(1)</script>' }],
    ["redirect_uri", { redirect_uri: "https://evil.example/<script>alert(1)</script>" }],
    ["response_type", { response_type: "<script>alert(1)</script>" }],
    ["scope", { scope: "<script>alert(1)</script>" }],
    ["error_description", { redirect_uri: undefined, error: "x", error_description: "<script>alert(1)</script>" }],
    ["name of a parameter", { "<script>alert(1)</script>": "1" }],
  ])("[OA26] a %s with script in it is text, or not shown", ([_name, changes]) =>
    withIssuer(async (bench) => {
      const { response, html } = await bench.open(await bench.register(), changes);
      expect(html).not.toContain("<script>alert");
      expect(response.headers.get("content-security-policy") ?? "default-src 'none'").toContain("default-src 'none'");
      expect(response.headers.get("location") ?? "").not.toMatch(/[<>"]/);
      const repeated = await bench.send(`/authorize?%3Cscript%3Ealert(1)=1&%3Cscript%3Ealert(1)=1&error_description=%3Cscript%3Ealert(1)`);
      expect([repeated.status, await repeated.text()]).toEqual([400, expect.not.stringContaining("<script>alert")]);
      const waiting = await bench.send(`/authorize/wait?id=%3Cscript%3Ealert(1)&page=1&error_description=%3Cscript%3Ealert(1)`);
      expect([waiting.status, await waiting.text()]).toEqual([404, expect.not.stringContaining("<script>alert")]);
      for (const path of ["/token", "/revoke", "/register"]) {
        const answer = await bench.send(`${path}?error_description=<script>alert(1)</script>`, { form: { grant_type: "<script>alert(1)</script>" } });
        expect(answer.headers.get("content-type")).toContain("application/json");
        expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      }
    }),
  );
});

describe("phishing with a genuine client", () => {
  const card = (bench: Bench, opened: Opened) => bench.issuer.pending().find(({ id }) => id === opened.id);

  test("[OA37] [OA43] [OA45] a stranger adds the relay to his own account: the person has no code to type, and a guess ends it", () =>
    withIssuer(async (bench) => {
      const { clientId } = await bench.connect(); // The person's own, allowed before: even the same client and address.
      const opened = await bench.open(clientId, {}, { ...STRANGER, headers: { "cf-ipcountry": "XX" } });
      await bench.look(opened);
      const shown = card(bench, opened);
      expect(shown).toMatchObject({ codeRequired: true, redirectHost: "claude.ai", opened: { address: STRANGER.ip, sameAddress: false } });
      expect(JSON.stringify(shown)).not.toContain(opened.code);
      // Clicked away without a code: nothing.
      expect(await bench.issuer.decide({ id: opened.id, allow: true })).toEqual({ outcome: "wrong_code" });
      expect(await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code })).toEqual({ outcome: "gone" });
      const target = await bench.collect(opened);
      expect([target.searchParams.get("error"), target.searchParams.has("code")]).toEqual(["access_denied", false]);
      const second = await bench.open(clientId, {}, STRANGER);
      await bench.look(second);
      const guess = second.code === "123456" ? "654321" : "123456";
      expect(await bench.issuer.decide({ id: second.id, allow: true, code: guess })).toEqual({ outcome: "wrong_code" });
      expect((await bench.collect(second)).searchParams.has("code")).toBe(false);
    }));

  test("[OA43] [OA45] a link sent to the owner: the card names where access would go, and a denial goes there alone", () =>
    withIssuer(async (bench) => {
      await bench.connect(); // Another client that was approved earlier earns this one nothing.
      const evil = "https://collector.evil.example/cb";
      const clientId = await bench.register({ client_name: "Claude", redirect_uris: [evil] }, STRANGER);
      const opened = await bench.open(clientId, { redirect_uri: evil }, { ip: HOME });
      await bench.look(opened);
      expect(card(bench, opened)).toMatchObject({
        redirectHost: "collector.evil.example",
        redirectUri: evil,
        clientName: "Claude",
        allowedBefore: false,
        opened: { sameAddress: true },
      });
      await bench.issuer.decide({ id: opened.id, allow: false });
      const target = await bench.collect(opened);
      expect([target.origin, target.searchParams.get("error"), target.searchParams.get("iss")]).toEqual([
        new URL(evil).origin,
        "access_denied",
        ORIGIN,
      ]);
    }));

  test("[OA20] [OA41] [OA50] a link with a genuine client: the code goes to its registered address, and is worth nothing to who made the link", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const opened = await bench.open(clientId, { code_challenge: "A".repeat(43), state: "of the stranger" });
      const target = await bench.decide(opened);
      expect(target.href.startsWith(`${REDIRECT}?`)).toBe(true);
      const code = target.searchParams.get("code") ?? "";
      const stolen = await bench.register({ redirect_uris: ["https://evil.example/"] }, STRANGER);
      await leavesNoTrace(bench, async () => {
        for (const [client, changes] of [
          [clientId, {}],
          [stolen, {}],
          [stolen, { redirect_uri: "https://evil.example/" }],
        ] as const) {
          const answer = await bench.exchange(client, code, changes, STRANGER);
          expect([answer.status, await errorOf(answer)]).toEqual([400, "invalid_grant"]);
        }
      });
    }));
});
