/** What the loopback page shows, read as the page itself reads it. */
import { readFileSync } from "node:fs";
import type { DeskSnapshot } from "../../shared/desk.ts";

/** The page's address with its secret, from the file that a start without a terminal names. */
export function pageAddress(pageFile: string | null): string {
  return /href="([^"]+)"/.exec(readFileSync(pageFile ?? "", "utf8"))?.[1] ?? "";
}

/** What a page that is opened now shows first. */
export async function pageShows(pageUrl: string): Promise<DeskSnapshot> {
  const { origin, hash } = new URL(pageUrl);
  const ended = new AbortController();
  const stream = await fetch(`${origin}/api/events`, { headers: { authorization: `Bearer ${hash.slice(1)}` }, signal: ended.signal });
  let text = "";
  for await (const piece of stream.body ?? []) {
    text += new TextDecoder().decode(piece);
    if (text.includes("\n")) break;
  }
  ended.abort();
  return (JSON.parse(text.slice(0, text.indexOf("\n"))) as { snapshot: DeskSnapshot }).snapshot;
}
