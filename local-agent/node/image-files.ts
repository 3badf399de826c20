/** The pieces of images, a 0600 file each: they are large, and a journal that is read whole is no place for them. */
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface ImageFiles {
  /** Base64; on the disk when it returns. Throws what the system says. */
  write(id: string, part: number, data: string): void;
  /** Undefined: it is not there any more. */
  read(id: string, part: number): string | undefined;
  /** Must not throw: what is left over is removed at the next start. */
  drop(id: string, parts: number): void;
  /** Removes what is none of these images. */
  keepOnly(ids: ReadonlySet<string>): void;
}

/** `dir` exists and is private; ids are entry ids, so no name leads out of it. */
export function imageFiles(dir: string): ImageFiles {
  const nameOf = (id: string, part: number): string => join(dir, `${id}.${part}`);
  return {
    write(id, part, data) {
      const file = openSync(nameOf(id, part), "w", 0o600);
      try {
        writeFileSync(file, data);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    },
    read(id, part) {
      try {
        return readFileSync(nameOf(id, part), "utf8");
      } catch {
        return undefined;
      }
    },
    drop(id, parts) {
      for (let part = 0; part < parts; part += 1) rmSync(nameOf(id, part), { force: true });
    },
    keepOnly(ids) {
      for (const name of readdirSync(dir)) if (!ids.has(name.slice(0, name.lastIndexOf(".")))) rmSync(join(dir, name), { force: true });
    },
  };
}
