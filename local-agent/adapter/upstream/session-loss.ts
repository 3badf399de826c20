/**
 * Whether a failed request says that the server has forgotten the session it was made in. Pure.
 *
 * Only then may a request be repeated: the server refused it before it ran. Servers have no one way to say so, so the wordings are
 * matched here and nowhere else (MCP 2025-11-25 basic/transports §Session Management names only the 404).
 */
import { ProtocolError, SdkHttpError } from "@modelcontextprotocol/client";

/** What servers say about a session they do not have, in a refusal that is not a 404. */
const WORDINGS: readonly RegExp[] = [
  /server not initialized/i,
  /no valid session id/i,
  /session not found/i,
  /(?:invalid|unknown|expired) session(?: id)?/i,
  /session(?: id)? (?:is invalid|has expired|expired|does not exist)/i,
];

/** JSON-RPC's code for whatever a server could not do; the wording decides. */
const SERVER_ERROR = -32000;

/** The old SSE transport has no error of its own; its sessions are in the address it posts to. */
const SSE_REFUSAL = /^Error POSTing to endpoint \(HTTP (\d{3})\): (.*)$/s;

/** @param hadSession whether the server had given the connection a session id */
export function isLostSession(error: unknown, hadSession: boolean): boolean {
  if (error instanceof ProtocolError) return error.code === SERVER_ERROR && /server not initialized/i.test(error.message);
  if (error instanceof SdkHttpError) return isRefusal(error.status, error.message, hadSession);
  const [, status, text] = error instanceof Error ? (SSE_REFUSAL.exec(error.message) ?? []) : [];
  return status !== undefined && text !== undefined && isRefusal(Number(status), text, true);
}

function isRefusal(status: number, text: string, hadSession: boolean): boolean {
  if (status === 404) return hadSession;
  return status === 400 && WORDINGS.some((wording) => wording.test(text.slice(0, 2000)));
}
