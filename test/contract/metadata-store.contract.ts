/** What every store of catalogs does (docs/spec/upstream-catalog.md). */
import { expect, test } from "vitest";
import type { MetadataStore, StoredCatalog } from "../../local-agent/adapter/ports.ts";
import { upstreamCatalog, upstreamTool } from "../support/server-definitions.ts";

/** @param place makes a new place and gives a function that opens one more store over it each time */
export function describeMetadataStore(place: () => () => MetadataStore): void {
  const stored = (tool: string): StoredCatalog => ({ configHash: `hash of ${tool}`, catalog: upstreamCatalog({ tools: [upstreamTool(tool)] }) });

  test("[CT20] holds nothing at first", async () => {
    const open = place();
    expect(await open().read()).toEqual(new Map());
  });

  test("[CT20] gives back what was written, also to others", async () => {
    const open = place();
    await open().write("one", stored("a"));
    await open().write("two", stored("b"));
    expect(await open().read()).toEqual(new Map([["one", stored("a")], ["two", stored("b")]])); // prettier-ignore
  });

  test("[CT20] replaces one server's catalog and leaves the others", async () => {
    const open = place();
    const store = open();
    await store.write("one", stored("a"));
    await store.write("two", stored("b"));
    await store.write("one", stored("c"));
    expect(Object.fromEntries(await store.read())).toEqual({ one: stored("c"), two: stored("b") });
  });

  test("[CT20] keeps a server by any name", async () => {
    const open = place();
    const store = open();
    const names = ["__proto__", "constructor", "", "日本", "a\nb", "\u202e"];
    for (const name of names) await store.write(name, stored("a"));
    expect([...(await store.read()).keys()].toSorted()).toEqual(names.toSorted());
  });

  test("[CT21] loses nothing when many write at once", async () => {
    const open = place();
    const stores = [open(), open(), open()] as const;
    const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name, index) => stores[(index % 3) as 0 | 1 | 2].write(name, stored(name))));
    expect([...(await open().read()).keys()].toSorted()).toEqual(names.toSorted());
  });
}
