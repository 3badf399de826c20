import { expect, test } from "vitest";
import { addressesServed, apiRefusalOf, holdsSecret, refusalOf } from "../../../../local-agent/ui-server/admission.ts";

const at = (port: number, ...addresses: readonly string[]) => ({ port, addresses });
const from = (host: string | undefined, origin?: string): Parameters<typeof refusalOf>[0] => ({ host, origin, fetchSite: undefined });

test.each(["127.0.0.1:8790", "localhost:8790", "LOCALHOST:8790"])("[UI2] admits Host %s", (host) => {
  expect(refusalOf(from(host), at(8790))).toBeUndefined();
});

test.each([
  undefined,
  "",
  "evil.example",
  "127.0.0.1",
  "127.0.0.1:8791",
  "127.0.0.1:8790.evil.example",
  "0.0.0.0:8790",
  "[::1]:8790",
  "2130706433:8790",
  "localhost.:8790",
  " 127.0.0.1:8790",
])("[UI2] refuses Host %s", (host) => expect(refusalOf(from(host), at(8790))).toBe("host"));

test("[UI2] port 80 is left out of Host by browsers", () => {
  expect(refusalOf(from("127.0.0.1", "http://127.0.0.1"), at(80))).toBeUndefined();
  expect(refusalOf(from("localhost:80"), at(80))).toBeUndefined();
});

test("[UI3] admits the page's own Origin and none", () => {
  expect(refusalOf(from("127.0.0.1:8790", "http://127.0.0.1:8790"), at(8790))).toBeUndefined();
  expect(refusalOf(from("localhost:8790", "http://localhost:8790"), at(8790))).toBeUndefined();
  expect(refusalOf(from("localhost:8790"), at(8790))).toBeUndefined();
});

test.each([
  "null",
  "",
  "https://127.0.0.1:8790",
  "http://127.0.0.1:8791",
  "http://localhost:8790",
  "http://127.0.0.1:8790.evil.example",
  "http://evil.example",
  "file://",
])("[UI3] refuses Origin %s", (origin) => expect(refusalOf(from("127.0.0.1:8790", origin), at(8790))).toBe("origin"));

test("[UI8] refuses what a browser marks as coming from another site", () => {
  const marked = (fetchSite: string | undefined): Parameters<typeof apiRefusalOf>[0] => ({ host: undefined, origin: undefined, fetchSite });
  expect(["cross-site", "same-site"].map((site) => apiRefusalOf(marked(site)))).toEqual(["fetch_site", "fetch_site"]);
  expect([undefined, "same-origin", "none"].map((site) => apiRefusalOf(marked(site)))).toEqual([undefined, undefined, undefined]);
});

test("[UI4] only the whole secret as a bearer is accepted", () => {
  expect(holdsSecret("Bearer s3cret", "s3cret")).toBe(true);
  expect(holdsSecret("bearer s3cret", "s3cret")).toBe(true);
  const wrong = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer s3cre",
    "Bearer s3cret ",
    "Bearer s3cret2",
    "Basic s3cret",
    "s3cret",
    `Bearer ${"s".repeat(10_000)}`,
    "Bearer s3cret, Bearer x",
  ];
  expect(wrong.filter((header) => holdsSecret(header, "s3cret"))).toEqual([]);
});

const elsewhere = at(8790, "127.0.0.1", "192.168.1.4", "fd00::4");

test.each(["127.0.0.1:8790", "localhost:8790", "192.168.1.4:8790", "[fd00::4]:8790", "[FD00::4]:8790"])(
  "[PG100] a page that others may reach admits its addresses: Host %s, with its own Origin",
  (host) => {
    expect(refusalOf(from(host), elsewhere)).toBeUndefined();
    expect(refusalOf(from(host, `http://${host}`), elsewhere)).toBeUndefined();
    expect(refusalOf(from(host, "http://evil.example"), elsewhere)).toBe("origin");
    expect(refusalOf(from(host, "null"), elsewhere)).toBe("origin");
  },
);

test.each([
  "workstation:8790",
  "workstation.lan:8790",
  "evil.example:8790",
  "192.168.1.5:8790",
  "192.168.1.4",
  "0.0.0.0:8790",
  "[::]:8790",
  "192.168.1.4.nip.io:8790",
])("[PG100] it admits no name and no other address: Host %s", (host) => {
  expect(refusalOf(from(host), elsewhere)).toBe("host");
  expect(refusalOf(from("192.168.1.4:8790", `http://${host}`), elsewhere)).toBe("origin");
});

test("[PG100] one address is itself, the wildcards are every address of this machine", () => {
  const own = (): readonly string[] => ["127.0.0.1", "10.0.0.7"];
  expect(["127.0.0.1", "10.0.0.7", "0.0.0.0", "::"].map((host) => addressesServed(host, own))).toEqual([["127.0.0.1"], ["10.0.0.7"], own(), own()]);
});
