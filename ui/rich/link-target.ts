/** Where a link in somebody else's text may lead, and what the reader is told about it. Pure. */

export interface LinkTarget {
  readonly href: string;
  /** The host it really leads to (or the address of a letter), to stand beside a label that says something else. */
  readonly place: string;
}

/** Only http, https and mailto, and no credentials, which can pass for a host. Undefined: it is shown as text. */
export function linkTarget(address: string): LinkTarget | undefined {
  const url = URL.parse(address);
  if (url === null) return undefined;
  if (url.protocol === "mailto:") return { href: url.href, place: url.pathname };
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  return { href: url.href, place: url.host };
}

/** Whether the label is the address itself, or its host: nothing more need be said then. */
export function saysItself(label: string, { href, place }: LinkTarget): boolean {
  const bare = (text: string): string =>
    text
      .trim()
      .replace(/^(?:https?:\/\/|mailto:)/i, "")
      .replace(/\/$/, "");
  return bare(label) === bare(href) || bare(label) === place;
}
