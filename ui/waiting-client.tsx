import type { JSX } from "preact";
import type { Waiting } from "../shared/desk.ts";
import { countdown } from "../shared/elapsed.ts";
import type { Conversation } from "./conversation-state.ts";
import { clientLabel } from "./recipient.ts";
import { useNow } from "./use-now.ts";

/** A client that waits, under the name that it has everywhere on the page. */
export interface LabelledWaiting extends Waiting {
  readonly label: string;
}

export function waitingClientOf(conversation: Conversation | null): LabelledWaiting | null {
  if (conversation === null || conversation.waiting === null) return null;
  return { ...conversation.waiting, label: clientLabel(conversation.waiting.client, conversation.clients) };
}

/** Who waits for the person right now, and how long still. A screen reader hears it once, and reads the time when it is asked. */
export function WaitingClient({ waiting }: { readonly waiting: LabelledWaiting | null }): JSX.Element {
  return (
    <div class="waiting-client">
      <span role="status">
        {waiting === null ? null : (
          <>
            <bdi>{waiting.label}</bdi> waits for you
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
