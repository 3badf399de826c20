import { expect, test } from "vitest";
import { createDirectSurface } from "../../../../local-agent/adapter/direct/direct-surface.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";

test("[CL86] [CL87] a name that stands for another server's tool is called there, though it looks as before", () => {
  const ofServer = (server: string) => [{ entry: catalogEntry({ server, original: "ask", displayed: "ask" }), shown: true }];
  let selected = ofServer("one");
  const surface = createDirectSurface({ isFrozen: false, select: () => selected });
  selected = ofServer("two");
  expect(surface.update("one", "news")).toBe(false);
  expect(surface.tools().map(({ entry }) => entry.server)).toEqual(["two"]);
});
