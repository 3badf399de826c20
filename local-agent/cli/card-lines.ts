/** What a person who sees no page is told when an app asks: one line on the agent's terminal, and not again for what was said. */
import type { PendingAuthorization } from "../../shared/authorization.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { pacedLines } from "./paced-lines.ts";

export interface CardLines {
  readonly show: (waiting: readonly PendingAuthorization[]) => void;
  readonly stop: () => void;
}

/** `program`: how the person starts us. What came in the pause is said when it is over, if it still waits. */
export function cardLines(say: (line: string) => void, program: string, ports: { readonly clock: Clock; readonly timers: Timers }): CardLines {
  let waiting: readonly PendingAuthorization[] = [];
  let said: ReadonlySet<string> = new Set();
  const lines = pacedLines({
    ...ports,
    say,
    line() {
      // What came in the pause may have run out in it.
      const fresh = waiting.filter(({ id }) => !said.has(id));
      const [first] = fresh;
      if (first === undefined) return undefined;
      const who = fresh.length === 1 ? `An app wants access (${visibleLine(first.redirectHost, 60)})` : `${fresh.length} apps want access`;
      return `${who}: run ${program} pending`;
    },
    onSaid: () => (said = new Set(waiting.map(({ id }) => id))),
  });
  return {
    show(now) {
      waiting = now;
      lines.speak();
    },
    stop: lines.stop,
  };
}
