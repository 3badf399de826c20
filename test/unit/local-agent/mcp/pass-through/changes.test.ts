import { expect, test } from "vitest";
import { createChanges } from "../../../../../local-agent/mcp/pass-through/changes.ts";
import type { Session } from "../../../../../local-agent/mcp/pass-through/sessions.ts";
import type { Change } from "../../../../../local-agent/mcp/pass-through/upstream-link.ts";

function sessionOf(key: string): Session {
  return { key, version: "2025-11-25", capabilities: {}, logLevel: null, subscriptions: new Map(), untold: new Set() };
}

test("[PT72] what a session's stream could not take is told by one that can, once", () => {
  const session = sessionOf("s");
  const changes = createChanges(() => [session]);
  const heard: Change[] = [];
  const full = () => false;
  const reads = (change: Change) => heard.push(change) > 0;
  const endFull = changes.announce("grant:1", session, full);
  changes.publish("grant:1", { kind: "tools" });
  endFull();
  changes.announce("grant:1", session, full)();
  expect(heard).toEqual([]);
  const end = changes.announce("grant:1", session, reads);
  expect(heard).toEqual([{ kind: "tools" }]);
  changes.publish("grant:1", { kind: "prompts" });
  end();
  changes.announce("grant:1", session, reads)();
  expect(heard).toEqual([{ kind: "tools" }, { kind: "prompts" }]);
});

test("[PT72] of two streams of a session one that reads is enough", () => {
  const session = sessionOf("s");
  const changes = createChanges(() => [session]);
  const heard: Change[] = [];
  changes.announce("grant:1", session, () => false);
  changes.announce("grant:1", session, (change) => heard.push(change) > 0);
  changes.publish("grant:1", { kind: "tools" });
  expect([heard, session.untold.size]).toEqual([[{ kind: "tools" }], 0]);
});
