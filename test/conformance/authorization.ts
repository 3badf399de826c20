/** The suite's scenarios for an authorization server, against the issuer of a real relay; a script is browser and person. */
import { createHash, randomBytes } from "node:crypto";
import { createEverythingServer } from "../fixtures/everything-server.ts";
import { createRelayLink, type RelayLink } from "../../local-agent/daemon/relay-link.ts";
import { freePort } from "../support/free-port.ts";
import { linkOptions } from "../support/relayed-target.ts";
import { openAndAllow } from "../support/sign-in.ts";
import { startWorker } from "../support/worker-runtime.ts";
import { startSecretMethodShim, type SecretMethod } from "./secret-method-shim.ts";
import { runScenarios, type SuiteResult } from "./suite.ts";

interface ClientCase {
  /** How it proves itself at the token endpoint. */
  readonly proves: "none" | SecretMethod;
  /** Registers itself, or is the one that a person configured by hand. */
  readonly known: "registered" | "by-hand";
  /** Whether the issuer's documents offer that proof alone (secret-method-shim.ts). */
  readonly alone: boolean;
}

export const CLIENTS = {
  public: { proves: "none", known: "registered", alone: false },
  "confidential-body": { proves: "client_secret_post", known: "registered", alone: true },
  "confidential-basic": { proves: "client_secret_basic", known: "registered", alone: true },
  "confidential-beside-none": { proves: "client_secret_post", known: "registered", alone: false },
  "by-hand-body": { proves: "client_secret_post", known: "by-hand", alone: true },
  "by-hand-basic": { proves: "client_secret_basic", known: "by-hand", alone: true },
} as const satisfies Record<string, ClientCase>;
export type ClientName = keyof typeof CLIENTS;

export interface IssuerTarget extends AsyncDisposable {
  run(name: ClientName, outDir: string): Promise<SuiteResult>;
}

interface Credentials {
  readonly client_id: string;
  readonly client_secret?: string;
}

/** One relay for all clients. */
export async function startIssuer(): Promise<IssuerTarget> {
  const worker = await startWorker();
  const shim = await startSecretMethodShim(worker.origin);
  const byHand = { client_id: "configured-by-hand", client_secret: randomBytes(32).toString("base64url") };
  const sha256 = createHash("sha256").update(byHand.client_secret).digest("hex");
  const deposits = { origins: [worker.origin, shim.origin], client: { id: byHand.client_id, sha256, redirects: null } };
  const link = createRelayLink(linkOptions(worker.origin, createEverythingServer().handle, {}, deposits));
  await link.opened;
  return {
    async run(name, outDir) {
      const { proves, known, alone }: ClientCase = CLIENTS[name];
      if (alone && proves !== "none") shim.offer(proves);
      const issuer = alone ? shim.origin : worker.origin;
      const port = await freePort();
      const client = known === "by-hand" ? byHand : await register(issuer, proves, `http://127.0.0.1:${port}/callback`);
      return runSuiteAs(client, { issuer, port, link, outDir });
    },
    [Symbol.asyncDispose]: async () => {
      await link.close();
      await shim[Symbol.asyncDispose]();
      await worker.close();
    },
  };
}

interface SuiteRun {
  readonly issuer: string;
  /** Of the suite's callback. */
  readonly port: number;
  readonly link: RelayLink;
  readonly outDir: string;
}

async function runSuiteAs(client: Credentials, { issuer, port, link, outDir }: SuiteRun): Promise<SuiteResult> {
  const secret = client.client_secret === undefined ? [] : ["--client-secret", client.client_secret];
  const args = ["--url", issuer, "--client-id", client.client_id, ...secret, "--resource", `${issuer}/mcp`, "--port", String(port)];
  const failed = new AbortController();
  let consent: Promise<void> | undefined;
  const onPrinted = (printed: string): void => {
    const address = /^(http\S+\/authorize\?\S+)\n/m.exec(printed)?.[1];
    if (address !== undefined) consent ??= allowAndReturn(address, link).catch((error: unknown) => failed.abort(error));
  };
  const result = await runScenarios(["authorization", ...args], { outDir, prefix: "authorization-server", onPrinted, signal: failed.signal });
  return new Map([...result].map(([scenario, checks]) => [scenario, checks.map(strict)]));
}

/** What was skipped or only warned of did not pass: there is nothing here that an issuer may leave out. */
function strict<C extends { readonly status: string }>(check: C): C {
  return ["SUCCESS", "INFO"].includes(check.status) ? check : { ...check, status: "FAILURE" };
}

async function register(issuer: string, method: string, redirect: string): Promise<Credentials> {
  const answer = await fetch(`${issuer}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "conformance", redirect_uris: [redirect], token_endpoint_auth_method: method }),
  });
  if (answer.status !== 201) throw new Error(`/register answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Credentials;
}

async function allowAndReturn(address: string, link: RelayLink): Promise<void> {
  const { callback } = await openAndAllow(new URL(address), async (decision) => (await link.decide(decision)).outcome);
  await (await fetch(callback)).text();
}
