/** Version of the link's protocol. Bump `max` for any change a peer can observe; raise `min` only in a release that says so. */
export const PROTOCOL = { min: 1, max: 1 } as const;

export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

export type Negotiation =
  | { readonly ok: true; readonly version: number }
  | { readonly ok: false; readonly reason: "agent_too_old" | "relay_too_old" };

/** [WP2] The highest version both sides speak, or which side has to be updated. */
export function negotiate(offered: VersionRange, spoken: VersionRange = PROTOCOL): Negotiation {
  if (offered.max < spoken.min) return { ok: false, reason: "agent_too_old" };
  if (offered.min > spoken.max) return { ok: false, reason: "relay_too_old" };
  return { ok: true, version: Math.min(offered.max, spoken.max) };
}
