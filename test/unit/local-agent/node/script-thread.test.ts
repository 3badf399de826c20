import { expect, test } from "vitest";
import { SCRIPT_MEMORY_MB } from "../../../../local-agent/node/script-limits.ts";
import { openScriptThread } from "../../../../local-agent/node/script-thread.ts";
import { waitUntil } from "../../../support/wait-until.ts";

test("[MS13] a script in a thread is ended when the whole process grew too much since it began", async () => {
  const before = 1_000_000_000;
  let resident = before;
  let measured = 0;
  const ends: unknown[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const thread = openScriptThread(
    "for (;;) await null",
    {
      message: () => {},
      ended(why) {
        ends.push(why);
        resolve();
      },
    },
    () => {
      measured++;
      return resident;
    },
  );
  resident = before + SCRIPT_MEMORY_MB.process * 1024 * 1024;
  await waitUntil("it was looked at", () => measured >= 4);
  expect(ends).toEqual([]);
  resident++;
  await ended;
  expect(ends[0]).toEqual({ how: "memory" });
  await thread.end();
});
