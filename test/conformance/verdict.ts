/** What counts as passed: pure, so that the judge can be tested. */
import type { Check, SuiteResult } from "./suite.ts";

export interface Verdict {
  readonly passed: readonly string[];
  /** Sentences. */
  readonly failed: readonly string[];
  /** Fail as the baseline says. */
  readonly expected: readonly string[];
}

/** One reason of baseline.yml. A name is `scenario` or `scenario:check-id`. */
export interface ExpectedFailures {
  readonly because: string;
  readonly fails: readonly string[];
}

/** An entry that does not fail is stale, and fails: so the baseline cannot rot. */
export function judge(result: SuiteResult, baseline: readonly ExpectedFailures[]): Verdict {
  const names = new Set(baseline.flatMap((reason) => reason.fails));
  const met = new Set<string>();
  const verdict = { passed: [] as string[], failed: [] as string[], expected: [] as string[] };
  for (const [scenario, checks] of result) {
    const failing = checks.filter((check) => check.status === "FAILURE");
    const unexpected = failing.filter((check) => {
      const name = [scenario, `${scenario}:${check.id}`].find((candidate) => names.has(candidate));
      if (name !== undefined) met.add(name);
      return name === undefined;
    });
    if (failing.length === 0) verdict.passed.push(scenario);
    else if (unexpected.length === 0) verdict.expected.push(scenario);
    else verdict.failed.push(`${scenario}: ${failures(unexpected)}`);
  }
  const stale = [...names].filter((name) => !met.has(name));
  return {
    ...verdict,
    failed: [...verdict.failed, ...stale.map((name) => `baseline.yml expects ${name} to fail, and it does not: remove the entry`)],
  };
}

/** What passes directly and not through the relay. */
export function lostThroughRelay(direct: SuiteResult, relayed: SuiteResult): string[] {
  const lost: string[] = [];
  for (const [scenario, checks] of direct) {
    const other = relayed.get(scenario) ?? [];
    for (const id of new Set(checks.map((check) => check.id))) {
      const [before, after] = [count(checks, id, "SUCCESS"), count(other, id, "SUCCESS")];
      const worse = after < before || count(other, id, "FAILURE") > count(checks, id, "FAILURE");
      if (worse) lost.push(`${scenario}: ${id} passes ${before} times directly and ${after} times through the relay. ${failures(other)}`);
    }
  }
  return lost;
}

/** Where other than the recorded number of checks pass. More fails too: it is worth recording. */
export function lostSinceRecorded(result: SuiteResult, recorded: Readonly<Record<string, number>>): string[] {
  return Object.entries(recorded).flatMap(([scenario, expected]) => {
    const checks = result.get(scenario) ?? [];
    const passing = checks.filter(({ status }) => status === "SUCCESS").length;
    return passing === expected ? [] : [`${scenario}: ${passing} checks pass, baseline.yml says ${expected}. ${failures(checks)}`];
  });
}

function count(checks: readonly Check[], id: string, status: string): number {
  return checks.filter((check) => check.id === id && check.status === status).length;
}

function failures(checks: readonly Check[]): string {
  return checks
    .filter((check) => check.status === "FAILURE")
    .map((check) => `${check.id}: ${check.message}`)
    .join("; ");
}
