/** What is kept of a server's bearer token, in words. A token itself is in none of them. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { TokenStore } from "./keyring-tokens.ts";

/** `other-address`: one is kept, and is not sent to the address that is configured now. */
export type TokenState = "none" | "kept" | "other-address";

/** Rejects with the store's sentence. @param address of the server as it is configured */
export async function tokenState(store: TokenStore, server: string, address: URL): Promise<TokenState> {
  if ((await store.status(server)) === null) return "none";
  return (await store.read(server, address.href)) === null ? "other-address" : "kept";
}

export function tokenText(state: TokenState, server: string, address: URL): string {
  const name = visibleLine(server, 200);
  const shown = shownAddress(address);
  switch (state) {
    case "none":
      return `No token is kept for ${name}.`;
    case "kept":
      return `A token is kept for ${name}, for ${shown} only.`;
    case "other-address":
      return `A token is kept for ${name}, but for another address than ${shown}: it is not sent there. Set it anew.`;
  }
}

export function removedText(removed: boolean, server: string): string {
  const name = visibleLine(server, 200);
  return removed ? `The token of ${name} is removed.` : `No token was kept for ${name}.`;
}

/** Queries may hold keys. */
export function shownAddress({ origin, pathname }: URL): string {
  return visibleLine(`${origin}${pathname}`, 300);
}
