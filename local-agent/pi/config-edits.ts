/** What a person decides about servers in Pi, in the files that Pi's session reads. */
import { homedir } from "node:os";
import type { ConfigFilesOptions } from "../node/config-files.ts";
import { keepDirectTools } from "../node/direct-choice.ts";
import { setServerState } from "../node/project-override.ts";
import type { ConfigEdits } from "./mcp-subcommand.ts";

/** Which files count for a session. */
export interface SessionFiles {
  readonly cwd: string;
  /** In place of the file in Pi's directory; null: what the command line says, else that file. */
  readonly configPath: string | null;
}

export function createConfigEdits({ cwd, configPath }: SessionFiles): ConfigEdits {
  const options: ConfigFilesOptions = {
    cwd,
    env: process.env,
    home: homedir(),
    platform: process.platform,
    argv: process.argv.slice(2),
    ...(configPath !== null && { configPath }),
    trustsProjectSettings: () => true,
  };
  return {
    async setDisabled(server, disabled) {
      const written = await setServerState(server, disabled ? "disabled" : "enabled", options);
      if (!written.ok) throw new Error(written.error);
      return written.value.file;
    },
    async keepDirectTools(server, directTools) {
      const written = await keepDirectTools(server, directTools, options);
      if (!written.ok) throw new Error(written.error);
      return written.value;
    },
  };
}
