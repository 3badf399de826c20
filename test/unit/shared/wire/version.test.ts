import { expect, test } from "vitest";
import { negotiate, PROTOCOL, type Negotiation, type VersionRange } from "../../../../shared/wire/version.ts";

const versions = (min: number, max: number): VersionRange => ({ min, max });

test.each<[VersionRange, VersionRange, Negotiation]>([
  [versions(1, 1), versions(1, 1), { ok: true, version: 1 }],
  [versions(1, 3), versions(2, 5), { ok: true, version: 3 }],
  [versions(2, 9), versions(1, 4), { ok: true, version: 4 }],
  [versions(1, 2), versions(2, 3), { ok: true, version: 2 }],
  [versions(1, 1), versions(2, 3), { ok: false, reason: "agent_too_old" }],
  [versions(4, 5), versions(2, 3), { ok: false, reason: "relay_too_old" }],
])("[WP2] an agent of %j and a relay of %j agree on %j", (offered, spoken, expected) => {
  expect(negotiate(offered, spoken)).toEqual(expected);
});

test("[WP2] a downgrade below what the relay speaks is refused", () => {
  expect(negotiate(versions(PROTOCOL.min - 1, PROTOCOL.min - 1)).ok).toBe(false);
});
