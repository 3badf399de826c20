/** What a person decides about servers in Pi, in the files that Pi's session reads. */
import { keepDirectTools } from "../node/direct-choice.ts";
import { setServerState } from "../node/project-override.ts";
import { sessionFiles } from "./configuration.ts";
import type { ConfigEdits } from "./mcp-subcommand.ts";
import type { PiHost } from "./pi-host.ts";

/** @param configPath in place of the file in Pi's directory; null: what the command line says, else that file */
export function createConfigEdits(host: PiHost, configPath: string | null): ConfigEdits {
  // A person decides, for whom everything counts that is written there.
  const options = { ...sessionFiles(host, configPath), trustsProjectSettings: () => true };
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
