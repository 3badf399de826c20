/**
 * The session secret: arrives in the address's fragment, which browsers never send, and is kept for this tab only.
 * It is taken out of the address at once, so that it is neither in the history nor read over a shoulder.
 */
const KEY = "pi-relay.session-secret";
const SECRET = /^[\x21-\x7e]{1,512}$/;

export function takeSecret(): string | undefined {
  const fragment = location.hash.slice(1);
  if (fragment !== "") history.replaceState(null, "", location.pathname);
  if (!SECRET.test(fragment)) return sessionStorage.getItem(KEY) ?? undefined;
  sessionStorage.setItem(KEY, fragment);
  return fragment;
}

/** After the server refused it: it belongs to an earlier start of the agent. */
export function forgetSecret(): void {
  sessionStorage.removeItem(KEY);
}
