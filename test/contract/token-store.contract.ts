/** What every place that keeps upstreams' tokens does. */
import { expect, test } from "vitest";
import type { TokenStore } from "../../local-agent/node/keyring-tokens.ts";

const URL_A = "https://a.example/mcp";

/** `server` gives a name nobody else uses; what is kept under it is removed again by the suite. */
export function describeTokenStore(open: () => TokenStore, server: () => string): void {
  test("[UT60] gives back what was kept, for the address it was kept for only", async () => {
    const store = open();
    const name = server();
    expect(await store.read(name, URL_A)).toBeNull();
    expect(await store.status(name)).toBeNull();
    await store.write(name, URL_A, "töken");
    expect(await store.read(name, URL_A)).toBe("töken");
    expect(await store.status(name)).toEqual({ url: URL_A });
    for (const other of ["https://a.example/other", "https://b.example/mcp", "http://a.example/mcp"])
      expect(await store.read(name, other)).toBeNull();
    expect(await store.remove(name)).toBe(true);
  });

  test("[UT60] a later token takes the earlier one's place, also at another address", async () => {
    const store = open();
    const name = server();
    await store.write(name, URL_A, "one");
    await store.write(name, "https://b.example/mcp", "two");
    expect(await store.read(name, URL_A)).toBeNull();
    expect(await store.read(name, "https://b.example/mcp")).toBe("two");
    await store.remove(name);
  });

  test("[UT60] removing says whether there was one", async () => {
    const store = open();
    const name = server();
    await store.write(name, URL_A, "one");
    expect(await store.remove(name)).toBe(true);
    expect(await store.remove(name)).toBe(false);
    expect(await store.status(name)).toBeNull();
  });
}
