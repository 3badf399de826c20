/**
 * Pi's ports for one call of a path tool: each goes through the confined root, and the first refusal is remembered,
 * because Pi turns some errors into its own ("Path not found").
 */
import type { JsonObject } from "../../shared/json.ts";
import { detectSupportedImageMimeType } from "./pi-modules.ts";
import * as files from "./confined-files.ts";
import { errorCode, Refusal, type ConfinedRoot } from "./confined-root.ts";
import type { SearchMemory } from "./call-spawns.ts";
import { findFiles } from "./find-files.ts";
import { imageObjection } from "./image-size.ts";
import { takeImageTurn } from "./image-turn.ts";

export interface CallContext {
  readonly root: ConfinedRoot;
  readonly rgPath: string;
  /** The call's validated arguments. */
  readonly args: JsonObject;
  readonly signal: AbortSignal;
  readonly refusals: RefusalMemory;
  readonly search: SearchMemory;
}

/** Remembers the first refusal of a call: that is what the caller is told. */
export class RefusalMemory {
  #first: Refusal | undefined;

  get first(): Refusal | undefined {
    return this.#first;
  }

  async watch<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal) this.#first ??= error;
      throw error;
    }
  }
}

/** Pi asks for the type first; only what it takes for an image is then loaded whole and decoded. */
export function readPorts({ root, refusals }: CallContext) {
  let imageType: string | null = null;
  return {
    access: (path: string) => refusals.watch(() => files.checkReadable(root, path)),
    readFile: (path: string) =>
      refusals.watch(async () => {
        if (imageType === null) return files.readWhole(root, path);
        await takeImageTurn();
        const bytes = await files.readWhole(root, path);
        const objection = imageObjection(bytes, imageType);
        if (objection !== undefined) throw new Refusal(`${path} ${objection}`);
        return bytes;
      }),
    createReadStream: (path: string) => files.readChunks(root, path),
    detectImageMimeType: (path: string) => refusals.watch(async () => (imageType = detectSupportedImageMimeType(await files.readHead(root, path)))),
  };
}

export function writePorts({ root, refusals }: CallContext) {
  return {
    mkdir: (path: string) => refusals.watch(() => files.makeDirectory(root, path)),
    writeFile: (path: string, content: string) => refusals.watch(() => files.replaceFile(root, path, content)),
  };
}

export function editPorts({ root, args, refusals }: CallContext) {
  return {
    access: (path: string) => refusals.watch(() => files.checkEditable(root, path)),
    readFile: (path: string) => refusals.watch(() => files.readForEdit(root, path, args)),
    writeFile: (path: string, content: string) => refusals.watch(() => files.replaceFile(root, path, content)),
  };
}

/** Pi asks for the directory first and then for each entry; only the directory is a path the caller named. */
export function lsPorts({ root, refusals }: CallContext) {
  let listed: string | undefined;
  return {
    exists: (path: string) => {
      listed = path;
      return refusals.watch(() => exists(root, path));
    },
    stat: async (path: string) => {
      const directory = await refusals.watch(() => (path === listed ? files.isDirectory(root, path) : files.entryIsDirectory(root, path)));
      return { isDirectory: () => directory };
    },
    readdir: (path: string) => refusals.watch(() => files.listNames(root, path)),
  };
}

export function grepPorts({ root, refusals, search }: CallContext) {
  return {
    isDirectory: (path: string) =>
      refusals.watch(async () => {
        search.target = await files.searchTarget(root, path);
        return search.target.directory;
      }),
  };
}

export function findPorts({ root, rgPath, signal, refusals }: CallContext) {
  return {
    exists: (path: string) => refusals.watch(() => exists(root, path)),
    glob: (pattern: string, searchPath: string, options: { readonly ignore: string[]; readonly limit: number }) =>
      refusals.watch(async () => {
        const target = await files.searchTarget(root, searchPath);
        if (!target.directory) throw new Error(`Not a directory: ${searchPath}`);
        return findFiles({
          rgPath,
          searchPath,
          realPath: target.path,
          pattern,
          ignore: options.ignore,
          limit: options.limit,
          exclude: root.excludeGlobs(target.path),
          mayShow: (path) => root.mayShow(path),
          signal,
        });
      }),
  };
}

async function exists(root: ConfinedRoot, path: string): Promise<boolean> {
  try {
    return (await root.locate(path, "touch")).exists;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
