/**
 * The page's address as a small file that leads a browser there. The address holds the page's secret; handed to a browser
 * as an argument it would stand in the process list for every account to read, so the browser gets this file's path.
 */
import { writePrivateFile } from "./config-dir.ts";

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

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
