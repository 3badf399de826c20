/** A deployed relay: https, a key, one machine at a time; and what stands in the way of reaching one, as one sentence each. */
import { cpSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bash, said } from "../support/agent-requests.ts";
import { freePort } from "../support/free-port.ts";
import { newHome, QUIET_DIALLING, runPimcp, startPimcp, type Home } from "../support/pimcp.ts";
import { certificateFile, startRelayApart, writeKey, type RelayApart } from "../support/relay-apart.ts";
import { SDK_CLIENTS } from "../support/sdk-clients.ts";
import { waitUntil } from "../support/wait-until.ts";
import { startWorker } from "../support/worker-runtime.ts";

let relay: RelayApart;
/** What makes this process and an agent trust the relay's certificate. */
let authority: string;
let certificates: Home;
beforeAll(async () => {
  relay = await startRelayApart({ https: true });
  certificates = newHome();
  authority = await certificateFile(certificates, relay.worker.port);
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(authority, "utf8")]);
});
afterAll(async () => {
  setDefaultCACertificates(getCACertificates("bundled"));
  await certificates.remove();
  await relay[Symbol.asyncDispose]();
});

const trusting = (): NodeJS.ProcessEnv => ({ NODE_EXTRA_CA_CERTS: authority });

/** Starts with these arguments, waits for the end. */
async function ended(home: Home, args: readonly string[], env: NodeJS.ProcessEnv = trusting()) {
  const run = runPimcp(home, [...QUIET_DIALLING, ...args], env);
  const code = await run.exit(25_000);
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

const oneSentence = (text: RegExp): RegExp => new RegExp(`^[^\\n]*(?:${text.source})[^\\n]*\\.\\n$`);

describe("a relay by https", () => {
  test("[EE15] serves clients, and the agent needs nothing but its URL, its key and trust in its certificate", async () => {
    await using home = newHome();
    await using agent = await relay.dial(home, { env: trusting() });
    expect(agent.url).toBe(relay.url);
    expect(agent.url.startsWith("https://")).toBe(true);
    for (const connect of Object.values(SDK_CLIENTS)) {
      await using client = await connect(agent);
      expect((await client.call("bash", { command: "echo by https" })).content).toEqual([{ type: "text", text: "by https\n" }]);
    }
  });

  test("[EE16] a certificate that is not trusted is said, with the way to trust it, and the agent goes on trying", async () => {
    await using home = newHome();
    const run = runPimcp(home, [...QUIET_DIALLING, ...relay.args(home)]);
    await waitUntil("it says so", () => run.stderr().includes("NODE_EXTRA_CA_CERTS"), 20_000);
    expect(run.stderr()).toMatch(oneSentence(/self-signed/));
    expect(run.stdout()).toBe("");
    run.child.kill("SIGINT");
    expect(await run.exit()).toBe(0);
    await home.expectNothingLeft();
  });
});

describe("whom the relay refuses", () => {
  test("[EE16] [ST24] a wrong key ends the start with exit code 3", async () => {
    await using home = newHome();
    const args = [...relay.args(home), "--key-file", writeKey(home, "another-key-0123456789abcdef0123456789")];
    const { code, stdout, stderr } = await ended(home, args);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(oneSentence(/does not know this agent key.*--key-file/));
    await home.expectNothingLeft();
  });

  test("[EE16] [WP19] [ST24] another machine is refused while one holds the workspace, and takes it with --take-over", async () => {
    await using home = newHome();
    const holder = await relay.dial(home, { env: trusting() });
    await using elsewhere = newHome();
    const refused = await ended(elsewhere, relay.args(elsewhere));
    expect([refused.code, refused.stdout]).toEqual([3, ""]);
    expect(refused.stderr).toMatch(oneSentence(/--take-over/));
    await using taking = await relay.dial(elsewhere, { args: ["--take-over"], env: trusting() });
    expect(await holder.run.exit()).toBe(3);
    expect(holder.run.stderr()).toMatch(oneSentence(/has taken this workspace over.*--take-over/));
    expect(said(await bash(taking, "pwd"))).toBe(`${elsewhere.root}\n`);
    await home.expectNothingLeft();
  });

  test("[EE16] [WP19] [WP20] a newer start of the same machine takes the older one's place, which ends", async () => {
    await using home = newHome();
    const older = await relay.dial(home, { env: trusting() });
    await using same = newHome();
    // The same settings, and so the same host id, but another state: a place where the older one cannot be seen.
    cpSync(join(home.dir, "config"), join(same.dir, "config"), { recursive: true });
    await using newer = await relay.dial(same, { env: trusting() });
    expect(await older.run.exit()).toBe(3);
    expect(older.run.stderr()).toMatch(oneSentence(/A newer start of the agent on this machine has taken its place/));
    expect(said(await bash(newer, "pwd"))).toBe(`${same.root}\n`);
  });
});

describe("what is no relay, or not yet", () => {
  test("[EE16] [ED9] [ST24] a relay without its key is said, with exit code 3", async () => {
    await using home = newHome();
    const keyless = await startWorker({ bindings: { AGENT_KEY: "" } });
    onTestFinished(() => keyless.close());
    const { code, stderr } = await ended(home, ["--relay", keyless.origin, "--key-file", writeKey(home)]);
    expect(code).toBe(3);
    expect(stderr).toMatch(oneSentence(/has no agent key yet.*npm run deploy/));
  });

  test("[EE16] [ST24] a web site that is no relay is said, with exit code 3", async () => {
    await using home = newHome();
    const site = createHttpServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void site.close());
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const { code, stderr } = await ended(home, ["--relay", origin, "--key-file", writeKey(home)]);
    expect(code).toBe(3);
    expect(stderr).toMatch(oneSentence(/instead of opening the link.*--relay/));
  });

  test("[EE17] a relay that is not there yet is waited for, which is said once, and used when it comes", async () => {
    await using home = newHome();
    const port = await freePort();
    const args = ["--relay", `http://127.0.0.1:${port}`, "--key-file", writeKey(home)];
    const run = runPimcp(home, [...QUIET_DIALLING, "--root", home.root, ...args]);
    await waitUntil("it says what it waits for", () => run.stderr().includes("No connection to"), 20_000);
    const late = await startWorker({ port });
    onTestFinished(() => late.close());
    const announced = await run.announced();
    expect(announced.mcpUrl).toBe(`${late.origin}/mcp`);
    expect(run.stderr()).toMatch(oneSentence(/Nothing answers at the relay's address/));
    run.child.kill("SIGINT");
    expect(await run.exit()).toBe(0);
  });

  test("[EE17] a port that accepts and never answers does not hang the start for ever, and Ctrl-C ends it at once", async () => {
    await using home = newHome();
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const args = ["--relay", `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, "--key-file", writeKey(home)];
    const run = runPimcp(home, [...QUIET_DIALLING, ...args]);
    await waitUntil("it gave up one attempt", () => run.stderr().includes("No connection to"), 20_000);
    run.child.kill("SIGINT");
    expect(await run.exit(3000)).toBe(0);
    await home.expectNothingLeft();
  });
});

test("[EE15] [ST17] an agent on a loopback https relay names https addresses", async () => {
  await using home = newHome();
  const args = ["--relay", relay.worker.origin, "--key-file", writeKey(home)];
  await using agent = await startPimcp({ home, quiet: QUIET_DIALLING, args, env: trusting() });
  expect(agent.said.mcpUrls).toEqual([`https://127.0.0.1:${relay.worker.port}/mcp`, `https://localhost:${relay.worker.port}/mcp`]);
  expect(said(await bash(agent, "echo here"))).toBe("here\n");
});
