/** `pimcp upstream-token`: bearer tokens of upstream servers in the operating system's credential store. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { visibleLine } from "../../shared/visible-text.ts";
import { expandHome } from "../adapter/config/expansion.ts";
import type { ServerDefinition } from "../adapter/config/server-definition.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { createConfigFiles } from "../node/config-files.ts";
import { addressOf } from "../node/configured-values.ts";
import { keyringTokens, type TokenStore } from "../node/keyring-tokens.ts";
import { removedText, shownAddress, tokenState, tokenText } from "../node/token-state.ts";
import { jsonLine } from "./json-line.ts";
import { readSecret, type SecretTerminal } from "./secret-input.ts";
import { refuseInToolShell } from "./tool-shell.ts";
import { UPSTREAM_TOKEN_HELP, type UpstreamTokenOrder } from "./upstream-token-arguments.ts";

export interface UpstreamTokenSurroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly show: (text: string) => void;
  readonly terminal: SecretTerminal;
  readonly isToolShell: boolean;
  /** Absent: the operating system's. */
  readonly store?: TokenStore;
}

type StoreOrder = Exclude<UpstreamTokenOrder, { readonly kind: "help" }>;

/** Throws `StartFailure`: 2 when nothing was tried, 1 when the store could not do it. */
export async function runUpstreamTokenCommand(order: UpstreamTokenOrder, around: UpstreamTokenSurroundings): Promise<ExitCode> {
  const { show, store = keyringTokens() } = around;
  if (order.kind === "help") {
    show(UPSTREAM_TOKEN_HELP);
    return EXIT.asked;
  }
  const { server, json } = order;
  const name = visibleLine(server, 200);
  if (order.kind !== "status") refuseInToolShell(around.isToolShell, `pimcp upstream-token ${order.kind}`);
  if (order.kind === "remove") {
    const removed = await orFailed(store.remove(server));
    show(json ? jsonLine({ server, removed }) : `${removedText(removed, server)}\n`);
    return EXIT.asked;
  }
  const { address: configured, projectFile } = await configuredAddress(order, around);
  if (order.kind === "status") {
    const state = await orFailed(tokenState(store, server, configured));
    show(json ? jsonLine({ server, address: shownAddress(configured), token: state }) : `${tokenText(state, server, configured)}\n`);
    return EXIT.asked;
  }
  const said = projectFile === null ? "" : `, which ${visibleLine(projectFile, 300)} of the project says and a client may have written`;
  const token = await readSecret(`Token for ${name} at ${shownAddress(configured)}${said}: `, around.terminal);
  await orFailed(store.write(server, configured.href, token));
  const note =
    projectFile === null
      ? ""
      : ` Its address stands in ${visibleLine(projectFile, 300)} of the project: remove the token if it is not the one you mean.`;
  show(
    json ? jsonLine({ server, address: shownAddress(configured), token: "kept", projectFile }) : `${tokenText("kept", server, configured)}${note}\n`,
  );
  return EXIT.asked;
}

interface ConfiguredAddress {
  readonly address: URL;
  /** The project's file that names it; null: one of the person's own does. */
  readonly projectFile: string | null;
}

async function configuredAddress(order: StoreOrder, { cwd, home, env, platform }: UpstreamTokenSurroundings): Promise<ConfiguredAddress> {
  const root = resolve(cwd, expandHome(order.root ?? (env["PI_AS_MCP_ROOT"] || "."), home));
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new StartFailure(`There is no directory ${visibleLine(root, 300)}: name the project's with --root.`);
  const configPath = order.configFile === null ? {} : { configPath: resolve(cwd, expandHome(order.configFile, home)) };
  const config = await createConfigFiles({ cwd: root, home, env, platform, ...configPath, trustsProjectSettings: () => true }).load();
  const name = visibleLine(order.server, 200);
  const found = config.servers.get(order.server);
  if (found === undefined) throw new StartFailure(`No MCP server ${name} is configured here; pimcp config lists those that are.`);
  if (found.state === "invalid") throw new StartFailure(`The entry of ${name} cannot be used: ${visibleLine(found.problem, 600)}`);
  const { transport } = found.definition;
  if (transport.kind !== "http") throw new StartFailure(`${name} is no HTTP server ("url"), so it has no bearer token.`);
  if (!transport.bearerTokenStore && order.kind === "set")
    throw new StartFailure(`${name} would not be sent a stored token: set "bearerTokenStore": true in its entry first.`);
  try {
    const address = addressOf(transport.url, transport.literal, { env });
    return { address, projectFile: projectFileOf(found.definition) };
  } catch (error) {
    throw new StartFailure(`The address of ${name} cannot be told: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function projectFileOf({ origins, projectText }: ServerDefinition): string | null {
  const from = origins["url"];
  return projectText !== null && from !== undefined && PROJECT_LAYERS.has(from.layer) ? from.file : null;
}

/** What a project's file imports counts as the project's, where its text has to be allowed. */
const PROJECT_LAYERS: ReadonlySet<string> = new Set(["project", "import", "plugin"]);

async function orFailed<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new StartFailure(error instanceof Error ? error.message : String(error), EXIT.failed, { cause: error });
  }
}
