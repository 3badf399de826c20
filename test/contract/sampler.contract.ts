/** What every `Sampler` holds, whichever model it asks. */
import { expect, test } from "vitest";
import type { Sampler } from "../../local-agent/adapter/ports.ts";

/** What the model of a sampler that is available answers. */
export const ANSWER = "Forty-two.";

export type SamplerScene = "available" | "unavailable";

export interface SamplerUnderTest {
  readonly sampler: Sampler;
  /** During whose request the server asks. */
  readonly caller: Parameters<Sampler["sample"]>[0]["caller"];
}

/** @param create the scene is what holds whenever it is asked */
export function describeSampler(create: (scene: SamplerScene) => SamplerUnderTest): void {
  const ask = (scene: SamplerScene, signal = new AbortController().signal) => {
    const { sampler, caller } = create(scene);
    const question = { role: "user", content: { type: "text", text: "How many?" } } as const;
    return sampler.sample({ server: "asking", params: { messages: [question], maxTokens: 10 }, caller, signal });
  };

  test("[PI40] gives the model's answer, and its name, where it is available", async () => {
    expect(create("available").sampler.available).toBe(true);
    const answer = await ask("available");
    expect(answer).toMatchObject({ role: "assistant", content: { type: "text", text: ANSWER }, model: expect.stringMatching(/\w/) as unknown });
  });

  test("[PI40] refuses with a sentence where it is not", async () => {
    expect(create("unavailable").sampler.available).toBe(false);
    await expect(ask("unavailable")).rejects.toThrow(/\w.* .*\w\.$/);
  });

  test("[PI40] answers nothing once the question is over", async () => {
    await expect(ask("available", AbortSignal.abort())).rejects.toThrow(/\w/);
  });
}
