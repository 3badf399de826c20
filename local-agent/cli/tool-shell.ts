/** What the person alone may do is refused in a shell that a tool started. */
import { StartFailure } from "../daemon/start-failure.ts";

/** A model that means to help would otherwise let itself in. What this cannot stop: docs/security.md. Throws `StartFailure`. */
export function refuseInToolShell(isToolShell: boolean, command: string): void {
  if (!isToolShell) return;
  throw new StartFailure(`${command} is the person's alone, and this shell was started by a tool of an agent: run it in a terminal of your own.`);
}
