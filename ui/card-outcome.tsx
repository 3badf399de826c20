import { useEffect, useRef } from "preact/hooks";
import type { JSX } from "preact";

export interface CardOutcomeProps {
  /** What became of it; also its class. */
  readonly outcome: string;
  readonly where: "here" | "elsewhere";
  readonly sentence: string;
  readonly onDismiss: () => void;
}

/** A card that is over. Takes the focus when the person decided here: the button they used is gone. */
export function CardOutcome({ outcome, where, sentence, onDismiss }: CardOutcomeProps): JSX.Element {
  const said = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (where === "here") said.current?.focus({ preventScroll: true });
  }, [where]);
  return (
    <div class="outcome">
      <p ref={said} class={`sentence ${outcome}`} role="status" tabIndex={-1}>
        {sentence}
      </p>
      <button type="button" class="quiet" onClick={onDismiss}>
        Dismiss
      </button>
    </div>
  );
}
