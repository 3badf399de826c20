/**
 * The page's address as a small file that leads a browser there. The address holds the page's secret; handed to a browser
 * as an argument it would stand in the process list for every account to read, so the browser gets this file's path.
 */
import { readPrivateFile, writePrivateFile } from "./config-dir.ts";

export function writePageFile(path: string, url: string): void {
  const address = escapeHtml(url);
  writePrivateFile(
    path,
    `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${address}">
<title>pimcp</title>
<a href="${address}">${address}</a>`,
  );
}

/** The address such a file leads to; undefined when it is gone or holds none. For the person's own terminal only. */
export function readPageAddress(path: string): string | undefined {
  const address = /<a href="([^"]+)">/.exec(readPrivateFile(path) ?? "")?.[1];
  return address?.replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
