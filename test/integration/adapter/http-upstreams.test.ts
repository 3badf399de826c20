import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { goodHttpUpstream, webServer } from "../../support/http-upstream.ts";
import { selfSigned } from "../../support/self-signed.ts";
import { httpServer } from "../../support/server-transports.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { transportsUnderTest } from "../../support/upstream-transports.ts";
import { waitUntil } from "../../support/wait-until.ts";

const signal = new AbortController().signal;

/** A program that prints what it is told on its input, and counts its runs in a file. */
function countingScript(print: string): { file: string; runs: () => number } {
  const dir = tempDir();
  const file = join(dir, "program.mjs");
  const runs = join(dir, "runs");
  writeFileSync(runs, "");
  writeFileSync(
    file,
    `import { appendFileSync, readFileSync } from "node:fs"; appendFileSync(${JSON.stringify(runs)}, "x"); const run = readFileSync(${JSON.stringify(runs)}, "utf8").length; ${print}`,
  );
  return { file, runs: () => readFileSync(runs, "utf8").length };
}

describe("Streamable HTTP", () => {
  test.each(["legacy", "auto"] as const)("[UT20] is spoken with the configured headers and token in every request (%s)", async (mode) => {
    const { url, seen } = await goodHttpUpstream();
    const { define, connect } = transportsUnderTest({ env: { PATH: process.env["PATH"], PLACE: new URL(url).host, TOKEN: "t0ken\n" } });
    const { client, call } = await connect(
      define(httpServer("http://${PLACE}/mcp", { headers: { "x-team": "!printf core", "x-user": "$env:USER!" }, bearerToken: "${TOKEN}" })),
      { mode },
    );
    expect(await call("echo", { text: "a" })).toBe("a");
    await client.close();
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen.map(({ headers }) => [headers.get("authorization"), headers.get("x-team"), headers.get("x-user")])).toEqual(
      seen.map(() => ["Bearer t0ken", "core", "!"]),
    );
  });

  test("[UT20] a legacy session is ended at the server when the connection is closed", async () => {
    const { url, seen, sessions } = await goodHttpUpstream();
    const { define, connect } = transportsUnderTest();
    const { client } = await connect(define(httpServer(url)));
    expect(sessions.size).toBe(1);
    await client.close();
    expect(sessions.size).toBe(0);
    expect(seen.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });

  test("[UT21] a server that offers no stream of its own (405) stays what it is", async () => {
    const { url, seen } = await goodHttpUpstream(({ method }) => (method === "GET" ? new Response(null, { status: 405 }) : null));
    const { define, connect } = transportsUnderTest();
    const { call, client } = await connect(define(httpServer(url)));
    await waitUntil("it was asked for a stream", () => seen.some(({ method }) => method === "GET"));
    expect(await call("echo", { text: "a" })).toBe("a");
    expect(await call("echo", { text: "b" })).toBe("b");
    expect(client.getServerVersion()?.name).toBe("good");
  });

  test("[UT22] a variable that is missing in the URL, or a token that is, stops the connection before any request", async () => {
    const { url, requests } = await webServer(() => new Response(null, { status: 500 }));
    const { factory, define } = transportsUnderTest();
    const refused = async (server: ReturnType<typeof httpServer>) => {
      const result = await factory.open(define(server), { signal, wire: "streamable-http" });
      return result.ok ? null : result.error;
    };
    expect(await refused(httpServer(`${url}?key=\${API_KEY}`))).toEqual({
      kind: "config",
      message: '"url" needs $API_KEY, which is not set; set it where this program is started, and start it again.',
    });
    expect(await refused(httpServer("ftp://example.com"))).toMatchObject({ kind: "config", message: '"url" must be an http or https address.' });
    expect((await refused(httpServer(url, { bearerTokenEnv: "NO_TOKEN" })))?.message).toContain("$NO_TOKEN, which is not set");
    expect((await refused(httpServer(url, { auth: "bearer" })))?.message).toContain('"auth" is "bearer", but there is no');
    for (const bearerToken of ["!printf 'a warning\\nsecret'", "secret\u2026"]) {
      const refusal = await refused(httpServer(url, { bearerToken }));
      expect(refusal).toMatchObject({ kind: "config", message: expect.stringContaining("The bearer token cannot be sent") as string });
      expect(refusal?.message).not.toContain("secret");
    }
    expect((await refused(httpServer(url, { headers: { "x-a": "b\nc" } })))?.message).toContain('The header "x-a" cannot be sent');
    expect(requests).toEqual([]);
  });

  test("[UT22] nothing of a token or an address that cannot be sent is told", async () => {
    const { url, requests } = await webServer(() => new Response(null, { status: 500 }));
    const address = url.replace("//", "//me:s3cret@");
    const env = { PATH: process.env["PATH"], TOKEN: "s3cret\nnotice", ODD: "s3cret\u2026", PADDED: "s3cret\n", ADDRESS: address };
    const stored = { read: () => Promise.resolve("s3cret\u0007") };
    const { define, connect } = transportsUnderTest({ env, stored });
    const refusal = (server: ReturnType<typeof httpServer>) => connect(define(server)).then(() => "", ({ message }: Error) => message); // prettier-ignore
    const tokens = [{ bearerTokenEnv: "TOKEN" }, { bearerTokenEnv: "ODD" }, { bearerToken: "!echo s3cret; echo notice" }, { bearerTokenStore: true }];
    for (const token of tokens) {
      expect(await refusal(httpServer(url, token))).not.toContain("s3cret");
      expect(await refusal(httpServer(url, token))).toMatch(
        /^config: The bearer token cannot be sent: it has [^]*characters HTTP does not allow\. [^]*$/,
      );
    }
    for (const named of ["${ADDRESS}", address]) {
      expect(await refusal(httpServer(named))).toBe('config: "url" must not hold a user name or password: put them into "headers".');
    }
    expect(requests).toEqual([]);
    expect(await refusal(httpServer(url, { bearerTokenEnv: "PADDED" }))).not.toContain("s3cret");
    expect(requests[0]?.headers["authorization"]).toBe("Bearer s3cret");
  });

  test("[UT23] headers without auth are all a server is sent: no login is begun, and no store is opened", async () => {
    const { url, requests } = await webServer(
      () => new Response(null, { status: 401, headers: { "www-authenticate": `Bearer resource_metadata="${url}/meta"` } }),
    );
    let read = 0;
    const stored = { read: () => Promise.resolve(String((read += 1))) };
    const { factory, define, connect } = transportsUnderTest({ stored });
    const definition = define(httpServer(url, { headers: { authorization: "Basic abc" } }));
    const error = await connect(definition).catch((thrown: unknown) => thrown);
    expect(requests.map(({ method, headers }) => [method, headers.authorization])).toEqual([["POST", "Basic abc"]]);
    expect(await factory.renewCredentials(definition)).toBe(false);
    expect(await factory.explain(definition, error, signal)).toMatchObject({
      kind: "needs-auth",
      message: expect.stringContaining("wants a login (401)") as string,
    });
    expect(requests).toHaveLength(1);
    expect(read).toBe(0);
  });

  test("[UT24] a token made by a command is kept, and made anew once when it is refused", async () => {
    const { file, runs } = countingScript("process.stdout.write(`token-${run}`)");
    let accepted = "Bearer token-1";
    const { url } = await goodHttpUpstream(({ headers }) => (headers.get("authorization") === accepted ? null : new Response(null, { status: 401 })));
    const { define, connect } = transportsUnderTest();
    const definition = define(httpServer(url, { bearerToken: `!"${process.execPath}" "${file}"` }));
    await connect(definition);
    const { call } = await connect(definition);
    expect(runs()).toBe(1);
    accepted = "Bearer token-2";
    expect(await call("echo", { text: "a" })).toBe("a");
    expect(runs()).toBe(2);
    accepted = "Bearer never";
    await expect(call("echo", { text: "b" })).rejects.toThrow("refused the bearer token (401)");
    expect(runs()).toBe(2);
  });

  test("[UT25] a stored token is sent to the address it was stored for only", async () => {
    const { url, seen } = await goodHttpUpstream();
    const stored = { read: (server: string, address: string) => Promise.resolve(server === "upstream" && address === url ? "kept" : null) };
    const { factory, define, connect } = transportsUnderTest({ stored });
    await (await connect(define(httpServer(url, { bearerTokenStore: true })))).call("echo", { text: "a" });
    expect(seen.every(({ headers }) => headers.get("authorization") === "Bearer kept")).toBe(true);
    const elsewhere = await factory.open(define(httpServer(`${url}/other`, { bearerTokenStore: true })), { signal, wire: "streamable-http" });
    expect(elsewhere.ok ? null : elsewhere.error.message).toContain("pimcp upstream-token set upstream");
  });

  test("[UT26] a redirect to another origin is not followed", async () => {
    const other = await webServer(() => new Response("{}", { headers: { "content-type": "application/json" } }));
    const { url } = await webServer(() => new Response(null, { status: 307, headers: { location: other.url } }));
    const { define, connect } = transportsUnderTest();
    await expect(connect(define(httpServer(url, { bearerToken: "secret" })))).rejects.toThrow(/redirect/i);
    expect(other.requests).toEqual([]);
  });

  test("[UT27] an answer of more than 16 MiB is not taken", async () => {
    const { url } = await goodHttpUpstream();
    const { define, connect } = transportsUnderTest();
    const { call } = await connect(define(httpServer(url)));
    expect(await call("big", { bytes: 1_000_000 })).toHaveLength(1_000_000);
    const huge = call("big", { bytes: 17 * 1024 * 1024 });
    await expect(huge).rejects.toThrow("longer than 16777216 bytes");
    expect(await call("echo", { text: "still here" })).toBe("still here");
  });
});

test("[UT27] a numbered event of that size fails its request at once, too", async () => {
  const { url } = await goodHttpUpstream(({ body, headers }) => {
    if (!body.includes('"name":"sleep"') && !headers.has("last-event-id")) return null;
    return new Response(`id: 1\ndata: \n\ndata: ${"x".repeat(17 * 1024 * 1024)}`, { headers: { "content-type": "text/event-stream" } });
  });
  const { define, connect } = transportsUnderTest();
  const { call } = await connect(define(httpServer(url)));
  await expect(call("sleep", { ms: 5 })).rejects.toThrow("longer than 16777216 bytes");
});

test("[UT41] a 202 to a later request fails nothing by itself, whatever its arguments are called", async () => {
  const { url, seen } = await goodHttpUpstream(({ body }) => (body.includes("tools/call") ? new Response(null, { status: 202 }) : null));
  const { define, connect } = transportsUnderTest();
  const { client } = await connect(define(httpServer(url)));
  const leaving = new AbortController();
  const call = client.callTool({ name: "echo", arguments: { method: "initialize" } }, { signal: leaving.signal });
  const failure = call.catch((error: unknown) => String(error));
  await waitUntil("it was asked", () => seen.some(({ body }) => body.includes("tools/call")));
  // Longer than the last events of a stream are waited for: nothing else shows that nothing comes.
  await setTimeout(200);
  leaving.abort("left");
  expect(await failure).toContain("left");
});

test("[UT31] so does one whose connection breaks", async () => {
  const { url, seen, breakConnections } = await goodHttpUpstream();
  const { define, connect } = transportsUnderTest();
  const { call } = await connect(define(httpServer(url)));
  const sleeping = call("sleep", { ms: 60_000 });
  sleeping.catch(() => {});
  await waitUntil("it was asked", () => seen.some(({ body }) => body.includes('"name":"sleep"')));
  breakConnections();
  await expect(sleeping).rejects.toThrow(/No answer came: |ended the stream before|fetch failed/);
  expect(await call("echo", { text: "a" })).toBe("a");
});

test.each(["legacy", "auto"] as const)("[UT31] a request whose stream ends without an answer fails at once (%s)", async (mode) => {
  const { url } = await goodHttpUpstream(({ body }) => {
    if (!body.includes('"name":"sleep"')) return null;
    return new Response(": nothing yet\n\n", { headers: { "content-type": "text/event-stream" } });
  });
  const { define, connect } = transportsUnderTest();
  const { call } = await connect(define(httpServer(url)), { mode });
  await expect(call("sleep", { ms: 5 })).rejects.toThrow("ended the stream before it answered");
  expect(await call("echo", { text: "a" })).toBe("a");
});

describe("requestHeadersCommand", () => {
  const echoHeaders = `const chunks = []; for await (const chunk of process.stdin) chunks.push(chunk);
    const { version, method, url, bodyBase64 } = JSON.parse(Buffer.concat(chunks)); const body = Buffer.from(bodyBase64, "base64").toString();
    process.stdout.write(JSON.stringify({ "x-signed": [version, method, new URL(url).pathname, body.length, process.env.SECRET, process.argv[2]].join(" ") }))`;

  function command(file: string, timeoutMs = 10_000) {
    return { command: process.execPath, args: [file, "${ARG}"], env: { SECRET: "!printf s3cret" }, timeoutMs };
  }

  test("[UT28] is run for every request with what is sent, and its headers go with it", async () => {
    const { file, runs } = countingScript(echoHeaders);
    const { url, seen } = await goodHttpUpstream();
    const { define, connect } = transportsUnderTest({ env: { PATH: process.env["PATH"], ARG: "given" } });
    const { call } = await connect(define(httpServer(url, { requestHeadersCommand: command(file) })));
    expect(await call("echo", { text: "ä" })).toBe("ä");
    await waitUntil("all were signed", () => runs() >= 4 && seen.length >= 4);
    expect(seen.map(({ headers }) => headers.get("x-signed"))).toEqual(
      seen.map(({ method, path, body }) => `1 ${method} ${path} ${body.length} s3cret given`),
    );
  });

  test.each([
    ["fails", "process.exit(2)", "ended with exit code 2; nothing was sent"],
    ["takes too long", "setInterval(() => {}, 1000)", "took longer than 0.5 seconds; nothing was sent"],
    ["prints no object", "console.log('[]')", "must print one JSON object of headers; nothing was sent"],
    ["prints a header that is none", `console.log(JSON.stringify({ host: "x" }))`, 'cannot be sent ("host"); nothing was sent'],
    ["prints too much", "process.stdout.write('x'.repeat(70000))", "printed more than 65536 bytes; nothing was sent"],
  ])("[UT29] nothing is sent when it %s", async (_what, print, sentence) => {
    const { url, seen } = await goodHttpUpstream();
    const { define, connect } = transportsUnderTest();
    const timeoutMs = print.startsWith("setInterval") ? 500 : 10_000;
    await expect(connect(define(httpServer(url, { requestHeadersCommand: command(countingScript(print).file, timeoutMs) })))).rejects.toThrow(
      sentence,
    );
    expect(seen).toEqual([]);
  });

  test("[UT29] no redirect is followed while it is set, not even to the same origin", async () => {
    const { url, requests } = await webServer(() => new Response(null, { status: 307, headers: { location: "/other" } }));
    const { define, connect } = transportsUnderTest();
    const script = countingScript(`console.log(JSON.stringify({ "x-signed": "1" }))`);
    await expect(connect(define(httpServer(url, { requestHeadersCommand: command(script.file) })))).rejects.toThrow(
      /redirect \(307\), which is not followed/,
    );
    expect(requests).toHaveLength(1);
  });
});

describe("https", () => {
  test("[UT30] trusts the authorities of caFile for this server; without it an unknown one is refused and caFile is named", async () => {
    const tls = selfSigned();
    const { url } = await webServer(() => Response.json({ jsonrpc: "2.0", id: 0, error: { code: -32000, message: "reached" } }), tls);
    const { factory, define, connect, cwd } = transportsUnderTest();
    writeFileSync(join(cwd, "ca.pem"), tls.cert);
    await expect(connect(define(httpServer(url, { caFile: "ca.pem" })))).rejects.toThrow("reached");
    const plain = define(httpServer(url));
    const error = await connect(plain).catch((thrown: unknown) => thrown);
    expect((await factory.explain(plain, error, signal))?.message).toMatch(/certificate of https:.* is not trusted \(\w+\)\. .*"caFile"/);
  });

  test("[UT30] a caFile that cannot be used, or an address that is not https, stops the connection before any request", async () => {
    const { url, requests } = await webServer(() => new Response());
    const { factory, define, cwd } = transportsUnderTest();
    writeFileSync(join(cwd, "no.pem"), "nothing");
    const refused = async (server: ReturnType<typeof httpServer>) => {
      const result = await factory.open(define(server), { signal, wire: "streamable-http" });
      return result.ok ? null : result.error.message;
    };
    expect(await refused(httpServer(url, { caFile: "no.pem" }))).toContain("not https");
    expect(await refused(httpServer("https://127.0.0.1:9/", { caFile: "no.pem" }))).toContain("must be a PEM file");
    expect(await refused(httpServer("https://127.0.0.1:9/", { caFile: "gone.pem" }))).toContain("cannot be read");
    writeFileSync(join(cwd, "large.pem"), `-----BEGIN CERTIFICATE-----\n${"x".repeat(1024 * 1024)}`);
    execFileSync("mkfifo", [join(cwd, "pipe.pem")]);
    for (const caFile of ["large.pem", "pipe.pem", "/dev/zero", "."])
      expect(await refused(httpServer("https://127.0.0.1:9/", { caFile }))).toMatch(/"caFile" must be a regular file of 1048576 bytes at most: /);
    expect(requests).toEqual([]);
  });
});
