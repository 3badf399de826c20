import type { JSX } from "preact";
import type { Waiting } from "../shared/desk.ts";
import { countdown } from "../shared/elapsed.ts";
import { StrangerText } from "./stranger-text.tsx";
import { useNow } from "./use-now.ts";

/** Who waits for the person right now, and how long still. A screen reader hears it once, and reads the time when it is asked. */
export function WaitingClient({ waiting }: { readonly waiting: Waiting | null }): JSX.Element {
  return (
    <div class="waiting-client">
      <span role="status">
        {waiting === null ? null : (
          <>
            “<StrangerText text={waiting.client.name} maxChars={60} />” waits for you
          </>
        )}
      </span>
      {waiting === null ? null : <Remaining until={waiting.until} />}
    </div>
  );
}

function Remaining({ until }: Pick<Waiting, "until">): JSX.Element {
  const now = useNow(1_000);
  return (
    <span role="timer" aria-label="Time left" class="remaining">
      {countdown(until, Math.max(now, Date.now())) ?? "0:00"}
    </span>
  );
}
