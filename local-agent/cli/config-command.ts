/** `pimcp config`: the upstream servers of a project and where each word of them comes from, as text for people or as JSON. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { visibleLine } from "../../shared/visible-text.ts";
import { configReport } from "../adapter/config/config-report.ts";
import { configText } from "../adapter/config/config-text.ts";
import { expandHome } from "../adapter/config/expansion.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { createConfigFiles } from "../node/config-files.ts";
import { CONFIG_HELP, type ConfigOrder } from "./config-arguments.ts";
import { jsonLine } from "./json-line.ts";

export interface ConfigSurroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly show: (text: string) => void;
}

/** Throws `StartFailure` when there is no such directory. */
export async function runConfigCommand(order: ConfigOrder, around: ConfigSurroundings): Promise<ExitCode> {
  const { cwd, home, env, platform, show } = around;
  if (order.kind === "help") {
    show(CONFIG_HELP);
    return EXIT.asked;
  }
  const root = resolve(cwd, expandHome(order.root ?? (env["PI_AS_MCP_ROOT"] || "."), home));
  if (!isDirectory(root)) throw new StartFailure(`There is no directory ${visibleLine(root, 300)}: name the project's with --root.`);
  const configPath = order.configFile === null ? {} : { configPath: resolve(cwd, expandHome(order.configFile, home)) };
  // Everything is shown as it would be once it is trusted; what needs trust is marked.
  const config = await createConfigFiles({ cwd: root, home, env, platform, ...configPath, trustsProjectSettings: () => true }).load();
  const report = configReport(config);
  show(order.json ? jsonLine({ root, ...report }) : configText(report, home));
  return EXIT.asked;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
