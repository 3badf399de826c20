/** Models that a test plays. */
import type { Sampler } from "../../local-agent/adapter/ports.ts";

export const NO_MODEL: Sampler = { available: false, sample: () => Promise.reject(new Error("There is no model to ask.")) };

/** Answers every question with this text, until it is over. */
export function scriptedSampler(text: string): Sampler {
  return {
    available: true,
    async sample({ signal }) {
      if (signal.aborted) throw new Error("The question is over.");
      return { model: "scripted", role: "assistant", content: { type: "text", text } };
    },
  };
}
