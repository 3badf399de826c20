import { expect, test } from "vitest";
import { newMark } from "../../../../local-agent/tools/process-marker.ts";
import { type ShellPort, shellPort } from "../../../../local-agent/tools/shell-port.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** A shell that takes its time to start: Pi's own timer is far behind, and what ends the command is the port's. */
function slowShell(signal = new AbortController().signal) {
  const clock = new ManualClock();
  const started = Promise.withResolvers<void>();
  const exit = Promise.withResolvers<{ exitCode: number | null }>();
  const inner: ShellPort = {
    exec() {
      started.resolve();
      return exit.promise;
    },
  };
  const call = { signal, carriers: { mark: newMark() }, children: new Set<never>(), spillDir: tempDir(), report: () => {}, timers: clock };
  const ran = shellPort(inner, call).exec("sleep 300", "/", { onData: () => {}, timeout: 0.5 });
  return { clock, ran, exit: (exitCode: number) => exit.resolve({ exitCode }), started: started.promise };
}

test("[TL12] a command that was ended for its time-out is told as such, also where Pi's own timer is late", async () => {
  const { clock, ran, exit, started } = slowShell();
  await started;
  clock.advance(521);
  exit(137);
  await expect(ran).rejects.toThrow(/^timeout:0\.5$/);
});

test("[TL12] one that ended before its time-out, or was cancelled, is not", async () => {
  const early = slowShell();
  await early.started;
  early.clock.advance(400);
  early.exit(137);
  expect(await early.ran).toEqual({ exitCode: 137 });

  const leave = new AbortController();
  const cancelled = slowShell(leave.signal);
  await cancelled.started;
  leave.abort();
  cancelled.clock.advance(521);
  cancelled.exit(137);
  expect(await cancelled.ran).toEqual({ exitCode: 137 });
});
