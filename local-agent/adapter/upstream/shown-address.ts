/** Web addresses as a remote client may read them. Pure. */

/** A word or a version, as people name paths; a key is longer, or mixes letters and digits. */
const PLAIN = /^(?:[a-z][a-z._-]{0,19}|v?\d{1,4}(?:\.\d{1,4}){0,3})$/i;

/**
 * Without name and password, without its query and fragment, and without the parts of its path that may be a key: some services put one
 * there.
 */
export function shownAddress(address: string): string {
  const [, scheme = "", host = "", path = ""] = /^(\w+:\/\/)([^/?#]*)([^?#]*)/.exec(address) ?? [];
  const parts = path.split("/").map((part) => (part === "" || PLAIN.test(part) ? part : "…"));
  return scheme + host.slice(host.lastIndexOf("@") + 1) + parts.join("/");
}

/**
 * A text with every web address in it so; addresses of other kinds lose name, password and query. A server chooses how long the text is:
 * no pattern looks at a character more than a few times.
 */
export function withShownAddresses(text: string): string {
  return text
    .replaceAll(/:\/\/[^\s/?#]*@/g, "://")
    .replaceAll(/\bhttps?:\/\/[^\s"'<>()]*[^\s"'<>().,:;]/gi, shownAddress)
    .replaceAll(/:\/\/[^\s"'<>]*/g, withoutQuery);
}

function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, "");
}
