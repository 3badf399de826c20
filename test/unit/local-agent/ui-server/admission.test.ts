import { expect, test } from "vitest";
import { apiRefusalOf, holdsSecret, refusalOf } from "../../../../local-agent/ui-server/admission.ts";

const from = (host: string | undefined, origin?: string): Parameters<typeof refusalOf>[0] => ({ host, origin, fetchSite: undefined });

test.each(["127.0.0.1:8790", "localhost:8790", "LOCALHOST:8790"])("[UI2] admits Host %s", (host) => {
  expect(refusalOf(from(host), 8790)).toBeUndefined();
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
])("[UI2] refuses Host %s", (host) => expect(refusalOf(from(host), 8790)).toBe("host"));

test("[UI2] port 80 is left out of Host by browsers", () => {
  expect(refusalOf(from("127.0.0.1", "http://127.0.0.1"), 80)).toBeUndefined();
  expect(refusalOf(from("localhost:80"), 80)).toBeUndefined();
});

test("[UI3] admits the page's own Origin and none", () => {
  expect(refusalOf(from("127.0.0.1:8790", "http://127.0.0.1:8790"), 8790)).toBeUndefined();
  expect(refusalOf(from("localhost:8790", "http://localhost:8790"), 8790)).toBeUndefined();
  expect(refusalOf(from("localhost:8790"), 8790)).toBeUndefined();
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
])("[UI3] refuses Origin %s", (origin) => expect(refusalOf(from("127.0.0.1:8790", origin), 8790)).toBe("origin"));

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
