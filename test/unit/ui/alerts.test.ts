import { expect, test } from "vitest";
import type { ConversationView, DeskEvent, DeskSnapshot } from "../../../shared/desk.ts";
import type { HumanEntry } from "../../../shared/human/entry.ts";
import { alertSentence, hear, mostUrgent, NOTHING_HEARD, type Alert, type AlertMemory } from "../../../ui/alerts.ts";
import { pageTitle } from "../../../ui/page-title.ts";
import { EXAMPLE_INFO, exampleAuthorization } from "../../support/desk-under-test.ts";
import { exampleApproval } from "../../support/scripted-desk.ts";

const NOW = 1_000_000;
const client = { principalId: "grant:1", name: "Claude" };
const id = (n: number): string => n.toString(16).padStart(32, "0");
const said = (n: number, category: "message" | "question" | "done" | "error" = "message"): HumanEntry => ({
  kind: "said",
  id: id(n),
  at: NOW,
  client,
  category,
  text: "secret words",
  n,
  whileAway: false,
});
const asked = (n: number, changes: Partial<Extract<HumanEntry, { kind: "asked" }>> = {}): HumanEntry => ({
  kind: "asked",
  id: id(n),
  at: NOW,
  client,
  text: "secret words",
  options: [],
  n,
  expiresAt: NOW + 1,
  state: "open",
  ...changes,
});
const typed = (n: number): HumanEntry => ({
  kind: "typed",
  id: id(n),
  at: NOW,
  text: "mine",
  images: [],
  to: null,
  questionId: null,
  n,
  state: "queued",
  repeat: false,
});
const view = (entries: HumanEntry[], isLoaded = true): ConversationView => ({ entries, unsent: [], isLoaded, waiting: null, clients: [] });
const snapshot = (changes: Partial<DeskSnapshot> = {}): DeskEvent => ({
  t: "snapshot",
  snapshot: {
    info: EXAMPLE_INFO,
    link: { at: "open", since: 0 },
    authorizations: [],
    grants: null,
    timeline: [],
    approvals: [],
    forms: [],
    remembered: 0,
    conversation: view([]),
    ...changes,
  },
});
const entry = (entry: HumanEntry): DeskEvent => ({ t: "entry", entry });

/** The alerts of each event, as "about kind". */
function alertsOf(...events: DeskEvent[]): string[][] {
  let memory: AlertMemory = NOTHING_HEARD;
  return events.map((event) => {
    const heard = hear(memory, event, NOW);
    memory = heard.memory;
    return heard.alerts.map(({ about, kind }) => `${about} ${kind}`);
  });
}

test("[PG91] a reload raises nothing for what was there before", () => {
  const full = snapshot({ authorizations: [exampleAuthorization()], approvals: [exampleApproval()], conversation: view([said(1), asked(2)]) });
  expect(alertsOf(full, { t: "approvals", approvals: [exampleApproval()] }, entry(asked(2)))).toEqual([[], [], []]);
});

test("[PG91] each kind of news has its alert, once, and the person's own words have none", () => {
  expect(
    alertsOf(
      snapshot(),
      { t: "authorizations", authorizations: [exampleAuthorization()] },
      { t: "authorizations", authorizations: [exampleAuthorization()] },
      { t: "approvals", approvals: [exampleApproval(), exampleApproval({ id: "other" })] },
      entry(said(1)),
      entry(said(2, "done")),
      entry(said(3, "error")),
      entry(asked(4)),
      entry(asked(4, { state: "answered" })),
      entry(typed(5)),
    ),
  ).toEqual([
    [],
    ["access question"],
    [],
    ["approval question", "approval question"],
    ["conversation message"],
    ["conversation done"],
    ["conversation error"],
    ["conversation question"],
    [],
    [],
  ]);
});

test("[PG92] what came while the page was disconnected is an alert when it is back", () => {
  const back = snapshot({
    approvals: [exampleApproval()],
    authorizations: [exampleAuthorization()],
    conversation: view([said(1), asked(2), said(3, "done")]),
  });
  expect(alertsOf(snapshot({ conversation: view([said(1)]) }), back)[1]).toEqual([
    "access question",
    "approval question",
    "conversation question",
    "conversation done",
  ]);
});

test("[PG91] an older conversation that is loaded after the start is no news, and what follows it is", () => {
  const loaded: DeskEvent = { t: "conversation", isLoaded: true, unsent: [], waiting: null, clients: [] };
  expect(alertsOf(snapshot({ conversation: view([], false) }), entry(said(1)), entry(asked(2)), loaded, entry(said(3)))).toEqual([
    [],
    [],
    [],
    [],
    ["conversation message"],
  ]);
});

test("[PG91] a restarted agent that loads the conversation again raises nothing for it; a store that began anew counts anew", () => {
  const events = [
    snapshot({ conversation: view([said(5)]) }),
    snapshot({ conversation: view([], false) }),
    entry(said(4)),
    entry(said(5)),
    entry(said(6)),
  ];
  expect(alertsOf(...events)).toEqual([[], [], [], [], ["conversation message"]]);
  expect(alertsOf(snapshot({ conversation: view([said(5)]) }), snapshot(), entry(said(1)))).toEqual([[], [], ["conversation message"]]);
});

test("[PG91] a question that is over is no alert", () => {
  expect(alertsOf(snapshot(), entry(asked(1, { state: "withdrawn" })), entry(asked(2, { expiresAt: NOW })))).toEqual([[], [], []]);
});

test("[PG90] one sound stands for several alerts, the most urgent one", () => {
  const alert = (kind: Alert["kind"]): Alert => ({ id: kind, kind, about: "conversation", from: "Claude" });
  expect(mostUrgent([alert("message"), alert("done"), alert("question"), alert("error")])?.kind).toBe("question");
  expect(mostUrgent([alert("message"), alert("error")])?.kind).toBe("error");
  expect(mostUrgent([])).toBeUndefined();
});

test("[PG93] a notification says who and that there is something, and not what", () => {
  const alerts = [entry(said(1)), entry(said(2, "done")), entry(said(3, "error")), entry(asked(4))].flatMap((event) => {
    const primed = hear(NOTHING_HEARD, snapshot(), NOW).memory;
    return hear(primed, event, NOW).alerts;
  });
  const sentences = alerts.map(alertSentence);
  expect(sentences).toEqual(["“Claude” wrote to you.", "“Claude” says it is done.", "“Claude” reports a problem.", "“Claude” asks you something."]);
  expect(alertSentence({ id: "1", kind: "question", about: "approval", from: "" })).toBe("A call waits for your approval.");
});

test.each([
  [{ access: 0, approvals: 0, unseen: 0 }, "pi-relay"],
  [{ access: 2, approvals: 0, unseen: 0 }, "(2) Access asked · pi-relay"],
  [{ access: 0, approvals: 1, unseen: 3 }, "(3) Approval asked · pi-relay"],
  [{ access: 1, approvals: 1, unseen: 0 }, "(2) You are asked · pi-relay"],
  [{ access: 0, approvals: 0, unseen: 4 }, "(4) New · pi-relay"],
])("[PG94] the title of %j is %s", (facts, title) => {
  expect(pageTitle(facts)).toBe(title);
});
