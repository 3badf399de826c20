import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { TimelineCall } from "../shared/desk.ts";
import { CallRow } from "./call-row.tsx";
import { useNow } from "./use-now.ts";

/** What happened on this machine, oldest first; follows the end as long as the person stays there. */
export function Timeline({ calls }: { readonly calls: readonly TimelineCall[] }): JSX.Element {
  const [areToolsHidden, hideTools] = useState(false);
  const isRunning = calls.some((call) => call.state === "running");
  const now = useNow(isRunning ? 500 : null);
  const log = useFollowedEnd(calls);
  return (
    <section class="timeline" aria-labelledby="timeline-title">
      <header>
        <h2 id="timeline-title">What ran here</h2>
        <label class="toggle">
          <input type="checkbox" checked={areToolsHidden} onChange={(event) => hideTools(event.currentTarget.checked)} />
          Hide tools
        </label>
      </header>
      <div ref={log} class="log" role="log" aria-label="Tool calls" tabIndex={0}>
        {calls.length === 0 ? <p class="muted">No tool call yet.</p> : null}
        {areToolsHidden && calls.length > 0 ? (
          <p class="muted">{calls.length === 1 ? "1 tool call is hidden." : `${calls.length} tool calls are hidden.`}</p>
        ) : null}
        {areToolsHidden ? null : (
          <ol>
            {calls.map((call) => (
              <CallRow key={call.callId} call={call} now={now} />
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}

/** Near enough to the end to count as being there. */
const SLACK_PX = 48;

function useFollowedEnd(calls: readonly TimelineCall[]): { current: HTMLDivElement | null } {
  const element = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const log = element.current;
    if (log === null) return undefined;
    const onScroll = (): void => {
      isAtEnd.current = log.scrollHeight - log.scrollTop - log.clientHeight < SLACK_PX;
    };
    log.addEventListener("scroll", onScroll, { passive: true });
    return () => log.removeEventListener("scroll", onScroll);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && element.current !== null) element.current.scrollTop = element.current.scrollHeight;
  }, [calls]);
  return element;
}
