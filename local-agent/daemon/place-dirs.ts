/** Where an agent keeps what is its own: one directory per relay and workspace, or per port or root where there is no relay. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { LOCAL_PLACES, RELAY_PLACES } from "./agent-lock.ts";
import { preparePrivateDirectory } from "./config-dir.ts";
import { relayName, type RelayTarget } from "./relay-target.ts";

/** Its claim, its page's address, its outbox and, embedded, the relay's state. */
export function relayPlace(target: RelayTarget, stateDir: string): string {
  return placeIn(RELAY_PLACES, relayName(target), stateDir);
}

/** Its claim, its page's address and the conversation. */
export function localPlace(name: string, stateDir: string): string {
  return placeIn(LOCAL_PLACES, name, stateDir);
}

function placeIn(places: string, name: string, stateDir: string): string {
  const readable = name
    .replace(/^https?:\/\//, "")
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 60);
  const unique = createHash("sha256").update(name).digest("hex").slice(0, 8);
  preparePrivateDirectory(stateDir);
  preparePrivateDirectory(join(stateDir, places));
  return preparePrivateDirectory(join(stateDir, places, `${readable}-${unique}`));
}
