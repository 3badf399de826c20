import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createFormCards } from "../../../../local-agent/desk/form-cards.ts";
import { systemClock } from "../../../../local-agent/node/system-time.ts";
import { exampleQuestion } from "../../../support/page-states.ts";

function formCards() {
  return createFormCards({ newId: randomUUID, clock: systemClock, publish: () => {} });
}

test("[TR20] an answer is what its fields allow, and it is given once", async () => {
  const cards = formCards();
  const asked = cards.ask(exampleQuestion());
  const id = cards.list()[0]?.id ?? "";
  expect(cards.answer({ id, action: "accept", values: { environment: "moon", replicas: "2" } })).toMatchObject({ outcome: "wrong" });
  const values = { environment: "staging", replicas: "2", drain: false, regions: [], extra: "left out" };
  expect(cards.answer({ id, action: "accept", values })).toEqual({ outcome: "sent" });
  expect(cards.answer({ id, action: "accept", values })).toEqual({ outcome: "gone" });
  expect(await asked).toEqual({ action: "accept", content: { environment: "staging", replicas: 2, drain: false } });
});

test("[TR21] what cannot be shown, an address that is none of the web, and the sixth question of one server are declined at once", async () => {
  const cards = formCards();
  const odd = { type: "object" as const, properties: { it: { type: "object" } } };
  const unshown = exampleQuestion({ params: { message: "", requestedSchema: odd as never } });
  const file = exampleQuestion({ params: { mode: "url", message: "", url: "file:///etc/passwd", elicitationId: "1" } });
  const posing = exampleQuestion({ params: { mode: "url", message: "", url: "https://bank.example@evil.example/", elicitationId: "1" } });
  const title = "x".repeat(300_000);
  const huge = exampleQuestion({ params: { message: "", requestedSchema: { type: "object", properties: { it: { type: "string", title } } } } });
  const long = exampleQuestion({ params: { mode: "url", message: "", url: `https://a.example/${title}`, elicitationId: "1" } });
  for (const question of [unshown, file, posing, huge, long]) expect(await cards.ask(question)).toEqual({ action: "decline" });
  expect(cards.list()).toEqual([]);
  for (let number = 0; number < 5; number++) void cards.ask(exampleQuestion());
  expect(await cards.ask(exampleQuestion())).toEqual({ action: "decline" });
  void cards.ask(exampleQuestion({ server: "another" }));
  expect(cards.list()).toHaveLength(6);
});

test("[TR21] what is no question at all is declined at once, and no page has to read it", async () => {
  const cards = formCards();
  const requestedSchema = { type: "object", properties: {} };
  const malformed: unknown[] = [
    {},
    { message: "no form" },
    { message: ["a list"], requestedSchema },
    { message: { toString: "an object" }, requestedSchema },
    { requestedSchema },
    { message: "", requestedSchema: null },
    { mode: "url", message: "", url: ["https://a.example/"] },
    { mode: "url", message: "an address that is a form", requestedSchema },
    { mode: "form", message: "a form that is an address", url: "https://a.example/" },
  ];
  for (const params of malformed) expect(await cards.ask(exampleQuestion({ params: params as never }))).toEqual({ action: "decline" });
  expect(cards.list()).toEqual([]);
});

test("[TR22] a question that is over before it is shown is cancelled", async () => {
  expect(await formCards().ask(exampleQuestion({ signal: AbortSignal.abort() }))).toEqual({ action: "cancel" });
});
