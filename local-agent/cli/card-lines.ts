/** What a person who sees no page is told when an app asks: one line on the agent's terminal, and not again for what was said. */
import type { PendingAuthorization } from "../../shared/authorization.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { visibleLine } from "../../shared/visible-text.ts";

/** A stranger can raise cards one after another; a line at a time is enough to make somebody look. */
const PAUSE_MS = 30_000;

export interface CardLines {
  readonly show: (waiting: readonly PendingAuthorization[]) => void;
  readonly stop: () => void;
}

/** `program`: how the person starts us. What came in the pause is said when it is over, if it still waits. */
export function cardLines(
  say: (line: string) => void,
  program: string,
  { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
): CardLines {
  let waiting: readonly PendingAuthorization[] = [];
  let said: ReadonlySet<string> = new Set();
  let quietUntil = 0;
  let cancel: (() => void) | undefined;

  function speak(): void {
    // What came in the pause may have run out in it.
    const fresh = waiting.filter(({ id }) => !said.has(id));
    const [first] = fresh;
    if (first === undefined || cancel !== undefined) return;
    const pause = quietUntil - clock.now();
    if (pause > 0) {
      cancel = timers.after(pause, () => {
        cancel = undefined;
        speak();
      });
      return;
    }
    said = new Set(waiting.map(({ id }) => id));
    quietUntil = clock.now() + PAUSE_MS;
    const who = fresh.length === 1 ? `An app wants access (${visibleLine(first.redirectHost, 60)})` : `${fresh.length} apps want access`;
    say(`${who}: run ${program} pending`);
  }

  return {
    show(now) {
      waiting = now;
      speak();
    },
    stop: () => cancel?.(),
  };
}
