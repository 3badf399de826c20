/**
 * What users of other programs of this kind ran into, tried on ours from outside. A row's number names the report in our
 * collection; rows that a part's own tests prove are not repeated here.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ask, bash, callTool, said, send, type CallResult, type Endpoint } from "../support/agent-requests.ts";
import { post } from "../support/mcp-post.ts";
import { QUIET_DIALLING, commandLine, newHome, startPimcp, type Pimcp } from "../support/pimcp.ts";
import { RawAgent } from "../support/raw-agent.ts";
import { startRelayApart, type RelayApart } from "../support/relay-apart.ts";
import { signIn } from "../support/sign-in.ts";
import { reply, toolCall } from "../support/surface-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";
import { AGENT_KEY, startWorker } from "../support/worker-runtime.ts";

let agent: Pimcp;
beforeAll(async () => {
  agent = await startPimcp({ files: { "a.txt": "inside\n" } });
});
afterAll(async () => {
  await agent.stop();
  await agent.home.remove();
});

const stillWorks = async (at: Endpoint): Promise<void> => expect(said(await bash(at, "echo works"))).toBe("works\n");

describe("connections", () => {
  test("[MC4] [ED4] event streams by GET, two with one session id: 405 each, which clients take as 'none here', and nothing ends (A02, A17, A32)", async () => {
    const headers = { authorization: `Bearer ${agent.token}`, accept: "text/event-stream", "mcp-session-id": "one" };
    const answers = await Promise.all([1, 2].map(() => fetch(agent.url, { headers })));
    expect(answers.map(({ status, headers: given }) => [status, given.get("allow")])).toEqual([
      [405, "POST, DELETE"],
      [405, "POST, DELETE"],
    ]);
    const probe = await fetch(agent.url);
    expect([404, 400]).not.toContain(probe.status);
    await stillWorks(agent);
  });

  test("[MC45] a connection that was idle for six seconds serves the next request (A19)", async () => {
    const socket = connect(agent.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let heard = "";
    socket.on("data", (chunk: Buffer) => (heard += chunk.toString()));
    const say = (message: object): void => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${agent.port}\r\nAuthorization: Bearer ${agent.token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    say({ id: 1, method: "initialize", params });
    await waitUntil("it is greeted", () => heard.includes("serverInfo"));
    await sleep(6000);
    say({ id: 2, method: "tools/list" });
    await waitUntil("it is answered", () => heard.includes('"bash"'));
    expect(heard.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });

  test("[WP4] [WP16] seventy calls whose clients leave at once take up no place, and leave nothing (A05, A06)", async () => {
    const meanwhile = bash(agent, "sleep 3; echo undisturbed");
    for (let round = 0; round < 7; round++) {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          await send(agent, toolCall(1, "bash", { command: "exec sleep 1.01" }), { signal: AbortSignal.timeout(60) })
            .then((response) => response.text())
            .catch(() => undefined);
        }),
      );
      await sleep(500);
    }
    expect(said(await meanwhile)).toBe("undisturbed\n");
    await stillWorks(agent);
    await waitUntil("no command is left", () => !agent.home.processes().some((pid) => commandLine(pid).startsWith("sleep 1.01")));
  });
});

describe("two clients at once", () => {
  test("[MC14] [MC17] [OA11] one id, two principals: each gets its own answer, and cancels only its own call", async () => {
    const grant = await signIn(agent.origin, agent.pageUrl());
    const other: Endpoint = { url: agent.url, token: grant.accessToken };
    const mine = bash(agent, "sleep 2; echo mine", { id: 5 });
    const theirs = bash(other, "sleep 600; echo theirs", { id: 5 }).then(said, (error: unknown) => String(error));
    await sleep(700);
    await send(other, { method: "notifications/cancelled", params: { requestId: 5 } });
    expect(said(await mine)).toBe("mine\n");
    expect(await theirs).not.toContain("theirs");
    expect(agent.home.processes().map(commandLine)).not.toContain("sleep 600");
  });

  test.for<[string, unknown]>([
    ["zero", 0],
    ["an empty text", ""],
    ["the text zero", "0"],
    ["a negative number", -7],
    ["a long text", "x".repeat(2000)],
  ])("[MC17] %s is an id like any other", async ([, id]) => {
    const answer = await ask(agent, { id, method: "tools/call", params: { name: "bash", arguments: { command: "echo hi" } } });
    expect(answer.id).toBe(id);
    expect(said(answer.result as unknown as CallResult)).toBe("hi\n");
  });

  test.for<[string, string]>([
    ["a batch", JSON.stringify([1, 2].map((id) => ({ jsonrpc: "2.0", ...toolCall(id, "bash", { command: "touch ran" }) })))],
    ["an empty batch", "[]"],
    ["the id null", JSON.stringify({ jsonrpc: "2.0", ...toolCall(null, "bash", { command: "touch ran" }) })],
    ["an id with a fraction", JSON.stringify({ jsonrpc: "2.0", ...toolCall(1.5, "bash", { command: "touch ran" }) })],
    [
      "an id too large to be exact",
      '{"jsonrpc":"2.0","id":1e300,"method":"tools/call","params":{"name":"bash","arguments":{"command":"touch ran"}}}',
    ],
    ["an object as id", JSON.stringify({ jsonrpc: "2.0", ...toolCall({}, "bash", { command: "touch ran" }) })],
    ["no JSON-RPC", '{"method":"tools/call"}'],
    ["no JSON", "{"],
    ["nothing", ""],
    ["a text", '"tools/call"'],
  ])("[MC6] %s is 400 with a JSON-RPC error, and runs nothing", async ([, body]) => {
    const answer = await post(agent.url, body, { token: agent.token });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", error: { code: expect.toBeOneOf([-32_600, -32_700]) } });
    expect(said(await bash(agent, "ls ran 2>&1 || true"))).toContain("No such file");
  });
});

describe("sizes", () => {
  test("[ED7] [MC7] a body above the limit is refused at once with a JSON-RPC error that names it (A43)", async () => {
    const answer = await post(agent.url, "z".repeat(4 * 1024 * 1024 + 1), { token: agent.token });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", error: { message: expect.stringContaining("4194304 bytes") } });
    await stillWorks(agent);
  });

  test("[ED7] one of 32 MiB and a byte is refused, or cut off while it is sent, at once; others go on (A42)", async () => {
    const started = performance.now();
    const outcome = await post(agent.url, "z".repeat(32 * 1024 * 1024 + 1), { token: agent.token }).then(
      ({ status }) => status,
      () => "cut off",
    );
    expect(outcome).toBeOneOf([413, "cut off"]);
    expect(performance.now() - started).toBeLessThan(5000);
    await stillWorks(agent);
  });

  test("[EE12] bodies that never end keep nobody else waiting (A41)", async () => {
    const sockets = Array.from({ length: 20 }, () => connect(agent.port, "127.0.0.1"));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${agent.port}\r\nAuthorization: Bearer ${agent.token}\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{"jsonrpc"`,
      );
    }
    await sleep(300);
    expect(said(await bash(agent, "echo meanwhile"))).toBe("meanwhile\n");
    for (const socket of sockets) socket.destroy();
    await stillWorks(agent);
  });
});

describe("confinement, through the relay", () => {
  test("[CF1] [CF2] [CF3] [CF9] no path tool leaves the root or enters a denied name, whatever the spelling (E02, E03, E24)", async () => {
    const { root, dir } = agent.home;
    writeFileSync(join(dir, "outside.txt"), "outside-secret\n");
    mkdirSync(join(dir, "root-evil"));
    writeFileSync(join(dir, "root-evil/x"), "outside-secret\n");
    mkdirSync(join(root, ".ssh"), { recursive: true });
    writeFileSync(join(root, ".ssh/key"), "outside-secret\n");
    symlinkSync(join(dir, "outside.txt"), join(root, "file-link"));
    symlinkSync(dir, join(root, "dir-link"));
    symlinkSync(join(dir, "not-there-yet"), join(root, "dangling"));
    const paths = [
      "../outside.txt",
      join(dir, "outside.txt"),
      `@${join(dir, "outside.txt")}`,
      `file://${join(dir, "outside.txt")}`,
      "~/outside.txt",
      "file-link",
      "dir-link/outside.txt",
      "../root-evil/x",
      join(dir, "root-evil/x"),
      `/proc/self/root${join(dir, "outside.txt")}`,
      `/proc/${agent.pid}/root${join(dir, "outside.txt")}`,
      ".ssh/key",
      ".SSH/key",
      "dangling",
    ];
    const outcomes: string[] = [];
    for (const path of paths) {
      for (const [name, more] of [
        ["read", {}],
        ["ls", {}],
        ["grep", { pattern: "secret" }],
        ["find", { pattern: "*" }],
        ["write", { content: "overwritten" }],
        ["edit", { edits: [{ oldText: "outside", newText: "overwritten" }] }],
      ] as const) {
        const result = await callTool(agent, name, { path, ...more });
        if (result.isError !== true || said(result).includes("outside-secret")) outcomes.push(`${name} ${path}: ${said(result)}`);
      }
    }
    expect(outcomes).toEqual([]);
    expect(said(await bash(agent, `cat ../outside.txt ../root-evil/x .ssh/key; ls ../not-there-yet 2>&1 || true`))).toMatch(
      /^(outside-secret\n){3}.*No such file/,
    );
  });

  test("[CF5] a root that is itself a link works in both spellings (E06)", async () => {
    await using home = newHome({ "a.txt": "inside\n" });
    const link = join(home.dir, "link");
    symlinkSync(home.root, link);
    await using linked = await startPimcp({ home, args: ["--root", link] });
    for (const path of ["a.txt", join(link, "a.txt"), join(home.root, "a.txt")]) {
      expect(said(await callTool(linked, "read", { path }))).toBe("inside\n");
    }
  });

  test("[TL9] [TL12] commands that wait for input return, and a time-out ends a whole pipeline (E09, E11, E12)", async () => {
    expect(said(await bash(agent, "cat; read x; echo done"))).toBe("done\n");
    const command = "trap '' TERM; (trap '' TERM; sleep 500.1) | (trap '' TERM; sleep 500.2)";
    const result = await callTool(agent, "bash", { command, timeout: 0.5 });
    expect(result.isError).toBe(true);
    expect(said(result)).toMatch(/timed out/i);
    expect(agent.home.processes().filter((pid) => commandLine(pid).startsWith("sleep 500"))).toEqual([]);
  });

  test("[TL22] what is announced says that commands are not confined (E05, E22)", () => {
    const { confinement } = JSON.parse(agent.run.stdout()) as { readonly confinement: readonly string[] };
    expect(confinement[0]).toMatch(/^bash can read, change and send anything this account can/);
  });
});

describe("the agent's link, attacked", () => {
  let relay: RelayApart;
  let held: Pimcp;
  beforeAll(async () => {
    relay = await startRelayApart();
    held = await relay.dial(newHome());
  });
  afterAll(async () => {
    await held.stop();
    await held.home.remove();
    await relay[Symbol.asyncDispose]();
  });

  test("[WP23] nobody dials without the key", async () => {
    for (const key of ["", "wrong", `${AGENT_KEY}x`, AGENT_KEY.slice(1), "x".repeat(10_000)]) {
      await expect(RawAgent.dial(relay.worker.origin, key)).rejects.toThrow(/401|431|400/);
    }
    await stillWorks(held);
  });

  test.for<[string, (attacker: RawAgent) => void]>([
    ["a flood of frames", (attacker) => Array.from({ length: 20_000 }, () => attacker.send({ t: "got", x: 1 }))],
    ["a flood of data", (attacker) => Array.from({ length: 500 }, (_, n) => attacker.sendData(1, n, "x".repeat(10_000)))],
    ["bad UTF-8", (attacker) => attacker.socket.send(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), { binary: false })],
    ["a message of 32 MiB and a byte", (attacker) => attacker.socket.send("x".repeat(32 * 1024 * 1024 + 1))],
    ["an exchange number that is too large", (attacker) => attacker.send({ t: "got", x: 2 ** 53 })],
    ["a negative frame number", (attacker) => attacker.send({ t: "end", x: 1, seq: -1, whole: true })],
    ["a version from before", (attacker) => attacker.hello({ host: "attacker", versions: { min: 0, max: 0 } })],
    ["a hello of another machine", (attacker) => attacker.hello({ host: "attacker" })],
    ["two hellos", (attacker) => attacker.hello({ host: "attacker" }).hello({ host: "attacker" })],
    ["a hello with a machine's worth of text", (attacker) => attacker.hello({ host: "h".repeat(3_000_000) })],
  ])("[WP1] [WP5] [WP19] [WP21] %s: the socket ends, and the holder's running call is undisturbed", async ([, attack]) => {
    const running = bash(held, "sleep 0.5; echo undisturbed");
    const attacker = await RawAgent.dial(relay.worker.origin);
    attack(attacker);
    await attacker.closed();
    expect(said(await running)).toBe("undisturbed\n");
    expect(attacker.frames.filter((frame) => frame.t === "welcome" || frame.t === "request")).toEqual([]);
    await stillWorks(held);
  });

  test("[WP19] [WP20] [WP21] a hello that is played back takes nothing: its instance is retired", async () => {
    await using own = await startRelayApart();
    const instance = "an-instance-that-was-recorded";
    const recorded = await RawAgent.dial(own.worker.origin);
    recorded.hello({ instance, host: "host-a" });
    await recorded.next("welcome");
    const successor = await RawAgent.dial(own.worker.origin);
    successor.hello({ host: "host-a" });
    await successor.next("welcome");
    const replayed = await RawAgent.dial(own.worker.origin);
    replayed.hello({ instance, host: "host-a", takeOver: true });
    expect(await replayed.next("bye")).toMatchObject({ why: "retired", comeBack: false });
    expect(successor.closeCode).toBeUndefined();
    successor.vanish();
  });

  test("[WP19] two sockets of one machine within milliseconds: one stays, and the object can still sleep (A52)", async () => {
    await using own = await startRelayApart();
    const both = await Promise.all([RawAgent.dial(own.worker.origin), RawAgent.dial(own.worker.origin)]);
    for (const one of both) one.hello();
    await waitUntil("one is replaced", () => both.some((one) => one.frames.some((frame) => frame.t === "bye")));
    const stays = both.filter((one) => !one.frames.some((frame) => frame.t === "bye"));
    expect(stays).toHaveLength(1);
    await own.worker.hibernate();
    const answer = post(own.url, { jsonrpc: "2.0", id: 1, method: "ping" });
    const request = await stays[0]?.next("request");
    stays[0]?.send({ t: "head", x: request?.x, status: 204, headers: [], last: null }).send({ t: "end", x: request?.x, seq: 1, whole: true });
    expect((await answer).status).toBe(204);
    for (const one of both) one.vanish();
  });
});

test("[WP23] [EE21] a key that was replaced opens nothing, while the token and the grants of before go on", async () => {
  await using home = newHome();
  await using relay = await startRelayApart({ stateDir: join(home.dir, "relay") });
  const before = await relay.dial(home);
  const grant = await signIn(relay.worker.origin, before.pageUrl());
  await before.stop();
  await relay.worker.close();
  const newKey = "a-new-agent-key-0123456789abcdef0123456789";
  const rotated = await startWorker({ stateDir: join(home.dir, "relay"), port: relay.worker.port, bindings: { AGENT_KEY: newKey } });
  onTestFinished(() => rotated.close());
  await expect(RawAgent.dial(rotated.origin, AGENT_KEY)).rejects.toThrow("401");
  const args = relay.args(home);
  writeFileSync(join(home.dir, "agent-key"), newKey, { mode: 0o600 });
  await using after = await startPimcp({ home, quiet: QUIET_DIALLING, args });
  await stillWorks(after);
  await stillWorks({ url: after.url, token: grant.accessToken });
});

test("[EE21] the first command after a crash works with what the client has (A37, A47)", async () => {
  await using home = newHome();
  const first = await startPimcp({ home });
  const { token } = first;
  await first.kill9();
  await using second = await startPimcp({ home });
  const answer = await reply(await send({ url: second.url, token }, toolCall(1, "bash", { command: "echo first" })));
  expect(answer.result).toMatchObject({ content: [{ text: "first\n" }] });
});
