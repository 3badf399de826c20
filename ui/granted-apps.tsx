import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { Grant, Revocation } from "../shared/authorization.ts";
import { scopeList } from "../shared/authorization-wording.ts";
import { grantTimes } from "../shared/grant-wording.ts";
import { StrangerText } from "./stranger-text.tsx";

export interface GrantedAppsProps {
  /** Null until the relay has said it. */
  readonly grants: readonly Grant[] | null;
  /** Whether agent and relay can be asked now; asks anew whenever they can be again. */
  readonly isReachable: boolean;
  readonly now: number;
  /** Both resolve with the sentence of a failure. The list itself comes with the desk's events. */
  readonly onRefresh: () => Promise<string | undefined>;
  readonly onRevoke: (which: Revocation) => Promise<string | undefined>;
}

/** A grant's id, or all of them. */
type Which = { readonly id: string } | "all";
type Step = { readonly at: "looking" } | { readonly at: "asking" | "sending"; readonly which: Which };

export function GrantedApps({ grants, isReachable, now, onRefresh, onRevoke }: GrantedAppsProps): JSX.Element {
  const [step, setStep] = useState<Step>({ at: "looking" });
  const [problem, setProblem] = useState<string>();
  const titleId = useId();
  useEffect(() => {
    if (isReachable) void onRefresh().then(setProblem);
  }, [isReachable, onRefresh]);
  const remove = (which: Which): void => {
    setStep({ at: "sending", which });
    void onRevoke({ ids: which === "all" ? "all" : [which.id] }).then((failure) => {
      setProblem(failure);
      setStep({ at: "looking" });
    });
  };
  const removal = (which: Which, label: string): JSX.Element => (
    <Removal
      label={label}
      step={isSame(step, which) ? step.at : "looking"}
      canRemove={isReachable && step.at !== "sending"}
      onAsk={() => setStep({ at: "asking", which })}
      onKeep={() => setStep({ at: "looking" })}
      onRemove={() => remove(which)}
    />
  );
  return (
    <section class="granted" aria-labelledby={titleId}>
      <h2 id={titleId}>Apps with access</h2>
      {grants === null ? <p class="muted">{isReachable ? "Asking the relay …" : "Not known while the relay is away."}</p> : null}
      {grants?.length === 0 ? <p class="muted">None. Clients with the token are not listed.</p> : null}
      <ul>
        {grants?.map((grant) => (
          <li key={grant.id}>
            <p>
              “<StrangerText text={grant.clientName} maxChars={100} />” at{" "}
              <strong>
                <StrangerText text={grant.redirectHost} maxChars={200} />
              </strong>
            </p>
            <p class="muted">
              {grantTimes(grant, now).join(" · ")} · scope <StrangerText text={scopeList(grant.scope)} maxChars={200} />
            </p>
            <p class="muted grant-id">
              id{" "}
              <code>
                <StrangerText text={grant.id} maxChars={100} />
              </code>
            </p>
            {removal({ id: grant.id }, "Remove")}
          </li>
        ))}
      </ul>
      {(grants?.length ?? 0) > 1 ? removal("all", "Remove all") : null}
      <p class="problem" role="alert">
        {problem}
      </p>
    </section>
  );
}

function isSame(step: Step, which: Which): step is Exclude<Step, { at: "looking" }> {
  if (step.at === "looking") return false;
  return step.which === "all" || which === "all" ? step.which === which : step.which.id === which.id;
}

interface RemovalProps {
  readonly label: string;
  readonly step: Step["at"];
  readonly canRemove: boolean;
  readonly onAsk: () => void;
  readonly onKeep: () => void;
  readonly onRemove: () => void;
}

/** Where the first click was stands Keep afterwards, and it has the focus: neither a double click nor a second Enter removes anything. */
function Removal({ label, step, canRemove, onAsk, onKeep, onRemove }: RemovalProps): JSX.Element {
  const buttons = useRef<HTMLDivElement>(null);
  const before = useRef(step);
  useLayoutEffect(() => {
    if (before.current !== step) buttons.current?.querySelector("button")?.focus();
    before.current = step;
  }, [step]);
  if (step === "looking") {
    return (
      <div class="removal" ref={buttons}>
        <button type="button" class="quiet" key="ask" disabled={!canRemove} onClick={onAsk}>
          {label}
        </button>
      </div>
    );
  }
  return (
    <div class="removal" ref={buttons}>
      <button type="button" class="quiet" key="keep" disabled={step === "sending"} onClick={onKeep}>
        Keep
      </button>
      <button type="button" class="deny" key="remove" disabled={!canRemove} onClick={onRemove}>
        {step === "sending" ? "Removing …" : `Yes, ${label.toLowerCase()}`}
      </button>
      <p class="muted">It is shut out at once, and has to ask again.</p>
    </div>
  );
}
