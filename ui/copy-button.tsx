import { useState } from "preact/hooks";
import type { JSX } from "preact";

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [feedback, setFeedback] = useState<"Copied" | "Select and copy it by hand" | undefined>(undefined);
  const copy = (): void => {
    navigator.clipboard
      .writeText(text)
      .then(() => setFeedback("Copied"))
      .catch(() => setFeedback("Select and copy it by hand"))
      .finally(() => setTimeout(() => setFeedback(undefined), 2_500));
  };
  return (
    <span class="copy">
      <button type="button" class="quiet" aria-label={label} onClick={copy}>
        Copy
      </button>
      <span role="status">{feedback}</span>
    </span>
  );
}
