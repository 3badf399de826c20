import { useId, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { BoundedOutput } from "../shared/bounded-output.ts";
import type { TimelineCall } from "../shared/desk.ts";
import { visibleBlock } from "../shared/visible-text.ts";
import { StrangerText } from "./stranger-text.tsx";
import { duration, timeOfDay } from "./wording.ts";

const MARKS: Record<TimelineCall["state"], { readonly sign: string; readonly word: string }> = {
  running: { sign: "…", word: "running" },
  ok: { sign: "✓", word: "done" },
  failed: { sign: "✗", word: "failed" },
  cancelled: { sign: "⊘", word: "cancelled" },
};

const AWAITED = { sign: "?", word: "not run yet" };

/** Shorter calls would only flash. */
const SHOW_LIVE_AFTER_MS = 1_500;

export interface CallRowProps {
  readonly call: TimelineCall;
  /** It waits for the person's click, and nothing of it runs yet. */
  readonly isAwaited: boolean;
  readonly now: number;
  /** Where more than one client is at work. */
  readonly showsClient: boolean;
}

export function CallRow({ call, isAwaited, now, showsClient }: CallRowProps): JSX.Element {
  const [chosen, choose] = useState<"open" | "closed" | undefined>(undefined);
  const outputId = useId();
  const isOpen = chosen === undefined ? opensByItself(call, now) : chosen === "open";
  const mark = isAwaited && call.state === "running" ? AWAITED : MARKS[call.state];
  const ms = call.durationMs ?? Math.max(0, now - call.startedAt);
  return (
    <li class={`call ${call.state}`}>
      <button
        type="button"
        class={showsClient ? "row with-client" : "row"}
        aria-expanded={isOpen}
        aria-controls={outputId}
        onClick={() => choose(isOpen ? "closed" : "open")}
      >
        <span class="time">{timeOfDay(call.startedAt, "minute")}</span>
        <span class="tool">{call.tool}</span>
        <span class="summary">
          <StrangerText text={call.summary} />
        </span>
        {showsClient ? (
          <span class="client">
            <StrangerText text={call.client} maxChars={200} />
          </span>
        ) : null}
        <span class="ms">{mark === AWAITED ? "waits for you" : duration(ms)}</span>
        <span class="mark">
          <span aria-hidden="true">{mark.sign}</span>
          <span class="unseen">{mark.word}</span>
        </span>
      </button>
      {isOpen ? (
        <div id={outputId} class="output">
          <p class="muted">
            {timeOfDay(call.startedAt, "second")} · <StrangerText text={call.client} maxChars={200} />
          </p>
          <Output output={call.output} isRunning={call.state === "running"} />
        </div>
      ) : null}
    </li>
  );
}

function opensByItself(call: TimelineCall, now: number): boolean {
  if (call.state === "failed") return true;
  return call.state === "running" && call.output.head !== "" && now - call.startedAt > SHOW_LIVE_AFTER_MS;
}

function Output({ output, isRunning }: { readonly output: BoundedOutput; readonly isRunning: boolean }): JSX.Element {
  if (output.head === "" && output.tail === "" && output.omittedChars === 0) {
    return <p class="muted">{isRunning ? "No output yet." : "No output."}</p>;
  }
  if (output.omittedChars === 0) return <pre tabIndex={0}>{visibleBlock(output.head + output.tail)}</pre>;
  return (
    <>
      {output.head === "" ? null : <pre tabIndex={0}>{visibleBlock(output.head)}</pre>}
      <p class="omitted">… {output.omittedChars.toLocaleString()} characters are not kept here …</p>
      {output.tail === "" ? null : <pre tabIndex={0}>{visibleBlock(output.tail)}</pre>}
    </>
  );
}
