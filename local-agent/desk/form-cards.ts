/** Questions of MCP servers that wait on the page. Each is over once: answered, declined, or withdrawn with the call it belongs to. */
import type { ElicitResult } from "@modelcontextprotocol/client";
import type { DeskEvent } from "../../shared/desk.ts";
import { formFields, readField } from "../../shared/form-fields.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../shared/json.ts";
import type { Clock } from "../../shared/ports.ts";
import type { Result } from "../../shared/result.ts";
import { err, ok } from "../../shared/result.ts";
import type { FormAnswer, FormCard, FormOutcome } from "../../shared/upstream-form.ts";
import type { PersonForms, UpstreamQuestion } from "../adapter/ports.ts";

export interface FormCardsOptions {
  /** Mints ids of cards; unique, unguessable. */
  readonly newId: () => string;
  readonly clock: Clock;
  readonly publish: (event: DeskEvent) => void;
}

export interface FormCards extends PersonForms {
  /** Oldest first. */
  list(): FormCard[];
  answer(answer: FormAnswer): FormOutcome;
}

/** A server that asks without end may not bury what others ask. */
const MAX_OPEN = 20;
const MAX_OPEN_PER_SERVER = 5;
const MAX_MESSAGE_CHARS = 8192;
/** All forms go to every page with every change of one. */
const MAX_FORM_CHARS = 256 * 1024;
const MAX_URL_CHARS = 8192;

const CANCEL: ElicitResult = { action: "cancel" };
const DECLINE: ElicitResult = { action: "decline" };

interface OpenForm {
  readonly card: FormCard;
  readonly settle: (result: ElicitResult) => void;
}

export function createFormCards({ newId, clock, publish }: FormCardsOptions): FormCards {
  const open = new Map<string, OpenForm>();
  const list = (): FormCard[] => [...open.values()].map(({ card }) => card);

  function close(id: string, result: ElicitResult): void {
    const form = open.get(id);
    if (form === undefined) return;
    open.delete(id);
    publish({ t: "forms", forms: list() });
    form.settle(result);
  }

  function hasRoom(server: string): boolean {
    return open.size < MAX_OPEN && list().filter((card) => card.server === server).length < MAX_OPEN_PER_SERVER;
  }

  return {
    modes: { form: true, url: true },
    async ask(question) {
      const asked = askedFor(question.params);
      if (question.signal.aborted) return CANCEL;
      if (!asked.ok || !hasRoom(question.server)) return DECLINE;
      const { promise, resolve } = Promise.withResolvers<ElicitResult>();
      const card = cardOf(question, asked.value, { id: newId(), at: clock.now() });
      const onAbort = (): void => close(card.id, CANCEL);
      open.set(card.id, { card, settle: resolve });
      question.signal.addEventListener("abort", onAbort, { once: true });
      publish({ t: "forms", forms: list() });
      return promise.finally(() => question.signal.removeEventListener("abort", onAbort));
    },
    list,
    answer({ id, action, values = {} }) {
      const form = open.get(id);
      if (form === undefined) return { outcome: "gone" };
      if (action === "decline") {
        close(id, DECLINE);
        return { outcome: "sent" };
      }
      const content = readAnswer(form.card, values);
      if (!content.ok) return { outcome: "wrong", problems: content.error };
      close(id, { action: "accept", ...(form.card.asks.kind === "form" && { content: content.value as NonNullable<ElicitResult["content"]> }) });
      return { outcome: "sent" };
    },
  };
}

type Asked = Pick<FormCard, "message" | "asks">;

/** @param params as the server wrote them: nobody may have looked at them before, and every page has to read the card */
function askedFor(params: unknown): Result<Asked, string> {
  if (!isJsonObject(params) || typeof params["message"] !== "string") return err("no question");
  const { mode, url, requestedSchema } = params;
  const message = params["message"].slice(0, MAX_MESSAGE_CHARS);
  const asks = mode === "url" ? addressOf(url) : formOf(requestedSchema);
  return asks.ok ? ok({ message, asks: asks.value }) : asks;
}

function addressOf(given: JsonValue | undefined): Result<FormCard["asks"], string> {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return err("no web address");
  if (url.href.length > MAX_URL_CHARS) return err("a longer address than anybody reads");
  // What stands before the @ reads like the site.
  if (url.username !== "" || url.password !== "") return err("an address with a user name");
  return ok({ kind: "address", url: url.href, host: url.host });
}

function formOf(schema: JsonValue | undefined): Result<FormCard["asks"], string> {
  if (!isJsonObject(schema)) return err("no form");
  const fields = formFields(schema);
  if (!fields.ok) return fields;
  return JSON.stringify(fields.value).length > MAX_FORM_CHARS ? err("a larger form than anybody reads") : ok({ kind: "form", fields: fields.value });
}

function cardOf({ server, caller }: UpstreamQuestion, asked: Asked, { id, at }: { readonly id: string; readonly at: number }): FormCard {
  return { id, server, client: caller.kind === "remote" ? caller.client : "", at, ...asked };
}

function readAnswer({ asks }: FormCard, values: NonNullable<FormAnswer["values"]>): Result<JsonObject, Record<string, string>> {
  const content: Record<string, JsonValue> = {};
  const problems: Record<string, string> = {};
  for (const field of asks.kind === "form" ? asks.fields : []) {
    const read = readField(field, Object.hasOwn(values, field.name) ? (values[field.name] ?? "") : "");
    if (!read.ok) problems[field.name] = read.error;
    else if (read.value !== undefined) content[field.name] = read.value;
  }
  return Object.keys(problems).length === 0 ? ok(content) : err(problems);
}
