/**
 * What an upstream may ask back during a call: a form for the person (elicitation), an answer of a model (sampling). Both go out in the
 * name of a use in flight; a server nobody is using gets no answer from anybody.
 *
 * A modern server asks in its answer to a request, so the use is known. A legacy one sends a request of its own that does not say what
 * it is for: the use that began last is taken.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Client,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitResult,
  type InputResponse,
} from "@modelcontextprotocol/client";
import type { AdapterPorts, Caller, UpstreamQuestion } from "../ports.ts";
import { embeddedQuestion } from "./embedded-question.ts";

/** A server may not fill the person's desk. */
const MAX_OPEN = 3;

/** One for all: at the end of most calls no question is open to hear it. */
const CALL_ENDED = new Error("the call this question belongs to has ended");

type QuestionPorts = Pick<AdapterPorts, "forms" | "sampler" | "log">;

export interface Questions {
  readonly capabilities: ClientCapabilities;
  /** Sets the handlers of a client that is not connected yet. */
  prepare(client: Client): void;
  /** From now on questions that belong to no request are this caller's. */
  enter(caller: Caller): AskableUse;
}

export interface AskableUse {
  /**
   * Answers what a modern server asks for a request of this very use. Rejects with why it is not answered; the server is to be asked no
   * further then.
   */
  answer(key: string, question: unknown, signal: AbortSignal): Promise<InputResponse>;
  /** Ends that, and the questions still open in its name. */
  leave(): void;
}

interface QuestionOptions {
  readonly server: string;
  readonly ports: QuestionPorts;
  readonly elicitation: boolean;
  readonly sampling: boolean;
  /** Stops the connection's deadlines while a question is open. */
  readonly pause: () => () => void;
}

interface Use {
  readonly caller: Caller;
  readonly ended: AbortController;
}

/** Whose a question is (undefined: nobody's), and until when it counts. */
interface Asked {
  readonly use: Use | undefined;
  readonly signal: AbortSignal;
}

export function createQuestions(options: QuestionOptions): Questions {
  const { server, ports } = options;
  const capabilities = capabilitiesOf(options);
  const uses = new Set<Use>();
  let open = 0;
  let refusals = 0;

  /** The answer to a question, while deadlines stand still; `none` when there is nobody to answer or too much is asked. */
  const answered = async <T>(asked: Asked, kind: string, none: () => T, ask: (caller: Caller, until: AbortSignal) => Promise<T>): Promise<T> => {
    const { use } = asked;
    if (use === undefined || open >= MAX_OPEN) {
      refusals++;
      // Once: what floods the desk would flood the log.
      if (refusals === 1) ports.log.event("warn", "upstream.question-refused", { server, kind, because: use === undefined ? "nobody" : "too-many" });
      return none();
    }
    const until = AbortSignal.any([asked.signal, use.ended.signal]);
    const resume = options.pause();
    open++;
    try {
      return await ask(use.caller, until);
    } finally {
      open--;
      resume();
    }
  };
  const askPerson = (asked: Asked, params: UpstreamQuestion["params"]): Promise<ElicitResult> =>
    answered(asked, "elicitation", cancelled, (caller, signal) => ports.forms.ask({ server, params, caller, signal }));
  const askModel = (asked: Asked, params: CreateMessageRequestParams): Promise<CreateMessageResult> =>
    answered(asked, "sampling", refuseSampling, (caller, signal) => ports.sampler.sample({ server, params, caller, signal }));
  const newest = (signal: AbortSignal): Asked => ({ use: [...uses].at(-1), signal });

  return {
    capabilities,
    prepare(client) {
      client.fallbackRequestHandler = ({ method }) => Promise.reject(new ProtocolError(ProtocolErrorCode.MethodNotFound, whyNot(method)));
      if (capabilities.elicitation !== undefined) {
        client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => askPerson(newest(mcpReq.signal), params));
      }
      if (capabilities.sampling !== undefined) {
        client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) => askModel(newest(mcpReq.signal), params));
      }
    },
    enter(caller) {
      const use: Use = { caller, ended: new AbortController() };
      uses.add(use);
      return {
        async answer(key, given, signal) {
          const question = embeddedQuestion(key, given, capabilities);
          return question.asks === "person" ? askPerson({ use, signal }, question.params) : askModel({ use, signal }, question.params);
        },
        leave() {
          uses.delete(use);
          use.ended.abort(CALL_ENDED);
        },
      };
    },
  };
}

function capabilitiesOf({ ports, elicitation, sampling }: QuestionOptions): ClientCapabilities {
  const { form, url } = ports.forms.modes;
  const modes = { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) };
  return {
    ...(elicitation && (form || url) ? { elicitation: modes } : {}),
    ...(sampling && ports.sampler.available ? { sampling: {} } : {}),
  };
}

/** Old servers ask without looking at what was declared, and hand the answer on to whoever called. */
function whyNot(method: string): string {
  if (method === "sampling/createMessage") return "Sampling is declined: no model is offered to servers here.";
  if (method === "elicitation/create") return "The question is declined: nobody can be asked here.";
  return "Method not found";
}

function cancelled(): ElicitResult {
  return { action: "cancel" };
}

function refuseSampling(): never {
  throw new Error("No call is running for which a model could be asked.");
}
