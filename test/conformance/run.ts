/**
 * The official conformance suite: servers directly and through the relay, upstreams through the agent, the adapter as a client, and the
 * relay's issuer: `node test/conformance/run.ts [--only=direct|relayed|client|issuer] [--subject=NAME]`. Fails on a failure that
 * baseline.yml does not expect, on an expectation that no longer holds, and on any check that passes directly and not through the relay. Results stay in test/.out/conformance.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { CLIENTS, startIssuer, type ClientName } from "./authorization.ts";
import { startBearerShim } from "./bearer-shim.ts";
import { REVISIONS, runClientScenarios, runSuite, type Revision, type SuiteResult } from "./suite.ts";
import { startDirect, startRelayed, SUBJECTS, type StartTarget, type Subject } from "./targets.ts";
import { judge, lostSinceRecorded, lostThroughRelay, type ExpectedFailures } from "./verdict.ts";

type Baseline = Readonly<Record<Subject, Readonly<Record<Revision, readonly ExpectedFailures[]>>>> & {
  /** Scenarios, each with the number of its checks that pass. */
  readonly client: Readonly<Record<Revision, Readonly<Record<string, number>>>>;
  readonly issuer: Readonly<Partial<Record<ClientName, readonly ExpectedFailures[]>>>;
};

const OUT = join(import.meta.dirname, "../.out/conformance");
const WAYS = { direct: startDirect, relayed: startRelayed } as const satisfies Record<string, StartTarget>;
type Way = keyof typeof WAYS;

const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const ways = (Object.keys(WAYS) as Way[]).filter((way) => only === undefined || way === only);
const named = process.argv.find((argument) => argument.startsWith("--subject="))?.slice("--subject=".length);
const subjects = (Object.keys(SUBJECTS) as Subject[]).filter((subject) => named === undefined || subject === named);
const baseline = parse(await readFile(join(import.meta.dirname, "baseline.yml"), "utf8")) as Baseline;

let passed = 0;
let failed = 0;
const fail = (sentence: string): void => {
  failed += 1;
  console.log(`  failed: ${sentence}`);
};

const runs = (part: string): boolean => named === undefined && (only === undefined || only === part);
if (ways.length === 0 && !runs("client") && !runs("issuer")) fail(`--only takes direct, relayed, client or issuer, not ${only}`);
for (const subject of subjects) {
  const results = new Map<string, SuiteResult>();
  for (const way of ways) await runAgainst(subject, way, results);
  if (ways.length > 1) compare(subject, results);
}
if (runs("client")) for (const revision of REVISIONS) await runClient(revision);
if (runs("issuer")) await runIssuer();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

async function runAgainst(subject: Subject, way: Way, results: Map<string, SuiteResult>): Promise<void> {
  const start = SUBJECTS[subject][way];
  if (start === null) return;
  const started = start();
  try {
    const target = await WAYS[way](started.handle);
    const shim = await startBearerShim(target);
    try {
      for (const revision of REVISIONS) {
        const result = await runSuite(shim.url, revision, join(OUT, `${subject}-${way}-${revision}`));
        results.set(`${way} ${revision}`, result);
        report(`${subject}, ${way}, ${revision}`, result, baseline[subject][revision]);
      }
    } finally {
      await shim.close();
      await target.close();
    }
  } catch (error) {
    fail(`${subject}, ${way}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await started.close();
  }
}

async function runClient(revision: Revision): Promise<void> {
  try {
    const recorded = baseline.client[revision];
    const result = await runClientScenarios(Object.keys(recorded), revision, join(OUT, `client-${revision}`));
    report(`client, ${revision}`, result, []);
    for (const sentence of lostSinceRecorded(result, recorded)) fail(sentence);
  } catch (error) {
    fail(`client, ${revision}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function runIssuer(): Promise<void> {
  try {
    await using issuer = await startIssuer();
    for (const client of Object.keys(CLIENTS) as ClientName[]) {
      report(`issuer, ${client}`, await issuer.run(client, join(OUT, `issuer-${client}`)), baseline.issuer[client] ?? []);
    }
  } catch (error) {
    fail(`issuer: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function report(title: string, result: SuiteResult, expected: readonly ExpectedFailures[]): void {
  const verdict = judge(result, expected);
  console.log(
    `${title}: ${verdict.passed.length} scenarios pass, ${verdict.expected.length} fail as baseline.yml says, ${verdict.failed.length} fail`,
  );
  passed += verdict.passed.length;
  for (const sentence of verdict.failed) fail(sentence);
}

function compare(subject: Subject, results: ReadonlyMap<string, SuiteResult>): void {
  for (const revision of REVISIONS) {
    const [direct, relayed] = [results.get(`direct ${revision}`), results.get(`relayed ${revision}`)];
    if (direct === undefined || relayed === undefined) continue; // Its failure is reported already.
    const lost = lostThroughRelay(direct, relayed);
    console.log(`${subject}, ${revision}: ${lost.length} checks are lost through the relay`);
    if (lost.length === 0) passed += 1;
    for (const sentence of lost) fail(sentence);
  }
}
