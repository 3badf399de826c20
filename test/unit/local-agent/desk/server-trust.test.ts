import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DecisionUnrecorded } from "../../../../local-agent/desk/approvals.ts";
import { createServerTrust, shownServer, type ServerTrustOptions } from "../../../../local-agent/desk/server-trust.ts";
import { silentLog } from "../../../../local-agent/node/log-sinks.ts";
import { systemClock } from "../../../../local-agent/node/system-time.ts";
import type { AuditEvent } from "../../../../shared/audit.ts";
import type { DeskEvent } from "../../../../shared/desk.ts";
import { memoryOfTrust } from "../../../support/desk-under-test.ts";

const subject = {
  server: "notes",
  text: '{"entry":{"args":["--dir","my notes"],"command":"./notes-server"},"project":"/srv/project"}',
  files: ["/srv/project/.mcp.json"],
};

function trustUnderTest(options: Partial<ServerTrustOptions> = {}) {
  const trail: AuditEvent[] = [];
  const events: DeskEvent[] = [];
  const trust = createServerTrust({
    root: "/srv/project",
    memory: memoryOfTrust(),
    audit: { record: (event) => Promise.resolve(void trail.push(event)) },
    newId: randomUUID,
    clock: systemClock,
    log: silentLog,
    publish: (event) => void events.push(event),
    ...options,
  });
  return { trust, trail, events };
}

const never = new AbortController().signal;

describe("a server of a project file", () => {
  test("[TR1] [TR2] waits for one Allow, with the command line and the whole entry on its card", async () => {
    const { trust, trail } = trustUnderTest();
    const answers = [trust.ask(subject, never), trust.ask(subject, never)];
    const cards = trust.list();
    expect(cards).toMatchObject([
      { tool: "notes", text: './notes-server --dir "my notes"', server: { name: "notes", files: ["/srv/project/.mcp.json"] } },
    ]);
    expect(JSON.parse(cards[0]?.beside ?? "")).toEqual(JSON.parse(subject.text));
    expect(await trust.decide({ id: cards[0]?.id ?? "", decision: "once" })).toEqual({ outcome: "allowed" });
    expect(await Promise.all(answers)).toEqual([true, true]);
    expect(trail).toMatchObject([{ event: "server.allowed", server: "notes", files: ["/srv/project/.mcp.json"] }]);
  });

  test("[TR3] needs no second Allow, in a later run neither, until anything of it changes", async () => {
    const memory = memoryOfTrust();
    const first = trustUnderTest({ memory });
    const asked = first.trust.ask(subject, never);
    await first.trust.decide({ id: first.trust.list()[0]?.id ?? "", decision: "once" });
    await asked;
    const second = trustUnderTest({ memory });
    expect(await second.trust.ask(subject, never)).toBe(true);
    expect(second.trust.known({ ...subject, text: subject.text.replace("my", "your") })).toBe("unasked");
    expect(second.trust.known({ ...subject, server: "other" })).toBe("unasked");
    expect(trustUnderTest({ memory, root: "/elsewhere" }).trust.known(subject)).toBe("unasked");
  });

  test("[TR4] is refused until the next start once it was denied, and the refusal is on record", async () => {
    const { trust, trail } = trustUnderTest();
    const asked = trust.ask(subject, never);
    await trust.decide({ id: trust.list()[0]?.id ?? "", decision: "deny" });
    expect(await asked).toBe(false);
    expect(await trust.ask(subject, never)).toBe(false);
    expect([trust.known(subject), trust.list()]).toEqual(["denied", []]);
    expect(trail).toMatchObject([{ event: "server.denied" }]);
  });

  test("[TR5] keeps its card when whoever asked has left", async () => {
    const { trust } = trustUnderTest();
    const leave = new AbortController();
    const asked = trust.ask(subject, leave.signal);
    leave.abort();
    expect(await asked).toBe(false);
    expect(trust.list()).toHaveLength(1);
  });

  test("[TR6] is not allowed by a decision that could not be kept", async () => {
    const { trust } = trustUnderTest({ audit: { record: () => Promise.reject(new Error("the disk is full")) } });
    void trust.ask(subject, never);
    const id = trust.list()[0]?.id ?? "";
    await expect(trust.decide({ id, decision: "once" })).rejects.toThrow(DecisionUnrecorded);
    expect([trust.known(subject), trust.list().length]).toEqual(["unasked", 1]);
  });

  test("[TR4] is decided once: who denies while an Allow is being written down is too late", async () => {
    const memory = memoryOfTrust();
    const written = Promise.withResolvers<void>();
    const { trust, trail } = trustUnderTest({ memory: { ...memory, add: (allowed) => written.promise.then(() => memory.add(allowed)) } });
    const asked = trust.ask(subject, never);
    const id = trust.list()[0]?.id ?? "";
    const decided = (["once", "deny", "once"] as const).map(async (decision) => trust.decide({ id, decision }));
    written.resolve();
    expect(await Promise.all(decided)).toEqual([{ outcome: "allowed" }, { outcome: "gone" }, { outcome: "gone" }]);
    expect([await asked, trust.known(subject)]).toEqual([true, "allowed"]);
    expect(trail.map(({ event }) => event)).toEqual(["server.allowed"]);
  });

  test("[TR6] can be decided anew when the first decision could not be kept", async () => {
    const trail: AuditEvent[] = [];
    const failing = { record: (event: AuditEvent) => (trail.push(event) === 1 ? Promise.reject(new Error("the disk is full")) : Promise.resolve()) };
    const { trust } = trustUnderTest({ audit: failing });
    const asked = trust.ask(subject, never);
    const id = trust.list()[0]?.id ?? "";
    await expect(trust.decide({ id, decision: "once" })).rejects.toThrow(DecisionUnrecorded);
    expect(await trust.decide({ id, decision: "deny" })).toEqual({ outcome: "denied" });
    expect([await asked, trust.known(subject)]).toEqual([false, "denied"]);
  });

  test("[TR7] is not asked about while thirty others wait", async () => {
    const { trust } = trustUnderTest();
    for (let number = 0; number < 30; number++) void trust.ask({ ...subject, server: `server ${number}` }, never);
    expect(await trust.ask(subject, never)).toBe(false);
    expect(trust.known(subject)).toBe("unasked");
  });

  test("a decision about a card of another list is not its own", () => {
    expect(trustUnderTest().trust.decide({ id: "nothing", decision: "once" })).toBeNull();
  });
});

test("[TR2] what runs is shown first: a command line, an address, a socket, or settings whole", () => {
  expect(shownServer({ server: "a", text: '{"entry":{"url":"https://a.example/mcp","headers":{"x":"y"}}}', files: [] }).text).toBe(
    "https://a.example/mcp",
  );
  expect(shownServer({ server: "a", text: '{"entry":{"socket":"/run/a.sock"}}', files: [] }).text).toBe("/run/a.sock");
  expect(shownServer({ server: null, text: '{"approveTools":false}', files: [] })).toEqual({ text: '{\n  "approveTools": false\n}', beside: "" });
});

test("[TR2] so is every other program the entry has run, and no argument is left out", () => {
  const entry = {
    url: "https://a.example/mcp",
    requestHeadersCommand: { command: "sign", args: ["-k", 5], env: { KEY: "!cat key" } },
    headers: { "X-A": "!curl x | sh", "X-B": "!!plain" },
    bearerToken: "!two\nlines",
  };
  expect(shownServer({ server: "a", text: JSON.stringify({ entry, project: "/srv/project" }), files: [] }).text.split("\n")).toEqual([
    "https://a.example/mcp",
    "for every request: sign -k 5",
    "for a value, in a shell: curl x | sh",
    'for a value, in a shell: "two\\nlines"',
    "for a value, in a shell: cat key",
  ]);
  const numbers = { entry: { command: "serve", args: ["--port", 80, true, "a\nb"] } };
  expect(shownServer({ server: "a", text: JSON.stringify(numbers), files: [] }).text).toBe('serve --port 80 true "a\\nb"');
});
