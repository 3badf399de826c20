/** The suite's scenarios for an authorization server, against the issuer of a real relay; a script is browser and person. */
import { createEverythingServer } from "../fixtures/everything-server.ts";
import { createRelayLink, type RelayLink } from "../../local-agent/daemon/relay-link.ts";
import { freePort } from "../support/free-port.ts";
import { linkOptions } from "../support/relayed-target.ts";
import { openAndAllow } from "../support/sign-in.ts";
import { startWorker } from "../support/worker-runtime.ts";
import { startSecretMethodShim, type SecretMethod } from "./secret-method-shim.ts";
import { runScenarios, type SuiteResult } from "./suite.ts";

interface ClientCase {
  /** How it registers to prove itself at the token endpoint. */
  readonly registers: "none" | SecretMethod;
  /** Whether the issuer's documents offer that way alone (secret-method-shim.ts). */
  readonly alone: boolean;
}

export const CLIENTS = {
  public: { registers: "none", alone: false },
  "confidential-body": { registers: "client_secret_post", alone: true },
  "confidential-basic": { registers: "client_secret_basic", alone: true },
  "confidential-beside-none": { registers: "client_secret_post", alone: false },
} as const satisfies Record<string, ClientCase>;
export type ClientName = keyof typeof CLIENTS;

export interface IssuerTarget extends AsyncDisposable {
  run(name: ClientName, outDir: string): Promise<SuiteResult>;
}

/** One relay for all clients. */
export async function startIssuer(): Promise<IssuerTarget> {
  const worker = await startWorker();
  const shim = await startSecretMethodShim(worker.origin);
  const link = createRelayLink(linkOptions(worker.origin, createEverythingServer().handle, {}, { origins: [worker.origin, shim.origin] }));
  await link.opened;
  return {
    async run(name, outDir) {
      const { registers, alone }: ClientCase = CLIENTS[name];
      if (alone && registers !== "none") shim.offer(registers);
      return runSuiteAs(registers, alone ? shim.origin : worker.origin, link, outDir);
    },
    [Symbol.asyncDispose]: async () => {
      await link.close();
      await shim[Symbol.asyncDispose]();
      await worker.close();
    },
  };
}

async function runSuiteAs(method: ClientCase["registers"], issuer: string, link: RelayLink, outDir: string): Promise<SuiteResult> {
  const port = await freePort();
  const client = await register(issuer, method, `http://127.0.0.1:${port}/callback`);
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

async function register(issuer: string, method: string, redirect: string): Promise<{ readonly client_id: string; readonly client_secret?: string }> {
  const answer = await fetch(`${issuer}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "conformance", redirect_uris: [redirect], token_endpoint_auth_method: method }),
  });
  if (answer.status !== 201) throw new Error(`/register answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { client_id: string; client_secret?: string };
}

async function allowAndReturn(address: string, link: RelayLink): Promise<void> {
  const { callback } = await openAndAllow(new URL(address), async (decision) => (await link.decide(decision)).outcome);
  await (await fetch(callback)).text();
}
