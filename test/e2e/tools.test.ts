/** Pi's tools through the relay: the same answers as without it, whole, in time, and stoppable. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { createToolHost, type ToolHost } from "../../local-agent/tools/tool-host.ts";
import type { JsonObject } from "../../shared/json.ts";
import { ask, bash, callTool, said, send, type CallResult } from "../support/agent-requests.ts";
import { commandLine, startPimcp, type Pimcp } from "../support/pimcp.ts";
import { noisePng } from "../support/png.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { reply, toolCall } from "../support/surface-under-test.ts";
import { tempDir } from "../support/temp-dir.ts";
import { toolCall as directCall, writeTree } from "../support/tool-host-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

const PICTURE = noisePng(40, 30);
const FILES = {
  "src/a.ts": 'export const a = "one";\n// needle\n',
  "src/b.ts": "export const b = 2;\n",
  "docs/long.txt": Array.from({ length: 3000 }, (_, n) => `line ${n + 1}`).join("\n"),
  "picture.png": PICTURE,
  ".ssh/id": "secret",
};
let agent: Pimcp;
beforeAll(async () => {
  agent = await startPimcp({ files: FILES });
});
afterAll(async () => {
  await agent.stop();
  await agent.home.remove();
});

describe("every tool", () => {
  const CALLS: readonly (readonly [string, JsonObject])[] = [
    ["read", { path: "src/a.ts" }],
    ["read", { path: "docs/long.txt", offset: 10, limit: 3 }],
    ["read", { path: "docs/long.txt" }],
    ["read", { path: "picture.png" }],
    ["read", { path: "no-such-file" }],
    ["read", { path: "/etc/hostname" }],
    ["read", { path: ".ssh/id" }],
    ["write", { path: "new/c.ts", content: "export const c = 3;\n" }],
    ["edit", { path: "src/b.ts", edits: [{ oldText: "2", newText: "22" }] }],
    ["edit", { path: "src/b.ts", edits: [{ oldText: "not there", newText: "x" }] }],
    ["ls", {}],
    ["ls", { path: "src" }],
    ["grep", { pattern: "needle" }],
    ["grep", { pattern: "nowhere" }],
    ["find", { pattern: "*.ts" }],
    ["bash", { command: "cat src/b.ts; echo said >&2" }],
    ["bash", { command: "echo broken; exit 7" }],
    ["bash", { command: "sleep 9", timeout: 0.3 }],
    ["bash", { command: 'seq 1 5000; printf "\\360\\237\\231\\202\\n"' }],
    ["bash", { no: "command" }],
  ];

  async function directHost(): Promise<ToolHost> {
    const base = tempDir("direct");
    writeTree(join(base, "root"), FILES);
    const childPath = join(dirname(inject("program")), "tool-host-child.mjs");
    const deny = [".ssh", ".aws", ".gnupg", ".git-credentials", ".netrc", ".config/gcloud"];
    const host = await createToolHost({
      childPath,
      root: join(base, "root"),
      deny,
      closed: [],
      writeClosed: [],
      tools: undefined,
      stateDir: join(base, "state"),
      secretEnv: [],
      log: silentLog,
      env: agent.home.env,
    });
    onTestFinished(() => host.close());
    return host;
  }

  /** Without what differs between two runs: the root's path, the spill file's name, the time it took. */
  function comparable(
    result: { readonly content: unknown; readonly structuredContent?: unknown; readonly isError?: boolean },
    root: string,
  ): unknown {
    const { content, structuredContent, isError = false } = result;
    const text = JSON.stringify({ content, structuredContent, isError })
      .replaceAll(root, "ROOT")
      .replaceAll(/"[^"]*\/pi-bash-[0-9a-f]+\.log/g, '"SPILL')
      .replaceAll(/[^\s"]*\/pi-bash-[0-9a-f]+\.log/g, "SPILL")
      .replaceAll(/"wall_time_seconds":[\d.]+/g, '"wall_time_seconds":0');
    return JSON.parse(text);
  }

  test("[EE10] [TL4] [TL5] [MC16] answers through the relay what it answers when called directly", async () => {
    const host = await directHost();
    for (const [name, args] of CALLS) {
      const direct = await host.call(directCall(name, args));
      const relayed = await callTool(agent, name, args);
      expect([name, args, comparable(relayed, agent.home.root)]).toEqual([name, args, comparable(direct, host.root)]);
    }
    expect(readFileSync(join(agent.home.root, "new/c.ts"), "utf8")).toBe("export const c = 3;\n");
  });

  test("[EE10] the tools that are listed are those that were called here", async () => {
    const listed = (await ask(agent, { id: 1, method: "tools/list" })).result?.["tools"] as { readonly name: string }[];
    expect(new Set(listed.map(({ name }) => name))).toEqual(new Set([...CALLS.map(([name]) => name), "get_instructions"]));
  });
});

describe("content", () => {
  test("[EE11] a picture of four megabytes arrives to the byte, and the next call works", async () => {
    const large = noisePng(1000, 1000);
    writeFileSync(join(agent.home.root, "large.png"), large);
    const result = await callTool(agent, "read", { path: "large.png" });
    const image = result.content.find((part) => part.type === "image");
    expect(image?.mimeType).toBe("image/png");
    expect(Buffer.from(image?.data ?? "", "base64").equals(large)).toBe(true);
    expect(said(await bash(agent, "echo next"))).toBe("next\n");
  });

  test("[EE11] files of 5,000 to 6,000 bytes that need heavy escaping arrive to the byte (A25)", async () => {
    const sizes = Array.from({ length: 59 }, (_, n) => 5000 + n * 17);
    for (const size of sizes) writeFileSync(join(agent.home.root, `escape-${size}`), nasty(size));
    for (let at = 0; at < sizes.length; at += 10) {
      const batch = sizes.slice(at, at + 10);
      const results = await Promise.all(batch.map((size) => callTool(agent, "read", { path: `escape-${size}` })));
      expect(results.map(said)).toEqual(batch.map(nasty));
    }
  });

  /** Exactly `size` bytes of UTF-8 that JSON, SSE and JavaScript all have to take care of. */
  function nasty(size: number): string {
    const pieces = [
      '"',
      "\\",
      '\\"',
      "\\n",
      "🙂",
      "\u2028",
      "\u2029",
      "\t",
      "é",
      "data: ",
      "\n: ",
      "\n\ndata: {}\n\n",
      "\u0001",
      "\u007f",
      "</script>",
      "\ufffd",
    ];
    let text = "";
    for (let n = size; Buffer.byteLength(text) < size - 20; n = (n * 48_271) % 2_147_483_647) text += pieces[n % pieces.length];
    return text + "'".repeat(size - Buffer.byteLength(text));
  }

  test("[EE11] [MC7] an argument of one mebibyte arrives whole (A61)", async () => {
    const content = "0123456789abcde\n".repeat(65_536);
    await callTool(agent, "write", { path: "mebibyte", content });
    expect(readFileSync(join(agent.home.root, "mebibyte"), "utf8")).toBe(content);
  });

  test("[TL7] output too long to show is read in pieces from where the answer says", async () => {
    const result = await bash(agent, "seq 1 20000");
    const path = /\S+pi-bash-[0-9a-f]+\.log/.exec(said(result))?.[0] ?? "";
    expect(path.startsWith(agent.home.root)).toBe(false);
    expect(said(await callTool(agent, "read", { path, offset: 1234, limit: 2 }))).toMatch(/^1234\n1235\n/);
    expect((await callTool(agent, "write", { path, content: "" })).isError).toBe(true);
  });
});

describe("many calls at once", () => {
  test("[EE12] [MC17] ten calls with one id finish while a client does not read its answer, which then arrives whole", async () => {
    const large = noisePng(600, 500);
    writeFileSync(join(agent.home.root, "slow.png"), large);
    const slow = await send(agent, toolCall(7, "read", { path: "slow.png" }));
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => bash(agent, `sleep 0.$((RANDOM % 5)); echo ${n}`, { id: 7 })));
    expect(answers.map(said)).toEqual(Array.from({ length: 10 }, (_, n) => `${n}\n`));
    const whole = (await reply(slow)).result as unknown as CallResult;
    expect(whole.content.find((part) => part.type === "image")?.data).toBe(large.toString("base64"));
  });
});

/** Prints for ten seconds; what it leaves in the background carries `mark` in its command line. */
const printing = (mark: number): string => `setsid sleep ${mark} & for n in $(seq 1 20); do echo "line $n"; sleep 0.5; done`;
const runs = (mark: number): boolean => agent.home.processes().some((pid) => commandLine(pid) === `sleep ${mark}`);

describe("a command that prints for ten seconds", () => {
  test.for([
    ["SDK v2, modern", 401],
    ["SDK v2, legacy", 402],
    ["SDK v1", 403],
  ] as const)("[EE13] [MC10] [TL6] [TL12] shows %s what it prints, and is ended by its cancellation with all it started", async ([name, mark]) => {
    await using client = await SDK_CLIENTS[name](agent);
    const cancelling = new AbortController();
    let shown = "";
    const values: number[] = [];
    const onprogress = ({ progress, message = "" }: { readonly progress: number; readonly message?: string | undefined }) => {
      shown += message;
      values.push(progress);
    };
    const calling = client.call("bash", { command: printing(mark) }, { signal: cancelling.signal, onprogress });
    const outcome = calling.then(
      () => "finished",
      () => "cancelled",
    );
    await waitUntil("four lines are shown", () => shown.includes("line 4"));
    expect(runs(mark)).toBe(true);
    cancelling.abort();
    expect(await outcome).toBe("cancelled");
    await waitUntil("all it started has ended", () => !runs(mark), 3000);
    expect(shown).toMatch(/^line 1\nline 2\nline 3\nline 4\n/);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect((await client.call("bash", { command: "echo next" })).content).toEqual([{ type: "text", text: "next\n" }]);
  });

  test("[EE13] [MC10] the reports of a whole run add up to its output", async () => {
    await using client = await SDK_CLIENTS["SDK v2, modern"](agent);
    let shown = "";
    const command = "for n in $(seq 1 12); do echo $n; sleep 0.2; done; sleep 0.4";
    const result = await client.call("bash", { command }, { onprogress: ({ message = "" }) => (shown += message) });
    expect(shown).toBe(said(result as CallResult));
  });
});

describe("a client that closes its connection", () => {
  test("[EE14] [MC13] [WP16] ends a modern call within twenty seconds; a legacy one runs to its end", { timeout: 60_000 }, async () => {
    const leaving = new AbortController();
    const legacy = `sleep 410 & sleep 17; echo finished > legacy-finished; kill $!`;
    const [modernHead, legacyHead] = await Promise.all([
      send(agent, toolCall(1, "bash", { command: "setsid sleep 411 & sleep 412" }), { era: "modern", signal: leaving.signal }),
      send(agent, toolCall(1, "bash", { command: legacy }), { signal: leaving.signal }),
    ]);
    for (const { status } of [modernHead, legacyHead]) expect(status).toBe(200);
    await waitUntil("both run", () => runs(411) && runs(412) && runs(410));
    const left = performance.now();
    leaving.abort();
    await waitUntil("the modern one has ended", () => !runs(411) && !runs(412), 20_000);
    expect(performance.now() - left).toBeLessThan(20_000);
    await waitUntil("the legacy one has finished", () => existsSync(join(agent.home.root, "legacy-finished")), 20_000);
  });
});
