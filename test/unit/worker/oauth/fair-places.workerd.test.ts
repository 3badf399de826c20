import { describe, expect, test } from "vitest";
import { placesToFree, type Place } from "../../../../worker/oauth/fair-places.ts";
import { browserOf, groupOf, isSameSource, sourceOf, sourceOfPage } from "../../../../worker/oauth/visitor.ts";

const RULES = { total: 8, perSource: 2 };
const place = (id: string, source: string, since: number): Place => ({ id, source, since });

describe("places", () => {
  test("[OA39] a source that is full gives way itself, oldest first", () => {
    expect(placesToFree([place("a", "x", 2), place("b", "x", 1), place("c", "y", 0)], "x", RULES)).toEqual(["b"]);
  });

  test("[OA39] when all places are taken the oldest of the fullest source gives way", () => {
    const places = ["a", "b", "c", "d", "e", "f"].map((id, at) => place(id, id, at));
    expect(placesToFree([...places, place("g", "z", 50), place("h", "z", 51)], "new", RULES)).toEqual(["g"]);
  });

  test("[OA39] the fullest network gives way, in it the fullest source, in that the oldest", () => {
    const owner = place("owner", "198.51.100.7", 0);
    const lone = place("lone", "2001:db8:2:0::/64", 1);
    const flood = (sources: readonly number[]) => sources.map((at, since) => place(`f${since}`, `2001:db8:1:${at.toString(16)}::/64`, since + 2));
    expect(placesToFree([owner, lone, ...flood([0, 1, 2, 3, 4, 5])], "2001:db8:1:ff::/64", RULES)).toEqual(["f0"]);
    expect(placesToFree([owner, lone, ...flood([0, 1, 2, 3, 3, 4])], "192.0.2.1", RULES)).toEqual(["f3"]);
    const many = ["1", "2", "3", "4", "5", "6", "7"].map((last, at) => place(`v${last}`, `203.0.113.${last}`, at + 1));
    expect(placesToFree([owner, ...many], "203.0.113.200", RULES)).toEqual(["v1"]);
  });

  test("[OA39] when all networks have as many, the newcomer's own makes room", () => {
    const places = ["a", "b", "c", "d", "e", "f", "g"].map((id, at) => place(id, `2001:db8:${id}:0::/64`, at + 1));
    expect(placesToFree([place("owner", "198.51.100.7", 0), ...places], "2001:db8:d:1::/64", RULES)).toEqual(["d"]);
  });

  test("[OA39] the own source keeps its places whoever comes", () => {
    const places = [place("own", "home", 0), ...["b", "c", "d", "e", "f", "g", "h"].map((id, at) => place(id, id, at + 1))];
    expect(placesToFree(places, "new", { ...RULES, ownSource: "home" })).toEqual(["b"]);
    expect(placesToFree(places, "home", { ...RULES, ownSource: "home" })).toEqual(["own"]);
  });

  test("[OA16] without a limit per source only the total counts", () => {
    expect(placesToFree([place("a", "x", 1), place("b", "x", 2)], "x", { total: 3 })).toEqual([]);
    expect(placesToFree([place("a", "x", 1), place("b", "x", 2)], "x", { total: 2 })).toEqual(["a"]);
  });
});

describe("visitors", () => {
  test.for([
    ["203.0.113.7", "203.0.113.0/24"],
    ["2001:db8:1:2::/64", "2001:db8:1::/48"],
    [sourceOf("2001:db8::1"), "2001:db8:0::/48"],
    ["unknown", "unknown"],
    [sourceOfPage("203.0.113.7", "https://page.example"), "203.0.113.0/24 pages"],
    [sourceOfPage("unknown", "a b c"), "unknown pages"],
  ] as const)("[OA16] the network of %j is %s", ([source, group]) => {
    expect(groupOf(source)).toBe(group);
  });

  test.for([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["", "unknown"],
  ] as const)("[OA45] the source of %j is %s", ([address, source]) => {
    expect(sourceOf(address)).toBe(source);
  });

  test("[OA45] same address is unknown when either side is", () => {
    expect(isSameSource("203.0.113.7", "203.0.113.7")).toBe(true);
    expect(isSameSource(sourceOf("2001:db8::1"), "2001:db8::ffff")).toBe(true);
    expect(isSameSource("203.0.113.7", "203.0.113.8")).toBe(false);
    expect(isSameSource("unknown", "203.0.113.7")).toBeNull();
    expect(isSameSource("203.0.113.7", undefined)).toBeNull();
  });

  test.for([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15", "Safari on macOS"],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0", "Edge on Windows"],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1",
      "Chrome on iOS",
    ],
    ["curl/8.0<script>", "an unknown browser"],
  ] as const)("[OA45] names the browser of %s", ([agent, name]) => {
    expect(browserOf(agent)).toBe(name);
  });
});
