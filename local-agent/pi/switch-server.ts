/** Disables or enables a server for the project that the Pi session works in. */
import { homedir } from "node:os";
import { setServerState } from "../node/project-override.ts";

/** Resolves with the file that says so now. Rejects with a sentence; nothing was written then. */
export async function switchServer(server: string, disabled: boolean, cwd: string): Promise<string> {
  const written = await setServerState(server, disabled ? "disabled" : "enabled", {
    cwd,
    env: process.env,
    home: homedir(),
    platform: process.platform,
    trustsProjectSettings: () => true,
  });
  if (!written.ok) throw new Error(written.error);
  return written.value.file;
}
