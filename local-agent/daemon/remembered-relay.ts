/** The relay that `deploy` set up, so that a plain start dials it: `relay.json` in the settings directory. */
import { join } from "node:path";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { readPrivateFile, writePrivateFile } from "./config-dir.ts";
import { StartFailure } from "./start-failure.ts";

export interface RememberedRelay {
  /** Origin, no slash. */
  readonly url: string;
  readonly keyFile: string;
}

export function rememberRelay(configDir: string, relay: RememberedRelay): void {
  writePrivateFile(path(configDir), JSON.stringify(relay, null, 2));
}

/** Throws `StartFailure` for a file that is there and makes no sense: silently dialling something else would be worse. */
export function readRememberedRelay(configDir: string): RememberedRelay | undefined {
  const text = readPrivateFile(path(configDir));
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (isJsonObject(value) && typeof value["url"] === "string" && URL.canParse(value["url"]) && typeof value["keyFile"] === "string") {
    return { url: new URL(value["url"]).origin, keyFile: value["keyFile"] };
  }
  throw new StartFailure(`${path(configDir)} is damaged: run npm run deploy again, or remove it to use the local relay.`);
}

/** Where `deploy` keeps the one secret of a deployment. */
export function agentKeyPath(configDir: string): string {
  return join(configDir, "agent-key");
}

function path(configDir: string): string {
  return join(configDir, "relay.json");
}
