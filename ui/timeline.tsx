import { useState } from "preact/hooks";
import type { JSX } from "preact";
import type { TimelineCall } from "../shared/desk.ts";
import { CallRow } from "./call-row.tsx";
import { useFollowedEnd } from "./followed-end.ts";
import { hasSeveralClients, hiddenNote, shownCalls, type CallFilter } from "./shown-calls.ts";
import { useNow } from "./use-now.ts";

export interface TimelineProps {
  readonly calls: readonly TimelineCall[];
  /** While a request waits above, the page must not move under the pointer. */
  readonly mayMovePage: boolean;
}

/** What happened on this machine, oldest first; follows the end as long as the person stays there. */
export function Timeline({ calls, mayMovePage }: TimelineProps): JSX.Element {
  const [filter, setFilter] = useState<CallFilter>("all");
  const isRunning = calls.some((call) => call.state === "running");
  const now = useNow(isRunning ? 500 : null);
  const log = useFollowedEnd([calls, filter], mayMovePage);
  const shown = shownCalls(calls, filter);
  const note = hiddenNote(shown);
  const showsClient = hasSeveralClients(calls);
  return (
    <section class="timeline" aria-labelledby="timeline-title">
      <header>
        <h2 id="timeline-title">What ran here</h2>
        <label class="toggle">
          <input type="checkbox" checked={filter === "failed"} onChange={(event) => setFilter(event.currentTarget.checked ? "failed" : "all")} />
          Failed only
        </label>
      </header>
      <div ref={log} class="log" role="log" aria-label="Tool calls" tabIndex={0}>
        {calls.length === 0 ? <p class="muted">No tool call yet.</p> : null}
        {note === undefined ? null : <p class="muted">{note}</p>}
        <ol>
          {shown.calls.map((call) => (
            <CallRow key={call.callId} call={call} now={now} showsClient={showsClient} />
          ))}
        </ol>
      </div>
    </section>
  );
}
