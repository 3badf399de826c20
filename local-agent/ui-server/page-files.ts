/** The built page's files: `/` and one flat folder of assets. Read at each request, so a rebuild needs no restart. */
import { access, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** No separators and no leading dot: what matches cannot leave the folder. */
const ASSET = /^\/assets\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,120})$/;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Rejects with a sentence when the page was not built. */
export async function assertPageBuilt(uiDir: string): Promise<void> {
  try {
    await access(join(uiDir, "index.html"));
  } catch (cause) {
    throw new Error(`The page is not built: expected ${join(uiDir, "index.html")}. Run "npm run build" once.`, { cause });
  }
}

/** `undefined`: not one of the page's files. */
export async function readPageFile(uiDir: string, pathname: string): Promise<PageFile | undefined> {
  const asset = ASSET.exec(pathname)?.[1];
  if (pathname !== "/" && asset === undefined) return undefined;
  const name = asset === undefined ? "index.html" : join("assets", asset);
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) return undefined;
  try {
    return { bytes: new Uint8Array(await readFile(join(uiDir, name))), contentType };
  } catch {
    return undefined; // Absent is an answer here (404).
  }
}
