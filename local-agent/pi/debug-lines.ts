/** What servers with `debug` write and log, shown to the person: notes in Pi, lines on the error output where Pi shows none. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { Clock } from "../../shared/ports.ts";
import type { PiHost } from "./pi-host.ts";

/** A note takes room in the conversation, and a server can write faster than anybody reads. */
const MAX_IN_WINDOW = 20;
const WINDOW_MS = 5000;
const LINE_CHARS = 500;

/** [PI78] At most 20 lines in five seconds, whichever servers they are of; that some were left out is said once each time. */
export function createDebugLines(host: PiHost, clock: Clock): (server: string, text: string) => void {
  let from = Number.NEGATIVE_INFINITY;
  let told = 0;

  const admit = (): "yes" | "last" | "no" => {
    const now = clock.now();
    if (now - from >= WINDOW_MS) {
      from = now;
      told = 0;
    }
    told++;
    return told < MAX_IN_WINDOW ? "yes" : told === MAX_IN_WINDOW ? "last" : "no";
  };

  return (server, text) => {
    for (const line of text.split(/\r?\n/)) {
      if (line.trim() === "") continue;
      const admitted = admit();
      if (admitted === "no") return;
      show(host, visibleLine(`${server}: ${line}`, LINE_CHARS) + (admitted === "last" ? " (and more, which is left out)" : ""));
    }
  };
}

function show(host: PiHost, line: string): void {
  try {
    const session = host.session();
    if (session?.hasUI === true) session.ui.notify(line, "info");
    else process.stderr.write(`${line}\n`);
  } catch {
    // Pi has replaced the session; the next one has servers of its own.
  }
}
