/**
 * Where running agents of this account share their servers: one socket each, below the state directory. On Windows pipes are in no
 * directory; a file there says the name of each, which nobody can guess.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { Timers } from "../../shared/ports.ts";
import { identify } from "./process-identity.ts";

export interface SharedPlace {
  /** What is listened on. */
  readonly address: string;
  /** What others find it by; the socket itself but for Windows. */
  readonly file: string;
}

const CONNECT_MS = 2000;
const NAME = /^(\d+)-[0-9a-f]{8}\.(?:sock|pipe)$/;

/** Of this process; nothing is there yet. @param directory private and existing */
export function newSharedPlace(directory: string): SharedPlace {
  const name = `${process.pid}-${randomBytes(4).toString("hex")}`;
  if (process.platform !== "win32") return { address: join(directory, `${name}.sock`), file: join(directory, `${name}.sock`) };
  return { address: `\\\\.\\pipe\\pimcp-${randomBytes(32).toString("base64url")}`, file: join(directory, `${name}.pipe`) };
}

export function sharedDirectory(stateDir: string): string {
  return join(stateDir, "shared");
}

/** Newest first. Empty, too, for a directory that others could have put something into. */
export function findSharedPlaces(directory: string): readonly SharedPlace[] {
  if (!isPrivate(directory)) return [];
  const files = readdirSync(directory).filter((name) => NAME.test(name));
  const places = files.flatMap((name) => placeOf(join(directory, name)) ?? []);
  return places.toSorted((one, other) => other.madeAt - one.madeAt);
}

/** null: nobody listens there. Rejects never. */
export function connectShared({ address }: SharedPlace, timers: Timers, signal: AbortSignal): Promise<Socket | null> {
  const { promise, resolve } = Promise.withResolvers<Socket | null>();
  const socket = connect(address);
  const settle = (found: Socket | null): void => {
    cancel();
    signal.removeEventListener("abort", give);
    socket.off("connect", took);
    if (found === null) socket.destroy();
    resolve(found);
  };
  const took = (): void => settle(socket);
  const give = (): void => settle(null);
  const cancel = timers.after(CONNECT_MS, give);
  signal.addEventListener("abort", give, { once: true });
  socket.once("connect", took);
  // Later errors are told by the end of the socket, too.
  socket.on("error", give);
  if (signal.aborted) give();
  return promise;
}

/** Takes away what agents left that were killed. A process that lives may be about to listen. */
export async function removeStalePlaces(directory: string, timers: Timers): Promise<void> {
  for (const place of findSharedPlaces(directory)) {
    if (identify(pidOf(place.file)) !== undefined) continue;
    const socket = await connectShared(place, timers, new AbortController().signal);
    // Of a container with processes of its own that has this directory, too.
    if (socket !== null) socket.destroy();
    else rmSync(place.file, { force: true });
  }
}

function placeOf(file: string): (SharedPlace & { readonly madeAt: number }) | null {
  try {
    const { mtimeMs: madeAt } = statSync(file);
    return { file, address: file.endsWith(".pipe") ? readFileSync(file, "utf8").trim() : file, madeAt };
  } catch {
    return null; // It has ended meanwhile.
  }
}

function isPrivate(directory: string): boolean {
  try {
    const { uid, mode } = statSync(directory);
    return process.platform === "win32" || (uid === process.getuid?.() && (mode & 0o077) === 0);
  } catch {
    return false; // Nothing was ever shared.
  }
}

function pidOf(file: string): number {
  return Number(/(\d+)-[0-9a-f]{8}\.\w+$/.exec(file)?.[1] ?? 0);
}
