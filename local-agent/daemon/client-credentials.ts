/** What an id and a secret of a client that is set up by hand may look like. Imports nothing: the command line is read before anything is installed. */

/** Also what the wire takes; never an address, so that no client of another kind can have it. */
export const CLIENT_ID = /^[\w.~-]{1,100}$/;
/** Fits a form and HTTP Basic (RFC 6749 appendix A.2: visible ASCII; a space would be lost in pasting). */
export const CLIENT_SECRET = /^[!-~]{1,512}$/;

export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}
