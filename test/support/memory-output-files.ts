/** Files of large answers, in memory. */
import type { OutputFiles } from "../../local-agent/adapter/ports.ts";

export interface MemoryOutputFiles extends OutputFiles {
  /** Every text that was kept, also after the end. */
  readonly texts: string[];
  /** Null: there is no such file (any more). */
  read(path: string): Buffer | null;
}

const MAX_BINARY_BYTES = 10 * 1024 * 1024;

export function memoryOutputFiles(): MemoryOutputFiles {
  const files = new Map<string, Buffer>();
  const texts: string[] = [];
  let closed = false;
  const keep = (path: string, data: Buffer): string => {
    if (closed) throw new Error("the files have ended");
    files.set(path, data);
    return path;
  };
  return {
    texts,
    read: (path) => files.get(path) ?? null,
    async keepText(text) {
      return keep(`/kept/${texts.push(text)}.txt`, Buffer.from(text));
    },
    async keepBinary(base64) {
      const data = Buffer.from(base64, "base64");
      if (data.length > MAX_BINARY_BYTES) throw new Error(`it has ${data.length} bytes, more than are kept`);
      return { path: keep(`/kept/resource-${files.size + 1}.bin`, data), bytes: data.length };
    },
    async close() {
      closed = true;
      files.clear();
    },
  };
}
