import { expect, test } from "vitest";
import { fetchPublic, isPublicAddress } from "../../../../local-agent/daemon/public-fetch.ts";

test("[ER9] only addresses of the public internet are public", () => {
  for (const address of ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::1"])
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
  const others = [
    "127.0.0.1",
    "10.1.2.3",
    "192.168.1.1",
    "172.16.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "198.18.0.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "fe80::1",
    "fc00::1",
    "fd12::1",
    "ff02::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "64:ff9b::7f00:1",
    "",
    "localhost",
    "1.2.3",
    "0x7f.1",
  ];
  for (const address of others) expect([address, isPublicAddress(address)]).toEqual([address, false]);
});

test.each(["http://example.com/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/", "https://169.254.169.254/"])(
  "[ER9] %s is not fetched",
  async (url) => {
    await expect(fetchPublic(new URL(url), {})).rejects.toThrow(/only https|not on the public internet/);
  },
);
