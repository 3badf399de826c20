/** Questions of MCP servers to the person. Declining comes first and nothing takes the focus by itself. */
import { useId, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { FormField, GivenValue } from "../shared/form-fields.ts";
import type { FormAnswer, FormCard } from "../shared/upstream-form.ts";
import { sendForm } from "./form-api.ts";
import { FormFieldShown } from "./form-field.tsx";
import { ignoreHeldKey } from "./held-key.ts";
import { useSteady } from "./steady.ts";
import { StrangerText } from "./stranger-text.tsx";

export interface FormCardsProps {
  readonly secret: string;
  readonly forms: readonly FormCard[];
  /** When any card of the page last came or changed its height. */
  readonly movedAt: number;
  /** Without the agent nothing can be answered. */
  readonly isLive: boolean;
}

export function FormCards({ secret, forms, movedAt, isLive }: FormCardsProps): JSX.Element {
  const isSteady = useSteady(movedAt);
  return (
    <section class="requests" aria-label="Questions of MCP servers">
      <p class="unseen" aria-live="polite">
        {forms.length === 0 ? "" : `${forms.length} ${forms.length === 1 ? "question" : "questions"} of MCP servers`}
      </p>
      {forms.map((card) => (
        <FormCardShown key={card.id} card={card} canAnswer={isLive && isSteady} send={(answer) => sendForm(secret, answer)} />
      ))}
    </section>
  );
}

interface FormCardProps {
  readonly card: FormCard;
  readonly canAnswer: boolean;
  readonly send: (answer: FormAnswer) => ReturnType<typeof sendForm>;
}

function FormCardShown({ card, canAnswer, send }: FormCardProps): JSX.Element {
  const titleId = useId();
  const { values, setValue, sending, answer } = useFormAnswer(card, send);
  const isBusy = sending.at === "sending";
  return (
    <article class="card form-card" aria-labelledby={titleId}>
      <header>
        <p class="kicker">An MCP server asks you</p>
        <h2 id={titleId}>
          <StrangerText text={card.server} maxChars={100} />
        </h2>
        {card.client === "" ? null : (
          <p class="caller">
            <span>
              in a call of <StrangerText text={card.client} maxChars={200} />
            </span>
          </p>
        )}
      </header>
      <p class="form-message">
        <StrangerText text={card.message} maxChars={8_192} />
      </p>
      {card.asks.kind === "form" ? (
        card.asks.fields.map((field) => (
          <FormFieldShown
            key={field.name}
            field={field}
            value={valueOf(field, values)}
            problem={sending.problems === undefined ? undefined : own(sending.problems, field.name)}
            isBusy={isBusy}
            onValue={(value) => setValue(field.name, value)}
          />
        ))
      ) : (
        <p class="form-address">
          It wants this address opened in your browser: <code>{card.asks.url}</code>
        </p>
      )}
      <div class="buttons">
        <button type="button" class="deny" disabled={!canAnswer || isBusy} onKeyDown={ignoreHeldKey} onClick={() => answer("decline")}>
          Decline
        </button>
        <button type="button" class="allow" disabled={!canAnswer || isBusy} onKeyDown={ignoreHeldKey} onClick={() => answer("accept")}>
          {card.asks.kind === "form" ? "Send" : `Open ${card.asks.host}`}
        </button>
        <p class="problem" role="alert">
          {sending.problem}
        </p>
      </div>
    </article>
  );
}

interface Sending {
  readonly at: "idle" | "sending";
  readonly problem?: string;
  readonly problems?: Readonly<Record<string, string>>;
}

type Values = Readonly<Record<string, GivenValue>>;

function useFormAnswer(
  card: FormCard,
  send: FormCardProps["send"],
): { values: Values; setValue: (name: string, value: GivenValue) => void; sending: Sending; answer: (action: FormAnswer["action"]) => void } {
  const [values, setValues] = useState<Values>({});
  const [sending, setSending] = useState<Sending>({ at: "idle" });
  return {
    values,
    setValue: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    sending,
    answer(action) {
      // Before the answer comes back: a window opened later is one that the browser blocks.
      if (action === "accept" && card.asks.kind === "address") window.open(card.asks.url, "_blank", "noopener,noreferrer");
      setSending({ at: "sending" });
      const given = card.asks.kind === "form" ? givenValues(card.asks.fields, values) : {};
      void send({ id: card.id, action, values: given }).then((answered) => setSending(afterAnswer(answered)));
    },
  };
}

function afterAnswer(answered: Awaited<ReturnType<typeof sendForm>>): Sending {
  if (answered.outcome === "wrong") return { at: "idle", problems: answered.problems };
  if (answered.outcome === "unanswered") return { at: "idle", problem: answered.why };
  return { at: "sending" }; // The card leaves with the next news.
}

function givenValues(fields: readonly FormField[], values: Values): Record<string, GivenValue> {
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field, values)]));
}

function valueOf(field: FormField, values: Values): GivenValue {
  return own(values, field.name) ?? field.initial;
}

/** A server may call a field like something that every object has. */
function own<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}
