/**
 * One agent per relay and workspace on a machine (DESIGN D3). The claim is a record naming the holder; it counts for as
 * long as that very process lives, so a killed agent never blocks the next start and a suspended laptop never loses its
 * claim. Every look-and-claim happens under a short file lock, so two starts cannot both find the place free.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import { readPrivateFile, writePrivateFile } from "./config-dir.ts";
import { underGuard } from "./guard.ts";
import { identify, isStillRunning, type ProcessIdentity } from "../node/process-identity.ts";
import { StartFailure } from "./start-failure.ts";

export interface AgentClaim extends ProcessIdentity {
  readonly root: string;
  /** File with the page's address, for `pimcp open`; null without a page. */
  readonly pageFile: string | null;
  /** Where it can be asked (`control-server.ts`). */
  readonly control: string | null;
  /** The relay and its workspace, as `relayName` says them. */
  readonly serves: string;
}

/** Another agent holds the place. Nothing has been opened by then. */
export class PlaceTaken extends StartFailure {}

export interface Place {
  /** Private and existing. */
  readonly dir: string;
  /** What is served there, as `relayName` says it. */
  readonly name: string;
  /** The flags with which another agent finds a place beside it. */
  readonly flagsBeside: string;
}

/**
 * Claims a place for this process. Throws `PlaceTaken` naming the holder while one lives.
 * The returned function gives the claim up; calling it twice is harmless.
 */
export async function claimAgentPlace(
  { dir, name, flagsBeside }: Place,
  claim: Pick<AgentClaim, "root" | "pageFile" | "control">,
): Promise<() => void> {
  const own = identify(process.pid) ?? { pid: process.pid, began: "" };
  const path = claimPath(dir);
  await underGuard(dir, () => {
    const holder = readLiveClaim(dir);
    if (holder !== undefined) {
      throw new PlaceTaken(
        `Another agent on this machine already serves ${name} (process ${holder.pid}, root ${holder.root}): end it with kill ${holder.pid}, or start one beside it with ${flagsBeside}.`,
      );
    }
    writePrivateFile(path, JSON.stringify({ ...own, ...claim, serves: name }));
  });
  let held = true;
  return () => {
    if (held) rmSync(path, { force: true });
    held = false;
  };
}

/** The claim on `dir` if its holder lives. */
export function readLiveClaim(dir: string): AgentClaim | undefined {
  const text = readPrivateFile(claimPath(dir));
  const value = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(value)) return undefined; // Torn or foreign: nobody can be named, so nobody holds it.
  const { pid, began, root, pageFile, control, serves } = value;
  if (typeof pid !== "number" || typeof began !== "string" || typeof root !== "string") return undefined;
  const claim = {
    pid,
    began,
    root,
    pageFile: typeof pageFile === "string" ? pageFile : null,
    control: typeof control === "string" ? control : null,
    serves: typeof serves === "string" ? serves : "",
  };
  return isStillRunning(claim) ? claim : undefined;
}

/** Every living claim of this account on a relay; `stateDir` is `Directories.state`. */
export function listLiveClaims(stateDir: string): readonly AgentClaim[] {
  return claimsIn(join(stateDir, RELAY_PLACES));
}

/** Those, and of agents without a relay that have a page: for what concerns pages and ports only. */
export function listAllClaims(stateDir: string): readonly AgentClaim[] {
  return [...listLiveClaims(stateDir), ...claimsIn(join(stateDir, LOCAL_PLACES))];
}

export const RELAY_PLACES = "relays";
/** Agents without a relay cannot be asked for grants and tokens, so they stand apart. */
export const LOCAL_PLACES = "local";

function claimsIn(places: string): readonly AgentClaim[] {
  let names: readonly string[];
  try {
    names = readdirSync(places);
  } catch {
    return []; // Nothing was ever started.
  }
  return names.map((name) => readLiveClaim(join(places, name))).filter((claim) => claim !== undefined);
}

function claimPath(dir: string): string {
  return join(dir, "agent.json");
}
