/**
 * WebSocket close codes of the link. The reason is always said in-band first (`bye`): a close event can reach the
 * agent ten seconds late or not at all. One private code means "do not come back"; everything else is retried.
 */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  refused: 4099,
} as const;

/** [WP9] Whether an agent that sees this code dials again. */
export function isRetriable(code: number): boolean {
  return code !== CLOSE.refused;
}

/** 1005 and 1006 are never sent; answering a close with them throws (RFC 6455 §7.4.1). */
export function echoableCode(code: number): number {
  return code === 1005 || code === 1006 || code < 1000 || code > 4999 ? CLOSE.normal : code;
}
