/** Whether what a project's files configure may be used in Pi: its own trust of the folder. */
import type { ProjectTrust } from "../adapter/ports.ts";
import type { PiHost } from "./pi-host.ts";

/** Pi asks about a project once, for everything that lies in it, before a session begins: nobody is asked here. */
export function piTrust(host: PiHost): ProjectTrust {
  const isTrusted = (): boolean => {
    try {
      return host.session()?.isProjectTrusted() === true;
    } catch {
      // Pi replaced the session meanwhile: whatever it gave throws from then on.
      return false;
    }
  };
  return {
    known: () => (isTrusted() ? "allowed" : "unasked"),
    ask: (_subject, signal) => Promise.resolve(!signal.aborted && isTrusted()),
  };
}
