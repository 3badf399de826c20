/** Who answers what a server asks during a call: whoever the call is for, if that can be asked; else the desk, for a form; else nobody. */
import type { PersonForms, Sampler } from "../adapter/ports.ts";
import type { AttachedAsks } from "./attached-asks.ts";

/** A remote client's model is not ours to ask; that of an attached session is, while its call runs. */
export function attachedSampler(asks: AttachedAsks): Sampler {
  return {
    get available() {
      return asks.any("sampling");
    },
    sample(request) {
      if (request.caller.kind === "attached") return request.caller.sampler.sample(request);
      return Promise.reject(new Error("This agent has no model to ask: sampling is declined."));
    },
  };
}

/**
 * @param hasDesk whether there is, or will be, a desk that answers
 * @param forms the desk's, once there is one
 */
export function deskForms(hasDesk: boolean, forms: () => PersonForms | undefined, asks: AttachedAsks): PersonForms {
  return {
    get modes() {
      return { form: hasDesk || asks.any("form"), url: hasDesk || asks.any("url") };
    },
    ask(question) {
      if (question.caller.kind === "attached") return question.caller.forms.ask(question);
      return forms()?.ask(question) ?? Promise.resolve({ action: "cancel" });
    },
  };
}
