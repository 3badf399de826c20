import { useState } from "preact/hooks";
import type { JSX } from "preact";

export interface AllowedCallsProps {
  /** Exact calls that were allowed for the sitting. */
  readonly remembered: number;
  /** Resolves with the sentence of a failure. The number itself comes with the desk's events. */
  readonly onForget: () => Promise<string | undefined>;
}

/** What needs no further click, and how to take that back. */
export function AllowedCalls({ remembered, onForget }: AllowedCallsProps): JSX.Element {
  const [problem, setProblem] = useState<string>();
  return (
    <>
      <p role="status">
        {remembered === 0
          ? "Nothing is allowed for the sitting."
          : `${remembered} exact ${remembered === 1 ? "call is" : "calls are"} allowed for the sitting, without a click.`}
      </p>
      {remembered === 0 ? null : (
        <button type="button" onClick={() => void onForget().then(setProblem)}>
          Ask me again
        </button>
      )}
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
