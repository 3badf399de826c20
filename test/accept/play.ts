/** Plays the steps one after the other. The person sees on the page how it ended. */
import { STEPS, type RemoteAgent, type Step } from "./steps.ts";

/** Resolves with the titles of the steps that did not pass. `print` takes lines for whoever started it. */
export async function play(agent: RemoteAgent, print: (line: string) => void, steps: readonly Step[] = STEPS): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [index, step] of steps.entries()) {
    print(`${index + 1}/${steps.length}  ${step.title} …`);
    const problem = await step.run(agent).catch((error: unknown) => String(error));
    print(problem === undefined ? "     passed" : `     FAILED: ${problem}`);
    if (problem !== undefined) failed.push(step.title);
  }
  const summary = failed.length === 0 ? `All ${steps.length} steps passed.` : `${steps.length - failed.length} passed, ${failed.length} FAILED.`;
  print(`\n${summary}`);
  await agent.call("human_say", { text: failed.length === 0 ? `${summary} Thank you.` : `${summary} ${failed.join("; ")}.`, category: "done" });
  return failed;
}
