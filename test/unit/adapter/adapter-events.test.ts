import { expect, test } from "vitest";
import type { AdapterEvent } from "../../../local-agent/adapter/adapter.ts";
import { createEvents } from "../../../local-agent/adapter/adapter-events.ts";

test("[CT14] a server that always has something new to warn of does not flood the person", () => {
  const events = createEvents();
  const told: AdapterEvent[] = [];
  events.subscribe((event) => told.push(event));
  for (let n = 0; n < 1_000; n += 1) events.notice(`"tool${n}" is left out.`);
  expect(told).toHaveLength(200);
  expect(told.at(-1)).toMatchObject({ t: "notice", text: expect.stringContaining("no more of them are shown") as unknown });
});
