/**
 * What an upstream may ask back during a call: a form for the person (elicitation), an answer of a model (sampling). Both go out in the
 * name of a use in flight; a server nobody is using gets no answer from anybody.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Client,
  type ClientCapabilities,
  type CreateMessageResult,
  type ElicitResult,
} from "@modelcontextprotocol/client";
import type { AdapterPorts, Caller } from "../ports.ts";

/** A server may not fill the person's desk. */
const MAX_OPEN = 3;

/** One for all: at the end of most calls no question is open to hear it. */
const CALL_ENDED = new Error("the call this question belongs to has ended");

type QuestionPorts = Pick<AdapterPorts, "forms" | "sampler" | "log">;

export interface Questions {
  readonly capabilities: ClientCapabilities;
  /** Sets the handlers of a client that is not connected yet. */
  prepare(client: Client): void;
  /** From now on questions are this caller's; the returned function ends that, and the questions still open in its name. */
  enter(caller: Caller): () => void;
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

export function createQuestions(options: QuestionOptions): Questions {
  const { server, ports } = options;
  const capabilities = capabilitiesOf(options);
  const uses = new Set<Use>();
  let open = 0;
  let refusals = 0;

  /** The answer to a question, while deadlines stand still; `none` when there is nobody to answer or too much is asked. */
  const answered = async <T>(kind: string, signal: AbortSignal, none: () => T, ask: (use: Use, until: AbortSignal) => Promise<T>): Promise<T> => {
    const use = [...uses].at(-1);
    if (use === undefined || open >= MAX_OPEN) {
      refusals++;
      // Once: what floods the desk would flood the log.
      if (refusals === 1) ports.log.event("warn", "upstream.question-refused", { server, kind, because: use === undefined ? "nobody" : "too-many" });
      return none();
    }
    const until = AbortSignal.any([signal, use.ended.signal]);
    const resume = options.pause();
    open++;
    try {
      return await ask(use, until);
    } finally {
      open--;
      resume();
    }
  };

  return {
    capabilities,
    prepare(client) {
      client.fallbackRequestHandler = ({ method }) => Promise.reject(new ProtocolError(ProtocolErrorCode.MethodNotFound, whyNot(method)));
      if (capabilities.elicitation !== undefined) {
        client.setRequestHandler("elicitation/create", ({ params }, context) =>
          answered<ElicitResult>("elicitation", context.mcpReq.signal, cancelled, (use, signal) =>
            ports.forms.ask({ server, params, caller: use.caller, signal }),
          ),
        );
      }
      if (capabilities.sampling !== undefined) {
        client.setRequestHandler("sampling/createMessage", ({ params }, context) =>
          answered<CreateMessageResult>("sampling", context.mcpReq.signal, refuseSampling, (use, signal) =>
            ports.sampler.sample({ server, params, caller: use.caller, signal }),
          ),
        );
      }
    },
    enter(caller) {
      const use: Use = { caller, ended: new AbortController() };
      uses.add(use);
      return () => {
        uses.delete(use);
        use.ended.abort(CALL_ENDED);
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
