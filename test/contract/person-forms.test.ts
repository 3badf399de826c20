import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PersonForms } from "../../local-agent/adapter/ports.ts";
import { createAttachedAsks } from "../../local-agent/daemon/attached-asks.ts";
import { deskForms } from "../../local-agent/daemon/upstream-answers.ts";
import { createFormCards, type FormCards } from "../../local-agent/desk/form-cards.ts";
import { systemClock } from "../../local-agent/node/system-time.ts";
import { createDialogForms } from "../../local-agent/pi/dialog-forms.ts";
import type { FormAnswer } from "../../shared/upstream-form.ts";
import { abortOf } from "../support/abort-of.ts";
import { exampleQuestion } from "../support/page-states.ts";
import { NO_FORMS, scriptedForms } from "../support/scripted-forms.ts";
import { type ScriptedPi, scriptedPiHost } from "../support/scripted-pi-host.ts";
import { describePersonForms, type FormPerson, GIVEN, UNFIT } from "./person-forms.contract.ts";

describe("the desk's cards", () => {
  describePersonForms((person) => {
    const cards = createFormCards({ newId: randomUUID, clock: systemClock, publish: () => {} });
    const { modes } = cards;
    const onPage: PersonForms = { modes, ask: (question) => whileItWaits(cards.ask(question), () => answerCard(cards, person, question.signal)) };
    return deskForms(person !== "absent", () => (person === "absent" ? undefined : onPage), createAttachedAsks());
  });
});

describe("Pi's dialogs", () => {
  describePersonForms((person) => formsOf({ isAlone: person === "absent", picks: picksOf(person) }));

  test("[TR22] a question is cancelled when Pi has replaced its session", async () => {
    const forms = formsOf({ isReplaced: true });
    expect(forms.modes).toEqual({ form: false, url: false });
    expect(await forms.ask(exampleQuestion())).toEqual({ action: "cancel" });
  });

  test("[PI31] an address is not opened when the question is over", async () => {
    const opened: string[] = [];
    const call = new AbortController();
    const picks = (_title: string, lines: readonly string[]) => {
      call.abort();
      return lines[1];
    };
    const forms = createDialogForms(scriptedPiHost({ picks }), (url) => Promise.resolve(void opened.push(url)));
    const params = { mode: "url", message: "Sign in", url: "https://bank.example/", elicitationId: "1" } as const;
    expect(await forms.ask(exampleQuestion({ params, signal: call.signal }))).toEqual({ action: "cancel" });
    expect(opened).toEqual([]);
  });
});

describe("a test's own", () => {
  describePersonForms((person) => {
    if (person === "absent") return NO_FORMS;
    const forms = scriptedForms();
    const answer = async (signal: AbortSignal): Promise<void> => {
      if (person === "never answers" || forms.questions.length === 0) return;
      if (person === "answers too late") await abortOf(signal);
      if (person === "declines") forms.answer("decline");
      else if (person === "fills in" && !signal.aborted) {
        expect(forms.answer("accept", { ...GIVEN, replicas: UNFIT })).toBe(false);
        forms.answer("accept", { ...GIVEN, more: "left out" });
      } else expect(() => forms.answer("accept", GIVEN)).toThrow("no question waits");
    };
    return { modes: forms.modes, ask: (question) => whileItWaits(forms.ask(question), () => answer(question.signal)) };
  });
});

/** `answer` acts once the question has been put; one that was answered at once has no person. */
async function whileItWaits(asked: ReturnType<PersonForms["ask"]>, answer: () => Promise<void>): ReturnType<PersonForms["ask"]> {
  const waits = await Promise.race([asked.then(() => false), new Promise((resolve) => setImmediate(() => resolve(true)))]);
  if (waits === true) await answer();
  return asked;
}

async function answerCard(cards: FormCards, person: FormPerson, signal: AbortSignal): Promise<void> {
  const id = cards.list()[0]?.id ?? "";
  const accept = (replicas: string): FormAnswer => ({
    id,
    action: "accept",
    values: { ...GIVEN, regions: [...GIVEN.regions], replicas, more: "left out" },
  });
  if (person === "declines") cards.answer({ id, action: "decline" });
  if (person === "answers too late") await abortOf(signal);
  if (person === "fills in") expect(cards.answer(accept(UNFIT))).toMatchObject({ outcome: "wrong" });
  if (person === "fills in" || person === "answers too late") cards.answer(accept(GIVEN.replicas));
}

function formsOf(pi: ScriptedPi): PersonForms {
  return createDialogForms(scriptedPiHost(pi), () => Promise.resolve());
}

function picksOf(person: FormPerson): NonNullable<ScriptedPi["picks"]> {
  const typed = [UNFIT, GIVEN.replicas];
  return async (title, lines, signal) => {
    if (person === "never answers") return new Promise(() => {});
    if (person === "declines") return "Refuse to answer";
    if (lines.includes("Send") && person === "answers too late") await abortOf(signal);
    if (lines.length === 0) return title.startsWith("Replicas") ? typed.shift() : "";
    return ["Answer", "Send", "staging", "Done", "No"].find((line) => lines.includes(line));
  };
}
