/** The Pi session that the adapter works in, as its ports reach it. It changes when Pi replaces the session. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

export interface PiHost {
  readonly pi: ExtensionAPI;
  /** Null before the first session and after its end. A context that Pi replaced throws, so it is asked for at each use. */
  session(): ExtensionContext | null;
}

/** Whether a person can be asked right now; not in a session that Pi has replaced. */
export function hasPerson(host: PiHost): boolean {
  try {
    return host.session()?.hasUI === true;
  } catch {
    return false;
  }
}
