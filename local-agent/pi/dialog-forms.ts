/** Puts the questions of MCP servers to the person in Pi: a form field by field, an address only after consent. */
import type { ElicitResult } from "@modelcontextprotocol/client";
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { formFields, readField, type FormField } from "../../shared/form-fields.ts";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import { visibleBlock, visibleLine } from "../../shared/visible-text.ts";
import type { PersonForms, UpstreamQuestion } from "../adapter/ports.ts";
import { hasPerson, type PiHost } from "./pi-host.ts";

const CANCEL: ElicitResult = { action: "cancel" };
const DECLINE: ElicitResult = { action: "decline" };

const ANSWER = "Answer";
const REFUSE = "Refuse to answer";
const SEND = "Send";
const AGAIN = "Go through it again";
const LEAVE_OUT = "(leave it out)";

/** As on the page: longer ones nobody reads. */
const MAX_URL_CHARS = 8192;
const MAX_MESSAGE_CHARS = 8192;

/** @param openAddress opens a web address in the person's browser; rejects when it cannot */
export function createDialogForms(host: PiHost, openAddress: (url: string) => Promise<void>): PersonForms {
  return {
    get modes() {
      const isThere = hasPerson(host);
      return { form: isThere, url: isThere && host.session()?.mode === "tui" };
    },
    async ask(question) {
      try {
        const ui = hasPerson(host) ? host.session()?.ui : undefined;
        if (ui === undefined || question.signal.aborted) return CANCEL;
        const answer = await ("url" in question.params
          ? askAddress(ui, question, question.params, openAddress)
          : askForm(ui, question, question.params));
        // Whatever was picked when the question was over already.
        return question.signal.aborted ? CANCEL : answer;
      } catch {
        // Pi replaced the session meanwhile: whatever it gave throws from then on.
        return CANCEL;
      }
    },
  };
}

type FormParams = Exclude<UpstreamQuestion["params"], { url: string }>;
type AddressParams = Extract<UpstreamQuestion["params"], { url: string }>;

async function askForm(ui: ExtensionUIContext, { server, signal }: UpstreamQuestion, params: FormParams): Promise<ElicitResult> {
  const fields = formFields(params.requestedSchema as unknown as JsonObject);
  const title = `${visibleLine(server, 100)} asks: ${shownMessage(params)}`;
  if (!fields.ok) {
    ui.notify(`${visibleLine(server, 100)} asked for something that cannot be shown: ${fields.error}. It was told that you declined.`, "warning");
    return DECLINE;
  }
  if (fields.value.length === 0) return confirmed(ui, title, signal);
  const begin = await ui.select(title, [ANSWER, REFUSE], { signal });
  if (begin === REFUSE) return DECLINE;
  if (begin !== ANSWER) return CANCEL;
  let given: JsonObject = {};
  while (!signal.aborted) {
    const filled = await fillIn(ui, fields.value, given, signal);
    if (filled === undefined) return CANCEL;
    given = filled;
    const decided = await ui.select(review(title, fields.value, given), [SEND, AGAIN, REFUSE], { signal });
    if (decided === SEND) return { action: "accept", content: given as ElicitResult["content"] };
    if (decided !== AGAIN) return decided === REFUSE ? DECLINE : CANCEL;
  }
  return CANCEL;
}

/** A form without fields is one question for a yes. */
async function confirmed(ui: ExtensionUIContext, title: string, signal: AbortSignal): Promise<ElicitResult> {
  const picked = await ui.select(title, ["Yes", "No"], { signal });
  if (picked === "Yes") return { action: "accept", content: {} };
  return picked === "No" ? DECLINE : CANCEL;
}

/** Undefined: the person dismissed a dialog. */
async function fillIn(
  ui: ExtensionUIContext,
  fields: readonly FormField[],
  before: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const content = new Map<string, JsonValue>();
  for (const field of fields) {
    const filled = await fillInField(ui, field, Object.hasOwn(before, field.name) ? before[field.name] : undefined, signal);
    if (filled === "dismissed") return undefined;
    if (filled.value !== undefined) content.set(field.name, filled.value);
  }
  return Object.fromEntries(content);
}

/** Asks until the answer fits. */
async function fillInField(
  ui: ExtensionUIContext,
  field: FormField,
  before: JsonValue | undefined,
  signal: AbortSignal,
): Promise<{ readonly value: JsonValue | undefined } | "dismissed"> {
  let problem = "";
  for (;;) {
    const given = await askField(ui, field, { problem, before, signal });
    if (given === undefined || signal.aborted) return "dismissed";
    const read = readField(field, given);
    if (read.ok) return { value: read.value };
    problem = ` (${read.error})`;
  }
}

interface Asking {
  readonly problem: string;
  /** What was given the last time. */
  readonly before: JsonValue | undefined;
  readonly signal: AbortSignal;
}

async function askField(ui: ExtensionUIContext, field: FormField, asking: Asking): Promise<string | boolean | readonly string[] | undefined> {
  const title = `${visibleLine(field.title, 200)}${field.description === "" ? "" : `: ${visibleLine(field.description, 400)}`}${asking.problem}`;
  const options = { signal: asking.signal };
  switch (field.kind) {
    case "switch": {
      const picked = await ui.select(title, field.initial ? ["Yes", "No"] : ["No", "Yes"], options);
      return picked === undefined ? undefined : picked === "Yes";
    }
    case "choice":
      return askChoice(ui, field, title, asking.signal);
    case "choices":
      return askChoices(ui, field, title, asking.signal);
    case "text":
    case "number": {
      const initial = typeof asking.before === "string" || typeof asking.before === "number" ? `${asking.before}` : field.initial;
      const text = await ui.input(title, initial, options);
      // An input left as it is means what it shows.
      return text === "" ? initial : text;
    }
  }
}

async function askChoice(
  ui: ExtensionUIContext,
  field: Extract<FormField, { kind: "choice" }>,
  title: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const labels = labelled(field.choices.map((choice) => choice.title));
  const picked = await ui.select(title, field.required ? labels : [...labels, LEAVE_OUT], { signal });
  if (picked === undefined || picked === LEAVE_OUT) return picked === undefined ? undefined : "";
  return field.choices[labels.indexOf(picked)]?.value;
}

const DONE = "Done";

async function askChoices(
  ui: ExtensionUIContext,
  field: Extract<FormField, { kind: "choices" }>,
  title: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const chosen = new Set(field.initial);
  const labels = labelled(field.choices.map((choice) => choice.title));
  for (;;) {
    const shown = labels.map((label, index) => `${chosen.has(field.choices[index]?.value ?? "") ? "[x]" : "[ ]"} ${label}`);
    const picked = await ui.select(title, [...shown, DONE], { signal });
    if (picked === undefined) return undefined;
    if (picked === DONE) return [...chosen];
    const value = field.choices[shown.indexOf(picked)]?.value ?? "";
    if (!chosen.delete(value)) chosen.add(value);
  }
}

/** Lines of a choice that can be told apart, whatever a server calls them. */
function labelled(titles: readonly string[]): string[] {
  const taken = new Set([LEAVE_OUT, DONE]);
  return titles.map((title, index) => {
    let label = visibleLine(title, 200);
    while (taken.has(label)) label = `${label} (${index + 1})`;
    taken.add(label);
    return label;
  });
}

function review(title: string, fields: readonly FormField[], given: JsonObject): string {
  const lines = fields.map(
    (field) => `${visibleLine(field.title, 100)}: ${Object.hasOwn(given, field.name) ? visibleLine(JSON.stringify(given[field.name]), 200) : "—"}`,
  );
  return `${title}\n\n${lines.join("\n")}`;
}

/** [PI31] Only web addresses, shown whole with their host, and never without a yes. */
async function askAddress(
  ui: ExtensionUIContext,
  { server, signal }: UpstreamQuestion,
  params: AddressParams,
  openAddress: (url: string) => Promise<void>,
): Promise<ElicitResult> {
  const url = URL.canParse(params.url) ? new URL(params.url) : undefined;
  if (url === undefined || !isWebAddress(url)) {
    ui.notify(
      `${visibleLine(server, 100)} asked to open something that is no web address a person can judge. It was told that you declined.`,
      "warning",
    );
    return DECLINE;
  }
  const shown = visibleLine(url.href, MAX_URL_CHARS);
  const title = `${visibleLine(server, 100)} asks you to open ${url.host}: ${shownMessage(params)}\n${shown}`;
  const open = `Open ${url.host}`;
  const picked = await ui.select(title, [REFUSE, open], { signal });
  if (picked !== open || signal.aborted) return picked === REFUSE ? DECLINE : CANCEL;
  await openAddress(url.href).catch(() => ui.notify(`No browser could be opened. Open it yourself: ${shown}`, "warning"));
  return { action: "accept" };
}

/** What stands before an @ reads like the site. */
function isWebAddress({ protocol, href, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && href.length <= MAX_URL_CHARS && username === "" && password === "";
}

function shownMessage({ message }: { readonly message: string }): string {
  return visibleBlock(message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message);
}
