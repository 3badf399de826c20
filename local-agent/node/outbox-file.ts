/** The outbox on the disk of this machine: what was said is a line, and that it was sent is another. */
import * as v from "valibot";
import { EntryId, NewSaid, NewTyped } from "../../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import type { Outbox, Unsent } from "../../shared/human/outbox.ts";
import { openJournal, type Journal } from "./journal-file.ts";

export interface OutboxLimits {
  readonly maxEntries: number;
  /** Of the file, what was sent and not yet swept included. */
  readonly maxBytes: number;
}

export const OUTBOX_LIMITS: OutboxLimits = { maxEntries: HUMAN_LIMITS.queued, maxBytes: 64 * 1024 * 1024 };

/** Rewriting costs, so it happens once as much was sent as waits, and this much at least. */
const SWEEP_BYTES = 1024 * 1024;

const Line = v.union([v.object({ add: v.variant("kind", [NewSaid, NewTyped]) }), v.object({ sent: EntryId })]);

export interface OutboxFile extends Outbox {
  /** Lines that could not be read; the words in them are lost. */
  readonly damaged: number;
  close(): void;
}

/** Throws what the system says when the file cannot be used. One process at a time. */
export function openOutboxFile(path: string, limits: OutboxLimits = OUTBOX_LIMITS): OutboxFile {
  const journal = openJournal(path);
  const { waiting, damaged } = replay(journal);
  let waitingBytes = bytesOf([...waiting.values()]);

  function sweep(): void {
    const sent = journal.bytes() - waitingBytes;
    if (waiting.size > 0 && sent < Math.max(waitingBytes, SWEEP_BYTES)) return;
    journal.rewrite([...waiting.values()].map((add) => ({ add })));
  }

  return {
    damaged,
    list: () => [...waiting.values()],
    add(entry) {
      if (waiting.has(entry.id)) return "known";
      const size = bytesOf([entry]);
      if (waiting.size >= limits.maxEntries || waitingBytes + size > limits.maxBytes) return "full";
      journal.append({ add: entry }, true);
      waiting.set(entry.id, entry);
      waitingBytes += size;
      return "kept";
    },
    remove(id) {
      const entry = waiting.get(id);
      if (entry === undefined) return;
      waiting.delete(id);
      waitingBytes -= bytesOf([entry]);
      try {
        journal.append({ sent: id }, false);
        sweep();
      } catch {
        // It is sent once more after the next start, and known by its id.
      }
    },
    close: () => journal.close(),
  };
}

function replay(journal: Journal): { waiting: Map<string, Unsent>; damaged: number } {
  const waiting = new Map<string, Unsent>();
  let { damaged } = journal;
  for (const value of journal.found) {
    const line = v.safeParse(Line, value);
    if (!line.success) damaged += 1;
    else if ("add" in line.output) waiting.set(line.output.add.id, line.output.add);
    else waiting.delete(line.output.sent);
  }
  return { waiting, damaged };
}

function bytesOf(entries: readonly Unsent[]): number {
  return entries.reduce((sum, add) => sum + Buffer.byteLength(JSON.stringify({ add })) + 1, 0);
}
