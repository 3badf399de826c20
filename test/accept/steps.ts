/**
 * The acceptance in which a person answers in the browser: what the remote agent says and asks, in order, and what counts
 * as passed. The steps know a client and nothing of who answers, so that a script can stand in for the person.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { said, type CallResult } from "../support/agent-requests.ts";

export interface RemoteAgent {
  call(name: string, args: Record<string, unknown>): Promise<CallResult>;
  /** The directory that the tools are confined to. */
  readonly root: string;
  readonly pause: (ms: number) => Promise<void>;
}

export interface Step {
  readonly title: string;
  /** A sentence about what was not as it should be; undefined: passed. */
  run(agent: RemoteAgent): Promise<string | undefined>;
}

const YES = "Yes";
const NO = "No";
/** Windows without an answer before a step is given up. */
const PATIENCE = 20;

export const STEPS: readonly Step[] = [
  {
    title: "Markdown and LaTeX are shown",
    async run(agent) {
      await agent.call("human_say", { text: SAMPLE });
      return confirm(agent, "Is the message above shown with a heading, a list, a code block with a copy button, and two formulas?");
    },
  },
  {
    title: "An answer of one's own words arrives as it was typed",
    async run(agent) {
      const word = randomUUID().slice(0, 4);
      const text = await answerTo(agent, { text: `Please type this word and nothing else: \`${word}\`` });
      return text === word ? undefined : `expected ${JSON.stringify(word)}, got ${JSON.stringify(text)}`;
    },
  },
  {
    title: "What is typed while the agent is busy arrives together",
    async run(agent) {
      await agent.call("human_say", { text: "I am busy for 15 seconds now. Please send **three** short messages meanwhile: `one`, `two`, `three`." });
      await agent.pause(15_000);
      const result = await agent.call("human_wait", {});
      const text = said(result);
      const isStamped = /\[1\/3 · \d\d:\d\d:\d\d\] one[\s\S]*\[2\/3 · [\s\S]*two[\s\S]*\[3\/3 · [\s\S]*three/.test(text);
      return isStamped ? undefined : `expected three stamped messages in one result, got ${JSON.stringify(text)}`;
    },
  },
  {
    title: "A command waits for its card, and runs once it is allowed",
    async run(agent) {
      await agent.call("human_say", { text: "I ask to run a command that makes the file `allowed`. Please press **Allow once**." });
      const result = await agent.call("bash", { command: "echo yes > allowed" });
      return result.isError !== true && existsSync(join(agent.root, "allowed")) ? undefined : `the command did not run: ${said(result)}`;
    },
  },
  {
    title: "A denied command does not run, and the reason reaches the agent",
    async run(agent) {
      await agent.call("human_say", { text: "I ask for another one. Please **deny** it, with the reason `not today`." });
      const result = await agent.call("bash", { command: "echo no > denied" });
      if (existsSync(join(agent.root, "denied"))) return "the command ran";
      return result.isError === true && said(result).includes("not today") ? undefined : `the reason did not arrive: ${said(result)}`;
    },
  },
  {
    title: "Nothing is lost when the page is reloaded",
    async run(agent) {
      return confirm(agent, "Please reload this page (F5). Are all messages and tool rows still there, in the same order?");
    },
  },
  {
    title: "An image reaches the agent",
    async run(agent) {
      const result = await waitFor(agent, "human_ask", { text: "Please paste or drop any picture into the message box, and send it." });
      const image = result.content.find((part) => part.type === "image");
      return image?.data === undefined ? "no image content arrived" : undefined;
    },
  },
  {
    title: "Sounds, once they are switched on",
    async run(agent) {
      const ready = await answerTo(agent, { text: "Please switch the bell on and choose **Yes** when it is on.", options: [YES, NO] });
      if (ready !== YES) return "the bell could not be switched on";
      await agent.call("human_say", { text: "This is done.", category: "done" });
      await agent.pause(1500);
      await agent.call("human_say", { text: "This is an error.", category: "error" });
      await agent.pause(1500);
      return confirm(agent, "Did you hear three different sounds: done, error, and this question?");
    },
  },
];

const SAMPLE = `# Acceptance

- a list
- with *two* items

\`\`\`js
console.log("a code block");
\`\`\`

Inline $e^{i\\pi} + 1 = 0$, and on its own: $$\\int_0^1 x^2\\,dx = \\tfrac13$$`;

async function confirm(agent: RemoteAgent, question: string): Promise<string | undefined> {
  const answer = await answerTo(agent, { text: question, options: [YES, NO] });
  return answer === YES ? undefined : `the person said: ${answer}`;
}

async function answerTo(agent: RemoteAgent, args: Record<string, unknown>): Promise<string> {
  return said(await waitFor(agent, "human_ask", args));
}

/** Asks, and keeps waiting as the prompt tells an agent to. */
async function waitFor(agent: RemoteAgent, name: string, args: Record<string, unknown>): Promise<CallResult> {
  let result = await agent.call(name, args);
  for (let more = 0; more < PATIENCE && result.structuredContent?.["status"] === "no_message"; more++) {
    result = await agent.call("human_wait", {});
  }
  return result;
}
