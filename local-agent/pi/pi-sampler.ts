/** Lets an MCP server ask one of Pi's models (sampling), with the person's leave before and after. Text only. */
import type { CreateMessageRequestParams, ModelPreferences } from "@modelcontextprotocol/client";
import type { Message } from "@earendil-works/pi-ai";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { visibleBlock, visibleLine } from "../../shared/visible-text.ts";
import type { Sampler } from "../adapter/ports.ts";
import { hasPerson, type PiHost } from "./pi-host.ts";
import { shownPart } from "./shown-part.ts";

type PiModel = NonNullable<ExtensionContext["model"]>;

const SHOWN_CHARS = 2000;

export interface SamplingRules {
  /** `settings.sampling`; null: where somebody can approve it. */
  readonly sampling: boolean | null;
  readonly autoApprove: boolean;
}

export function createPiSampler(host: PiHost, rules: () => SamplingRules): Sampler {
  return {
    get available() {
      const { sampling, autoApprove } = rules();
      return sampling !== false && (autoApprove || hasPerson(host));
    },
    async sample({ server, params, signal }) {
      const session = host.session();
      if (session === null || !this.available) throw new Error("Sampling is not available here: nobody can approve it.");
      const unsupported = unsupportedIn(params);
      if (unsupported !== undefined) throw new Error(`This client samples plain text only: ${unsupported} is not supported.`);
      const model = chooseModel(params.modelPreferences, session);
      if (model === undefined) throw new Error("Pi has no model that could be asked.");
      const isAsked = !rules().autoApprove;
      if (isAsked) await requireYes(session, `${visibleLine(server, 100)} wants to ask ${model.id}`, promptText(params), signal);
      const text = await complete(session, model, params, signal);
      if (isAsked) await requireYes(session, `Hand this answer of ${model.id} to ${visibleLine(server, 100)}?`, text, signal);
      return { role: "assistant", model: model.id, content: { type: "text", text }, stopReason: "endTurn" };
    },
  };
}

/** [PI41] First hint that fits (part of `provider/id`, id or name), else the session's model, else any. Pure but for the registry. */
function chooseModel(preferences: ModelPreferences | undefined, session: ExtensionContext): PiModel | undefined {
  const available = session.modelRegistry.getAvailable();
  for (const { name } of preferences?.hints ?? []) {
    const wanted = name?.toLowerCase() ?? "";
    const found = available.find((model) =>
      [`${model.provider}/${model.id}`, model.id, model.name].some((text) => text.toLowerCase().includes(wanted)),
    );
    if (wanted !== "" && found !== undefined) return found;
  }
  return session.model ?? available[0];
}

/** What there is no way to honour, so that no answer pretends to. Pure. */
function unsupportedIn(params: CreateMessageRequestParams): string | undefined {
  const { includeContext, stopSequences, messages } = params;
  if ("tools" in params && params.tools !== undefined) return "tools";
  if ("toolChoice" in params && params.toolChoice !== undefined) return "toolChoice";
  if (includeContext !== undefined && includeContext !== "none") return "includeContext";
  if (stopSequences !== undefined && stopSequences.length > 0) return "stopSequences";
  const other = messages.flatMap(({ content }) => (Array.isArray(content) ? content : [content])).find(({ type }) => type !== "text");
  return other === undefined ? undefined : `${other.type} content`;
}

function textsOf({ content }: CreateMessageRequestParams["messages"][number]): string {
  return (Array.isArray(content) ? content : [content]).map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function promptText({ systemPrompt, messages }: CreateMessageRequestParams): string {
  return [
    ...(systemPrompt === undefined ? [] : [`[system] ${systemPrompt}`]),
    ...messages.map((message) => `[${message.role}] ${textsOf(message)}`),
  ].join("\n");
}

async function requireYes({ ui }: ExtensionContext, title: string, text: string, signal: AbortSignal): Promise<void> {
  const picked = await ui.select(`${title}\n\n${shownPart(text, SHOWN_CHARS, visibleBlock)}`, ["Deny", "Allow"], { signal });
  if (picked !== "Allow" || signal.aborted) throw new Error("The person declined this sampling request.");
}

async function complete(session: ExtensionContext, model: PiModel, params: CreateMessageRequestParams, signal: AbortSignal): Promise<string> {
  const { systemPrompt, messages, maxTokens, temperature } = params;
  const answer = await session.modelRegistry.complete(
    model,
    {
      ...(systemPrompt !== undefined && { systemPrompt }),
      messages: messages.map((message) => piMessage(message, model)),
    },
    { signal, maxTokens, ...(temperature !== undefined && { temperature }) },
  );
  if (answer.stopReason === "error" || answer.stopReason === "aborted") throw new Error(answer.errorMessage ?? "The model did not answer.");
  return answer.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function piMessage(message: CreateMessageRequestParams["messages"][number], { api, provider, id }: PiModel): Message {
  const text = textsOf(message);
  if (message.role === "user") return { role: "user", content: text, timestamp: 0 };
  return { role: "assistant", content: [{ type: "text", text }], api, provider, model: id, usage: NO_USAGE, stopReason: "stop", timestamp: 0 };
}
