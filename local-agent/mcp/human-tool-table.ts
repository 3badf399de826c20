/** How the tools of the conversation are described to clients. Arguments are checked by `human-arguments.ts`. */
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import type { ToolDescriptor } from "../../shared/tool.ts";

/** Nothing on the workstation is changed, and nobody but its person is reached; yet every call adds to, or takes from, the conversation. */
const TALK = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false } as const;

const TIMEOUT = {
  type: "number",
  description: "Seconds to wait at most. It only shortens the wait that is allowed here, and never below 5. Leave it out unless you have a reason.",
} as const;

export const HUMAN_TOOLS: readonly ToolDescriptor[] = [
  {
    name: "human_say",
    title: "Say to the person",
    description:
      "Shows a message to the person at the workstation and returns at once, without an answer. Use it for progress, findings and results: the person sees only what you say with the human_* tools. Markdown and LaTeX are rendered.",
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string", description: `What the person reads, at most ${HUMAN_LIMITS.textBytes / 1024} KiB.` },
        category: {
          type: "string",
          enum: ["message", "question", "done", "error"],
          description: "Only chooses the sound: done when the work is finished, error when you are stuck. The default is message.",
        },
      },
      required: ["text"],
    },
    annotations: TALK,
    promptSnippet: "tell the person something and go on",
  },
  {
    name: "human_ask",
    title: "Ask the person",
    description:
      "Asks the person at the workstation and waits for the answer. The result holds everything the person said since you last heard from them. When it says no_message, the question is still open: call human_wait with its questionId at once, again and again until there is an answer.",
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string", description: "The question, complete in itself: the person may read it without anything before it." },
        options: {
          type: "array",
          items: { type: "string", minLength: 1 },
          maxItems: HUMAN_LIMITS.options,
          description: "Answers to offer as buttons. The person may still write another one.",
        },
        timeout: TIMEOUT,
      },
      required: ["text"],
    },
    annotations: TALK,
    promptSnippet: "ask the person and wait for the answer",
  },
  {
    name: "human_wait",
    title: "Wait for the person",
    description:
      "Waits until the person at the workstation says something, and returns all of it. Call it whenever you have nothing else to do. When it says no_message, call it again at once: your turn must not end while you wait.",
    inputSchema: {
      type: "object",
      properties: {
        questionId: {
          type: "string",
          description: "A question of yours that is still open, as human_ask returned it; its answer is returned however often you ask.",
        },
        timeout: TIMEOUT,
      },
    },
    annotations: TALK,
    promptSnippet: "wait for whatever the person says next",
  },
];
