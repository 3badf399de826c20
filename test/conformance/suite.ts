/** Runs the official conformance suite against one URL and reads what it found. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

export interface Check {
  readonly id: string;
  readonly status: string;
  readonly message: string;
}

/** Scenario → its checks. */
export type SuiteResult = ReadonlyMap<string, readonly Check[]>;

const TEST = join(import.meta.dirname, "..");
const ENTRY = join(TEST, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const DEADLINE_MS = 180_000;

/** @throws with what the suite printed last if it found nothing to run or did not end in time */
export function runSuite(url: string, revision: Revision, outDir: string): Promise<SuiteResult> {
  return runScenarios(["server", "--url", url, "--requirements", revision], { outDir, prefix: "server" });
}

export interface ScenarioRun {
  readonly outDir: string;
  /** What the suite's folders begin with; empty for clients. */
  readonly prefix: string;
  /** Each time something was printed: all of it so far. For a suite that asks for something to be done. */
  readonly onPrinted?: (printed: string) => void;
  /** Ends the suite; what it was aborted with is thrown. */
  readonly signal?: AbortSignal;
}

const CLIENT = join(import.meta.dirname, "adapter-client.ts");

/**
 * The adapter as a client of the suite's own server, for each of these scenarios. One after the other: some of them take the time.
 * @throws as `runSuite`
 */
export async function runClientScenarios(scenarios: readonly string[], revision: Revision, outDir: string): Promise<SuiteResult> {
  const results = new Map<string, readonly Check[]>();
  const command = `"${process.execPath}" --disable-warning=ExperimentalWarning "${CLIENT}"`;
  for (const scenario of scenarios) {
    const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision];
    for (const [name, checks] of await runScenarios(args, { outDir: join(outDir, scenario), prefix: "" })) results.set(name, checks);
  }
  return results;
}

/** @throws as `runSuite` */
export async function runScenarios(args: readonly string[], { outDir, prefix, ...watched }: ScenarioRun): Promise<SuiteResult> {
  if (!existsSync(ENTRY)) throw new Error("the conformance suite is not installed: run `npm ci --prefix test`");
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const printed = await run([...args, "-o", outDir], watched);
  await writeFile(join(outDir, "printed.log"), printed);
  const result = await readResults(outDir, prefix);
  if (result.size === 0) throw new Error(`the conformance suite ran nothing:\n${printed.slice(-2000)}`);
  return result;
}

function run(args: readonly string[], { onPrinted, signal }: Pick<ScenarioRun, "onPrinted" | "signal">): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [ENTRY, ...args], { stdio: ["ignore", "pipe", "pipe"], timeout: DEADLINE_MS, killSignal: "SIGKILL" });
    let printed = "";
    const read = (text: string): void => {
      printed += text;
      onPrinted?.(printed);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", read);
    child.once("error", reject);
    signal?.addEventListener("abort", () => {
      reject(signal.reason as Error);
      child.kill("SIGKILL");
    });
    // The exit code says whether the required set passed; what is expected of us stands in the baseline instead.
    child.once("close", (_, killed) =>
      killed === null ? resolve(printed) : reject(new Error(`the conformance suite did not end within ${DEADLINE_MS} ms`)),
    );
  });
}

async function readResults(outDir: string, prefix: string): Promise<SuiteResult> {
  const results = new Map<string, Check[]>();
  for (const folder of await readdir(outDir)) {
    const start = prefix === "" ? "" : `${prefix}-`;
    const scenario = folder.startsWith(start) ? /^(.+)-\d{4}-\d\d-\d\dT[\w-]+$/.exec(folder.slice(start.length))?.[1] : undefined;
    if (scenario === undefined) continue;
    const checks = JSON.parse(await readFile(join(outDir, folder, "checks.json"), "utf8")) as { id: string; status: string; errorMessage?: string }[];
    results.set(
      scenario,
      checks.map(({ id, status, errorMessage = "" }) => ({ id, status, message: errorMessage })),
    );
  }
  return results;
}
