/** The program `pimcp`: one command, one exit code, and for every expected failure one sentence on stderr. */
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Result } from "../../shared/result.ts";
import type { Directories } from "../daemon/config-dir.ts";
import { findDirectories } from "../node/state-directories.ts";
import { findInstallation, type Installation } from "../daemon/installation.ts";
import { readRememberedRelay } from "../daemon/remembered-relay.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { isStartedByTool } from "../tools/process-marker.ts";
import { readCommand } from "./arguments.ts";
import { AUDIT_FLAGS, readAuditArguments } from "./audit-arguments.ts";
import { runAuditCommand } from "./audit-command.ts";
import { CONFIG_FLAGS, readConfigArguments } from "./config-arguments.ts";
import { DEPLOY_FLAGS, readDeployArguments } from "./deploy-arguments.ts";
import { deploy } from "./deploy.ts";
import { FLAGS } from "./flags.ts";
import { GRANTS_FLAGS, readGrantsArguments } from "./grants-arguments.ts";
import { runGrantsCommand } from "./grants-command.ts";
import { helpText } from "./help.ts";
import { explainKept, takeNpmCall, type NpmCall } from "./npm-call.ts";
import { openRunningPage } from "./open-page.ts";
import { PENDING_FLAGS, readPendingArguments } from "./pending-arguments.ts";
import { runPendingCommand } from "./pending-command.ts";
import { runAgent } from "./run-agent.ts";
import { readTokenArguments, TOKEN_FLAGS } from "./token-arguments.ts";
import { runTokenCommand } from "./token-command.ts";
import { readUpstreamTokenArguments, UPSTREAM_TOKEN_FLAGS } from "./upstream-token-arguments.ts";

const show = (text: string): void => void process.stdout.write(text);

async function main(argv: readonly string[]): Promise<ExitCode> {
  const installation = findInstallation(fileURLToPath(import.meta.url));
  const directories = findDirectories(process.env, homedir());
  const npm = takeNpmCall(process.env);
  const asked = await runFirstWord(argv, { npm, installation, directories });
  if (asked !== undefined) return asked;
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
      return openRunningPage(directories, command.value.workspace, {
        show,
        isTerminal: process.stdout.isTTY,
        program: programOf(npm),
        env: process.env,
        platform: process.platform,
      });
    case "run":
      return runAgent({ ...command.value, installation, directories, isUnderNpm: npm !== null });
  }
}

interface Around {
  readonly npm: NpmCall | null;
  readonly installation: Installation;
  readonly directories: Directories;
}

/** Commands that read their own arguments; `undefined` when the first word is none of them. */
async function runFirstWord([command, ...argv]: readonly string[], { npm, installation, directories }: Around): Promise<ExitCode | undefined> {
  const stateDir = directories.state;
  const program = programOf(npm);
  switch (command) {
    case "deploy": {
      refuseKept(npm, DEPLOY_FLAGS, argv);
      const order = understood(readDeployArguments(argv, npm === null ? "pimcp deploy" : "npm run deploy --"));
      return deploy(order, { packageRoot: installation.packageRoot, directories, env: process.env, show, signal: signalOfEnd() });
    }
    case "grants":
    case "revoke":
      refuseKept(npm, GRANTS_FLAGS, argv);
      return runGrantsCommand(understood(readGrantsArguments(command, argv)), { stateDir, show, program });
    case "pending":
    case "allow":
    case "deny":
      refuseKept(npm, PENDING_FLAGS, argv);
      return runPendingCommand(understood(readPendingArguments(command, argv)), {
        stateDir,
        show,
        program,
        isToolShell: isStartedByTool(process.env),
      });
    case "token":
      refuseKept(npm, TOKEN_FLAGS, argv);
      return runTokenCommand(understood(readTokenArguments(argv, Date.now())), { directories, show, isToolShell: isStartedByTool(process.env) });
    case "audit":
      refuseKept(npm, AUDIT_FLAGS, argv);
      return runAuditCommand(understood(readAuditArguments(argv)), { stateDir, show });
    case "config": {
      refuseKept(npm, CONFIG_FLAGS, argv);
      const around = { cwd: process.cwd(), home: homedir(), env: process.env, platform: process.platform, show };
      // What reads those files is loaded for whoever asks about them.
      const { runConfigCommand } = await import("./config-command.ts");
      return runConfigCommand(understood(readConfigArguments(argv)), around);
    }
    case "upstream-token": {
      refuseKept(npm, UPSTREAM_TOKEN_FLAGS, argv);
      const { runUpstreamTokenCommand } = await import("./upstream-token-command.ts");
      return runUpstreamTokenCommand(understood(readUpstreamTokenArguments(argv)), {
        cwd: process.cwd(),
        home: homedir(),
        env: process.env,
        platform: process.platform,
        show,
        terminal: { input: process.stdin, write: (text) => void process.stderr.write(text) },
        isToolShell: isStartedByTool(process.env),
      });
    }
    case undefined:
    default:
      return undefined;
  }
}

/** What the person types before a command. */
function programOf(npm: NpmCall | null): string {
  return npm === null ? "pimcp" : "npm start --";
}

function understood<T>(order: Result<T, string>): T {
  if (!order.ok) throw new StartFailure(order.error);
  return order.value;
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
