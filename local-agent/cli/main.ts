/** The program `pimcp`: one command, one exit code, and for every expected failure one sentence on stderr. */
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { findDirectories } from "../daemon/config-dir.ts";
import { findInstallation } from "../daemon/installation.ts";
import { readRememberedRelay } from "../daemon/remembered-relay.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { readCommand } from "./arguments.ts";
import { DEPLOY_FLAGS, readDeployArguments } from "./deploy-arguments.ts";
import { deploy } from "./deploy.ts";
import { FLAGS } from "./flags.ts";
import { GRANTS_FLAGS, readGrantsArguments } from "./grants-arguments.ts";
import { runGrantsCommand } from "./grants-command.ts";
import { helpText } from "./help.ts";
import { explainKept, takeNpmCall, type NpmCall } from "./npm-call.ts";
import { openRunningPage } from "./open-page.ts";
import { runAgent } from "./run-agent.ts";

const show = (text: string): void => void process.stdout.write(text);

async function main(argv: readonly string[]): Promise<ExitCode> {
  const installation = findInstallation(fileURLToPath(import.meta.url));
  const directories = findDirectories(process.env, homedir());
  const npm = takeNpmCall(process.env);
  if (argv[0] === "deploy") {
    refuseKept(npm, DEPLOY_FLAGS, argv.slice(1));
    const order = readDeployArguments(argv.slice(1), npm === null ? "pimcp deploy" : "npm run deploy --");
    if (!order.ok) throw new StartFailure(order.error);
    return deploy(order.value, { packageRoot: installation.packageRoot, directories, env: process.env, show, signal: signalOfEnd() });
  }
  if (argv[0] === "grants" || argv[0] === "revoke") {
    refuseKept(npm, GRANTS_FLAGS, argv.slice(1));
    const order = readGrantsArguments(argv[0], argv.slice(1));
    if (!order.ok) throw new StartFailure(order.error);
    return runGrantsCommand(order.value, directories.state, show);
  }
  refuseKept(npm, FLAG_NAMES, argv);
  const isRelayDeployed = (): boolean => readRememberedRelay(directories.config) !== undefined;
  const command = readCommand(argv, { cwd: process.cwd(), home: homedir(), env: process.env, isRelayDeployed });
  if (!command.ok) throw new StartFailure(command.error);
  switch (command.value.kind) {
    case "help":
      show(helpText(installation.version));
      return EXIT.asked;
    case "version":
      show(`${installation.version}\n`);
      return EXIT.asked;
    case "open":
      return openRunningPage(directories, { show, isTerminal: process.stdout.isTTY, env: process.env, platform: process.platform });
    case "run":
      return runAgent({ ...command.value, installation, directories, isUnderNpm: npm !== null });
  }
}

const FLAG_NAMES = FLAGS.map((flag) => flag.name);

/** Rather than start in another way than was asked for. */
function refuseKept(npm: NpmCall | null, flags: readonly string[], argv: readonly string[]): void {
  const sentence = npm === null ? null : explainKept(npm, flags, argv);
  if (sentence !== null) throw new StartFailure(sentence);
}

/** For a command that runs another program: whatever ends this one stops that one. */
function signalOfEnd(): AbortSignal {
  const controller = new AbortController();
  for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.once(event, () => controller.abort());
  return controller.signal;
}

/** Pipes are written asynchronously: an exit right away would cut the last lines. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

let exitCode: ExitCode;
try {
  exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Only what is expected is shown as it is; a defect says so, in one line too.
  const text = error instanceof StartFailure ? error.message : `pimcp failed: ${error instanceof Error ? error.message : String(error)}`;
  process.stderr.write(`${text}\n`);
  exitCode = error instanceof StartFailure ? error.exitCode : EXIT.failed;
}
await Promise.race([Promise.all([flushed(process.stdout), flushed(process.stderr)]), new Promise((resolve) => setTimeout(resolve, 500))]);
process.exit(exitCode);
