import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { askInTurn } from "../../../../local-agent/daemon/project-questions.ts";
import { createServerTrust } from "../../../../local-agent/desk/server-trust.ts";
import { silentLog } from "../../../../local-agent/node/log-sinks.ts";
import { systemClock } from "../../../../local-agent/node/system-time.ts";
import { memoryOfTrust } from "../../../support/desk-under-test.ts";

function trustUnderTest() {
  return createServerTrust({
    root: "/srv/project",
    memory: memoryOfTrust(),
    audit: { record: () => Promise.resolve() },
    newId: randomUUID,
    clock: systemClock,
    log: silentLog,
    publish: () => {},
  });
}

const subjectOf = (server: string) => ({ server, text: `{"entry":{"command":"./${server}"}}`, files: ["/srv/project/.mcp.json"] });

test("[TR7] every server of a project is asked about as others are decided, and one that is called meanwhile finds a place", async () => {
  const trust = trustUnderTest();
  const allowed: string[] = [];
  const names = Array.from({ length: 45 }, (_, number) => `server-${number}`);
  const never = new AbortController().signal;
  askInTurn(
    names.map((name) => ({ subject: subjectOf(name), onAllowed: () => void allowed.push(name) })),
    trust,
    never,
  );
  expect(trust.list().map(({ tool }) => tool)).toEqual(names.slice(0, 20));
  // Of servers further back, and of others: now there is no room for anybody.
  const called = ["server-44", ...Array.from({ length: 9 }, (_, number) => `called-${number}`)];
  for (const name of called) void trust.ask(subjectOf(name), never);
  expect(trust.list()).toHaveLength(30);
  const decided: string[] = [];
  while (decided.length < names.length + 9) {
    await expect.poll(() => trust.list().length).toBeGreaterThan(0);
    const [card] = trust.list();
    await trust.decide({ id: card?.id ?? "", decision: decided.length % 2 === 0 ? "once" : "deny" });
    decided.push(card?.tool ?? "");
    expect(trust.list().length).toBeLessThanOrEqual(30);
  }
  expect(new Set(decided)).toEqual(new Set([...names, ...called]));
  expect(allowed.toSorted()).toEqual(decided.filter((name, index) => index % 2 === 0 && names.includes(name)).toSorted());
});

test("[TR7] what finds no place is asked about after the next decision, and nobody is asked any more when the agent leaves", async () => {
  const trust = trustUnderTest();
  const over = new AbortController();
  for (let number = 0; number < 29; number++) void trust.ask(subjectOf(`called-${number}`), new AbortController().signal);
  askInTurn(
    ["a", "b", "c"].map((name) => ({ subject: subjectOf(name), onAllowed: () => {} })),
    trust,
    over.signal,
  );
  const shown = () => trust.list().flatMap(({ id, tool }) => (tool.length === 1 ? [{ id, tool }] : []));
  expect(shown()).toMatchObject([{ tool: "a" }]);
  await trust.decide({ id: shown()[0]?.id ?? "", decision: "once" });
  await expect.poll(shown).toMatchObject([{ tool: "b" }]);
  over.abort();
  await trust.decide({ id: shown()[0]?.id ?? "", decision: "once" });
  expect(shown()).toEqual([]);
});
