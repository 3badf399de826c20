import { describe, expect, test } from "vitest";
import { HOME, ORIGIN, REDIRECT, RESOURCE, withIssuer, type Bench } from "./bench.workerd.ts";

const locationOf = (response: Response) => new URL(response.headers.get("location") ?? "none:");

describe("/authorize", () => {
  test("[OA20] an error before client and address are known stays here", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const requests: [string, Record<string, string | undefined>][] = [
        ["nobody", {}],
        [clientId, { client_id: undefined }],
        [clientId, { redirect_uri: undefined }],
        [clientId, { redirect_uri: "https://evil.example/cb" }],
        [clientId, { redirect_uri: `${REDIRECT}?x=1` }],
        [clientId, { redirect_uri: `${REDIRECT}/` }],
        [clientId, { redirect_uri: "https://claude.ai.evil.example/api/mcp/auth_callback" }],
        [clientId, { redirect_uri: "javascript:alert(1)" }],
        [clientId, { redirect_uri: "//claude.ai/api/mcp/auth_callback" }],
        [clientId, { state: "x".repeat(9000) }],
      ];
      for (const [client, changes] of requests) {
        const { response, html } = await bench.open(client, changes);
        expect([JSON.stringify(changes).slice(0, 80), response.headers.get("location")]).toEqual([JSON.stringify(changes).slice(0, 80), null]);
        expect([400, 414]).toContain(response.status);
        expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
        expect(html).not.toContain("javascript:alert");
      }
      expect(bench.count("pending_authorizations")).toBe(0);
    }));

  test("[OA20] an error after that goes back with state and iss", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const errors: [Record<string, string | undefined>, string][] = [
        [{ response_type: undefined }, "invalid_request"],
        [{ response_type: "token" }, "unsupported_response_type"],
        [{ resource: "https://other.example/mcp" }, "invalid_target"],
      ];
      for (const [changes, error] of errors) {
        const target = locationOf((await bench.open(clientId, changes)).response);
        expect(target.origin + target.pathname).toBe(REDIRECT);
        expect(Object.fromEntries(target.searchParams)).toMatchObject({ error, state: "s t&a=te", iss: ORIGIN });
      }
    }));

  test("[OA21] loopback addresses: any port, any of its names, and the client's own spelling back", () =>
    withIssuer(async (bench) => {
      for (const [registered, used] of [
        ["http://localhost:8787/callback", "http://127.0.0.1:50123/callback"],
        ["http://127.0.0.1/callback", "http://localhost:50123/callback"],
        ["http://localhost/callback", "http://localhost:50123/callback"],
        ["http://[::1]/callback", "http://localhost:50123/callback"],
      ] as const) {
        const clientId = await bench.register({ redirect_uris: [registered] });
        const target = await bench.decide(await bench.open(clientId, { redirect_uri: used }));
        expect(target.href.startsWith(`${used}?code=`)).toBe(true);
        const code = target.searchParams.get("code") ?? "";
        expect((await bench.exchange(clientId, code, { redirect_uri: used.replace("50123", "50124") })).status).toBe(400);
        expect((await bench.exchange(clientId, code, { redirect_uri: used })).status).toBe(200);
        const denied = await bench.open(clientId, { redirect_uri: used, response_type: "token" });
        expect(denied.response.headers.get("location")?.startsWith(`${used}?error=`)).toBe(true);
        expect((await bench.open(clientId, { redirect_uri: used.replace("/callback", "/other") })).response.status).toBe(400);
        expect((await bench.open(clientId, { redirect_uri: used.replace("http:", "https:") })).response.status).toBe(400);
      }
    }));

  test("[OA22] a public client needs a proper S256 challenge", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      for (const changes of [
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge: undefined },
        { code_challenge_method: "plain" },
        { code_challenge_method: undefined },
        { code_challenge_method: "S512" },
        { code_challenge: "short" },
        { code_challenge: "=".repeat(43) },
      ]) {
        const target = locationOf((await bench.open(clientId, changes)).response);
        expect(Object.fromEntries(target.searchParams)).toMatchObject({ error: "invalid_request", state: "s t&a=te", iss: ORIGIN });
      }
    }));

  test("[OA23] a repeated parameter is refused", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      for (const name of ["client_id", "redirect_uri", "state", "code_challenge", "scope", "x"]) {
        const response = await bench.send(`/authorize?${await bench.query(clientId, { x: "1" })}&${name}=https://evil.example/`);
        expect([name, response.status, response.headers.get("location")]).toEqual([name, 400, null]);
      }
    }));

  test("[OA24] resources of ours are one audience", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      for (const resource of [undefined, RESOURCE, ORIGIN, `${ORIGIN}/`]) {
        const target = await bench.decide(await bench.open(clientId, { resource }));
        const response = await bench.exchange(clientId, target.searchParams.get("code") ?? "", resource === undefined ? {} : { resource });
        const { access_token } = (await response.json()) as { access_token: string };
        expect((await bench.mcp(`Bearer ${access_token}`)).status).toBe(200);
      }
      for (const resource of ["https://evil.example/mcp", `${ORIGIN}/other`, "x", "http://relay.example/mcp"]) {
        expect(locationOf((await bench.open(clientId, { resource })).response).searchParams.get("error")).toBe("invalid_target");
      }
    }));

  test("[OA25] every scope is narrowed to mcp", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      for (const scope of [undefined, "mcp offline_access", "admin everything", "openid"]) {
        const opened = await bench.open(clientId, { scope });
        expect(opened.response.status).toBe(200);
        const target = await bench.decide(opened);
        const response = await bench.exchange(clientId, target.searchParams.get("code") ?? "", scope === undefined ? {} : { scope });
        expect(await response.json()).toMatchObject({ scope: "mcp", refresh_token: expect.any(String) });
      }
    }));

  test("[OA26] the page grants nothing and trusts nobody", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register({ client_name: `"><img src=x onerror=alert(1)>\u202e'` });
      const { response, html } = await bench.open(clientId, { scope: '<script>alert("s")</script>' });
      expect(html).not.toMatch(/<form|<button|<input|<img|<iframe/);
      expect(html.match(/<script/g)).toHaveLength(1);
      expect(html).toContain("<b>claude.ai</b>");
      expect(html).toMatch(/asked for<\/dt><dd>&#60;script&#62;alert/);
      expect(html).toMatch(/would get<\/dt><dd>mcp</);
      expect((await bench.open(clientId)).html).toMatch(/asked for<\/dt><dd>mcp<\/dd>\s*<dt>It would get<\/dt><dd>mcp</);
      const policy = response.headers.get("content-security-policy") ?? "";
      const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
      expect(html).toContain(`<script nonce="${nonce}">`);
      for (const rule of ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
        expect(policy).toContain(rule);
      }
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      expect(response.headers.get("x-frame-options")).toBe("DENY");
      const again = await bench.open(clientId);
      expect(again.response.headers.get("content-security-policy")).not.toBe(policy);
    }));

  test("[OA26] names the client that was set up by hand by its id, and the request as the terminal does", () =>
    withIssuer(
      async (bench) => {
        const { html, id } = await bench.open("pimcp-x");
        expect(html).toContain("The app you set up by hand, <b>pimcp-x</b>,");
        expect(html).toContain(`<dt>Request</dt><dd>${id.replace(/^-+/, "").slice(0, 8)}</dd>`);
        const refused = await bench.open("pimcp-x", { redirect_uri: "https://other.example/" });
        expect(refused.html).toContain("https://other.example/, which is not among the addresses named on the workstation");
      },
      { client: { id: "pimcp-x", sha256: "0".repeat(64), redirects: [REDIRECT] } },
    ));

  test("[OA27] HEAD and prefetches leave no trace", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const query = await bench.query(clientId);
      for (const send of [{ method: "HEAD" }, { headers: { "sec-purpose": "prefetch;prerender" } }, { headers: { purpose: "prefetch" } }]) {
        const response = await bench.send(`/authorize?${query}`, send);
        expect(response.headers.get("set-cookie")).toBeNull();
      }
      expect([bench.count("pending_authorizations"), bench.changes]).toEqual([0, 0]);
    }));

  test("[OA28] the cookie fits the scheme and the store has only its hash", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const secure = await bench.open(clientId);
      expect(secure.response.headers.get("set-cookie")).toMatch(
        /^__Host-pi-wait-[\w-]{12}=[\w-]{32}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=660$/,
      );
      const local = await bench.open(clientId, {}, { origin: "http://127.0.0.1:8777" });
      expect(local.response.headers.get("set-cookie")).toMatch(
        /^pi-wait-[\w-]{12}=[\w-]{32}; Path=\/authorize; HttpOnly; SameSite=Lax; Max-Age=660$/,
      );
      expect(local.cookie.split("=")[0]).not.toBe((await bench.open(clientId, {}, { origin: "http://127.0.0.1:8777" })).cookie.split("=")[0]);
      const stored = JSON.stringify(bench.storage.sql.exec("SELECT * FROM pending_authorizations").toArray());
      for (const { cookie } of [secure, local]) expect(stored).not.toContain(cookie.split("=")[1]);
    }));

  test("[OA29] an issuer on loopback alone needs no code", () =>
    withIssuer(
      async (bench) => {
        const clientId = await bench.register();
        const local = await bench.open(clientId, {}, { origin: "http://localhost:8777" });
        expect(local.html).not.toContain('id="code"');
        await bench.look(local);
        expect(bench.issuer.pending()[0]?.codeRequired).toBe(false);
        expect((await bench.decide(local, { code: undefined })).searchParams.get("iss")).toBe("http://localhost:8777");
      },
      { origins: ["http://127.0.0.1:8777", "http://localhost:8777", "http://[::1]:8777"] },
    ));

  test("[OA29] an issuer with one public origin asks for the code at every one of them", () =>
    withIssuer(
      async (bench) => {
        const clientId = await bench.register();
        for (const origin of [ORIGIN, "http://127.0.0.1:8777", "http://localhost:8777"]) {
          const opened = await bench.open(clientId, {}, { origin });
          expect(opened.code).toMatch(/^\d{6}$/);
          await bench.look(opened);
          expect(bench.issuer.pending().at(-1)?.codeRequired).toBe(true);
          expect(JSON.stringify(bench.issuer.pending())).not.toContain(opened.code);
          expect(await bench.issuer.decide({ id: opened.id, allow: true })).toEqual({ outcome: "wrong_code" });
        }
      },
      { origins: ["http://127.0.0.1:8777", "http://localhost:8777", ORIGIN] },
    ));

  test("[OA30] an absent workstation is told of at once", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      expect((await bench.open(clientId)).html).toContain('class="away" hidden');
      bench.connected = false;
      const opened = await bench.open(clientId);
      expect(opened.html).toContain('class="away">The workstation is not connected');
      bench.connected = true;
      expect(await (await bench.look(opened)).text()).toContain('class="away" hidden');
    }));

  test("[OA31] a browser without scripts reloads and is redirected", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const opened = await bench.open(clientId);
      expect(opened.html).toContain(`<noscript><meta http-equiv="refresh" content="5;url=/authorize/wait?id=${opened.id}&#38;page=1"></noscript>`);
      const waiting = await bench.look(opened);
      expect([waiting.status, waiting.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(await waiting.text()).toContain(opened.code.slice(0, 3));
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      const done = await bench.look(opened);
      expect([done.status, locationOf(done).searchParams.has("code")]).toEqual([302, true]);
      const over = await bench.look(opened);
      expect([over.status, over.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    }));

  test("[OA33] a popup keeps its opener", () =>
    withIssuer(async (bench) => {
      const { response } = await bench.open(await bench.register());
      expect(response.headers.get("cross-origin-opener-policy")).toBeNull();
    }));

  test("[OA32] sixty sign-ins an hour from one address, the own one excepted", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const openAs = async (ip: string, times: number) => {
        let last = 0;
        for (let at = 0; at < times; at += 1) last = (await bench.open(clientId, {}, { ip })).response.status;
        return last;
      };
      expect(await openAs("198.51.100.9", 60)).toBe(200);
      expect(await openAs("198.51.100.9", 1)).toBe(429);
      expect(await openAs(HOME, 61)).toBe(200);
    }));

  test("[OA34] what no window shows is refused and displaces nobody", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const own = await bench.open(clientId);
      const counted = bench.count("counters");
      for (const headers of [
        { "sec-fetch-dest": "image", "sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site" },
        { "sec-fetch-dest": "empty", "sec-fetch-mode": "cors" },
        { "sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate" },
        { "sec-fetch-dest": "script" },
        { "sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site" },
        { "sec-fetch-dest": "" },
      ]) {
        for (const ip of [HOME, "198.51.100.1"]) {
          const { response, id } = await bench.open(clientId, {}, { headers, ip });
          expect([response.status, id, response.headers.get("set-cookie")]).toEqual([403, "", null]);
          expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
        }
      }
      expect([bench.count("pending_authorizations"), bench.count("counters")]).toEqual([1, counted]);
      const shown = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site", "sec-fetch-user": "?1" };
      for (const headers of [shown, { "sec-fetch-mode": "cors" }]) {
        expect((await bench.open(clientId, {}, { headers, ip: "198.51.100.1" })).response.status).toBe(200);
      }
      expect((await bench.decide(own)).searchParams.has("code")).toBe(true);
    }));
});

describe("waiting and deciding", () => {
  test("[OA47] who starts again in the same browser gives the earlier sign-in up, and nobody else's", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const other = await bench.register();
      const cookieOf = (...all: { readonly cookie: string }[]) => ({ headers: { cookie: all.map(({ cookie }) => cookie).join("; ") } });
      const first = await bench.open(clientId);
      await bench.look(first);
      const elsewhere = await bench.open(clientId, {}, { ip: "198.51.100.9" });
      await bench.look(elsewhere);
      const ofOther = await bench.open(other, {}, cookieOf(first));
      await bench.look(ofOther);
      expect(bench.issuer.pending().map(({ id }) => id)).toEqual([first.id, elsewhere.id, ofOther.id]);
      const again = await bench.open(clientId, {}, cookieOf(first, ofOther));
      await bench.look(again);
      expect(bench.issuer.pending().map(({ id }) => id)).toEqual([elsewhere.id, ofOther.id, again.id]);
      expect((await bench.collect(first)).searchParams.get("error")).toBe("temporarily_unavailable");
      await bench.open(clientId, {}, { headers: { cookie: `${again.cookie}x` }, ip: "198.51.100.10" });
      expect(bench.issuer.pending().map(({ id }) => id)).toContain(again.id);
    }));

  test("[OA30] a page that waits learns at once that the workstation has gone or come", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      await bench.look(opened);
      for (const connected of [false, true]) {
        const asked = bench.poll(opened);
        bench.connected = connected;
        // The question is put first; it would be answered after 20 s otherwise.
        await waitFor(() => bench.issuer.agentMoved(), asked);
        expect(await (await asked).json()).toEqual({ waiting: true, away: !connected });
      }
    }));

  test("[OA35] the card rises with the cookie", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      await bench.poll(opened, "");
      expect([bench.issuer.pending().length, bench.changes]).toEqual([0, 0]);
      expect(await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code })).toEqual({ outcome: "gone" });
      const waiting = bench.poll(opened);
      await expect.poll(() => bench.issuer.pending().length).toBe(1);
      expect(bench.changes).toBe(1);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      expect([bench.issuer.pending().length, bench.changes]).toEqual([0, 2]);
      expect(((await (await waiting).json()) as { redirect: string }).redirect).toContain("code=");
    }));

  test("[OA36] another browser gets nothing", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const opened = await bench.open(clientId);
      const other = await bench.open(clientId);
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      const name = opened.cookie.split("=")[0];
      for (const cookie of ["", other.cookie, `${name}=`, `${name}=${"a".repeat(32)}`, `x${opened.cookie}`]) {
        const response = await bench.poll(opened, cookie);
        expect([response.status, await response.text()]).toEqual([403, expect.not.stringContaining("claude.ai")]);
        expect((await bench.look(opened, cookie)).status).toBe(403);
      }
      expect((await bench.poll({ ...opened, id: "guessed" })).status).toBe(404);
      expect((await bench.collect(opened)).searchParams.has("code")).toBe(true);
    }));

  test("[OA37] a wrong code ends the request", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      for (const code of ["000000x", "", undefined, "\u00e923456", "a".repeat(32)]) {
        const opened = await bench.open(clientId);
        await bench.look(opened);
        expect(await bench.issuer.decide({ id: opened.id, allow: true, code })).toEqual({ outcome: "wrong_code" });
        expect(await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code })).toEqual({ outcome: "gone" });
        expect(bench.issuer.pending()).toEqual([]);
        expect((await bench.collect(opened)).searchParams.get("error")).toBe("access_denied");
      }
      const wide = await bench.open(clientId);
      const typed = wide.code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
      expect((await bench.decide(wide, { code: typed })).searchParams.has("code")).toBe(true);
      const spaced = await bench.open(clientId);
      const target = await bench.decide(spaced, { code: ` ${spaced.code.slice(0, 3)} ${spaced.code.slice(3)} ` });
      expect(target.searchParams.has("code")).toBe(true);
    }));

  test("[OA38] a denial goes back with state and iss", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      await bench.look(opened);
      expect(await bench.issuer.decide({ id: opened.id, allow: false })).toEqual({ outcome: "denied" });
      const response = await bench.poll(opened);
      expect(response.headers.get("set-cookie")).toContain("Max-Age=0");
      const target = new URL(((await response.json()) as { redirect: string }).redirect);
      expect(Object.fromEntries(target.searchParams)).toMatchObject({ error: "access_denied", state: "s t&a=te", iss: ORIGIN });
    }));

  test("[OA39] two of one address wait, eight in all, and the own address has a place", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const own = await bench.open(clientId);
      const open = async (ip: string) => {
        bench.pass(1);
        return bench.open(clientId, {}, { ip });
      };
      const first = await open("198.51.100.1");
      const second = await open("198.51.100.1");
      await bench.look(first);
      const changes = bench.changes;
      await open("198.51.100.1");
      expect(bench.changes).toBe(changes + 1);
      const displaced = await bench.collect(first);
      expect(Object.fromEntries(displaced.searchParams)).toMatchObject({ error: "temporarily_unavailable", state: "s t&a=te", iss: ORIGIN });
      for (let at = 10; at < 40; at += 1) await open(`198.51.100.${at}`);
      expect(bench.count("pending_authorizations WHERE state = 'waiting'")).toBe(8);
      expect((await bench.collect(second)).searchParams.get("error")).toBe("temporarily_unavailable");
      expect((await bench.decide(own)).searchParams.has("code")).toBe(true);
    }));

  test("[OA39] one network cannot take the place of somebody elsewhere", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const elsewhere = await bench.open(clientId, {}, { ip: "198.51.100.7" });
      for (const ip of [...Array.from({ length: 40 }, (_, at) => `2001:db8:1:${at.toString(16)}::1`), "192.0.2.1", "192.0.2.2"]) {
        bench.pass(1);
        await bench.open(clientId, {}, { ip });
      }
      expect((await bench.decide(elsewhere)).searchParams.has("code")).toBe(true);
    }));

  test("[OA40] after ten minutes nothing can be decided", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      await bench.look(opened);
      bench.pass(10 * 60_000);
      expect(bench.issuer.pending()).toEqual([]);
      expect(await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code })).toEqual({ outcome: "gone" });
      expect((await bench.collect(opened)).searchParams.get("error")).toBe("access_denied");
    }));

  test("[OA41] the code is minted when it is collected, once", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      expect(bench.count("oauth_kv WHERE key LIKE 'grant:%'")).toBe(0);
      const both = await Promise.all([bench.poll(opened), bench.poll(opened)]);
      expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
      expect(bench.count("oauth_kv WHERE key LIKE 'grant:%'")).toBe(1);
    }));

  test("[OA41] more open questions than one person's tabs wake the oldest", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      const polls = Array.from({ length: 6 }, () => bench.poll(opened));
      expect(await (await Promise.race(polls)).json()).toEqual({ waiting: true, away: false });
      await bench.issuer.decide({ id: opened.id, allow: false });
      expect((await Promise.all(polls)).filter(({ status }) => status === 200).length).toBeGreaterThan(1);
    }));

  test("[OA42] a decision outlives the object's memory", () =>
    withIssuer(async (bench) => {
      const opened = await bench.open(await bench.register());
      await bench.look(opened);
      expect(anew(bench).issuer.pending()).toEqual(bench.issuer.pending());
      await anew(bench).issuer.decide({ id: opened.id, allow: true, code: opened.code });
      expect((await anew(bench).collect(opened)).searchParams.has("code")).toBe(true);
    }));

  test("[OA43] whether it was allowed before goes by client and redirect host", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register({ redirect_uris: [REDIRECT, "https://claude.com/cb"] });
      await bench.decide(await bench.open(clientId));
      await bench.look(await bench.open(clientId));
      expect(bench.issuer.pending()[0]?.allowedBefore).toBe(true);
      await bench.look(await bench.open(clientId, { redirect_uri: "https://claude.com/cb" }));
      await bench.look(await bench.open(await bench.register(), {}, { ip: "198.51.100.1" }));
      expect(bench.issuer.pending().map((card) => card.allowedBefore)).toEqual([true, false, false]);
    }));

  test("[OA44] nothing sent while waiting changes what is granted", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const opened = await bench.open(clientId);
      await bench.look(opened);
      await bench.issuer.decide({ id: opened.id, allow: true, code: opened.code });
      const swap = new URLSearchParams({
        client_id: "other",
        redirect_uri: "https://evil.example/",
        scope: "admin",
        resource: "https://evil.example/mcp",
        state: "evil",
      });
      const response = await bench.send(`/authorize/wait?id=${opened.id}&${swap.toString()}`, { headers: { cookie: opened.cookie } });
      const target = new URL(((await response.json()) as { redirect: string }).redirect);
      expect([target.origin, target.searchParams.get("state")]).toEqual(["https://claude.ai", "s t&a=te"]);
      expect((await bench.exchange(clientId, target.searchParams.get("code") ?? "")).status).toBe(200);
    }));

  test("[OA45] the card says from where it was opened", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      const headers = { "cf-ipcountry": "NZ", "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0", "x-forwarded-for": HOME };
      await bench.look(await bench.open(clientId, {}, { ip: "198.51.100.1", headers }));
      expect(bench.issuer.pending()[0]?.opened).toMatchObject({
        address: "198.51.100.1",
        country: "NZ",
        browser: "Firefox on Linux",
        sameAddress: false,
      });
      bench.home = undefined;
      await bench.look(await bench.open(clientId, {}, { ip: "198.51.100.2" }));
      expect(bench.issuer.pending()[1]?.opened.sameAddress).toBeNull();
    }));

  test("[OA46] who has no address is not the workstation, even if that has none either", () =>
    withIssuer(async (bench) => {
      const clientId = await bench.register();
      for (const [home, ip] of [
        [HOME, undefined],
        ["", undefined],
        [undefined, undefined],
        ["127.0.0.1", "127.0.0.1"],
        ["127.0.0.1", "::1"],
        ["::1", "::1"],
      ]) {
        bench.home = home;
        const opened = await bench.open(clientId, {}, { ip });
        await bench.look(opened);
        expect(bench.issuer.pending().at(-1)?.opened).toMatchObject({ address: "unknown", sameAddress: null });
        expect(bench.issuer.pending().length).toBeLessThanOrEqual(2);
        bench.pass(1);
      }
      // A stranger's haste keeps nobody out, and has nothing fetched without end.
      for (let at = 0; at < 70; at += 1) await bench.send(`/authorize?x=${at}`, { ip: undefined });
      for (let at = 0; at < 40; at += 1) await bench.register({}, { ip: undefined });
      expect((await bench.open(await bench.register({}, { ip: undefined }), {}, { ip: undefined })).response.status).toBe(200);
      const fetches = await Promise.all(Array.from({ length: 70 }, () => bench.open("https://127.0.0.1/doc", {}, { ip: undefined })));
      expect(fetches.filter(({ response }) => response.status === 429)).toHaveLength(10);
      expect((await bench.open(clientId, {}, { ip: "127.0.0.1" })).response.status).toBe(200);
    }));

  test("[OA46] an issuer on loopback alone knows its own machine", () =>
    withIssuer(
      async (bench) => {
        bench.home = "127.0.0.1";
        await bench.look(await bench.open(await bench.register(), {}, { ip: "127.0.0.1", origin: "http://127.0.0.1:8777" }));
        expect(bench.issuer.pending()[0]?.opened).toMatchObject({ address: "127.0.0.1", sameAddress: true });
      },
      { origins: ["http://127.0.0.1:8777"] },
    ));
});

/** The same storage after the object slept. */
function anew(bench: Bench): Bench {
  if (bench.deposits === undefined) throw new Error("deposits expected");
  return new (bench.constructor as typeof Bench)(bench.storage, bench.deposits);
}

/** Rings until the question that is under way is answered. */
async function waitFor(ring: () => void, asked: Promise<unknown>): Promise<void> {
  const ringing = setInterval(ring, 10);
  await asked.finally(() => clearInterval(ringing));
}
