/** The conversation of one agent over its store, with the outbox on this machine's disk. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { HumanStore } from "../../shared/human/store.ts";
import { createConversation, type Conversation } from "../desk/conversation.ts";
import { openLocalHumanStore, type LocalHumanStore } from "../node/local-human-store.ts";
import { openOutboxFile, type OutboxFile } from "../node/outbox-file.ts";
import type { AgentContext } from "./agent-parts.ts";
import { EXIT, StartFailure, systemErrorCode } from "./start-failure.ts";

/** `dir` is private, and this agent's alone. Throws `StartFailure`; what is opened ends with the lifetime. */
export function openConversation({ lifetime, clock, timers, log, progress }: AgentContext, store: HumanStore, dir: string): Conversation {
  const outbox = openOutbox(dir);
  lifetime.onEnd("outbox", () => outbox.close());
  if (outbox.damaged > 0) progress(`${outbox.damaged} lines of ${dir} that still had to be sent could not be read: the words in them are lost.`);
  const conversation = createConversation({ store, outbox, clock, timers, log, newId: randomUUID });
  lifetime.onEnd("conversation", () => conversation.close());
  return conversation;
}

/** Where no relay keeps it. */
export function openLocalStore({ lifetime, clock, timers }: AgentContext, dir: string, isOpen?: (x: number) => boolean): LocalHumanStore {
  try {
    const store = openLocalHumanStore({ dir, clock, timers, ...(isOpen !== undefined && { isOpen }) });
    lifetime.onEnd("conversation's store", () => store.close());
    return store;
  } catch (error) {
    throw unusable(dir, error);
  }
}

function openOutbox(dir: string): OutboxFile {
  try {
    return openOutboxFile(join(dir, "outbox.jsonl"));
  } catch (error) {
    throw unusable(dir, error);
  }
}

function unusable(dir: string, error: unknown): StartFailure {
  return new StartFailure(
    `What you write cannot be kept in ${dir} (${systemErrorCode(error) ?? String(error)}): make room there, or remove it.`,
    EXIT.failed,
    {
      cause: error,
    },
  );
}
